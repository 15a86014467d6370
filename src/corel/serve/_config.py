"""What a server is told at its start: the gallery, the address, who may use it, and how much."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from corel._errors import ArgumentError

SHORTEST_TOKEN = 16
TOKEN_VARIABLE = "COREL_TOKEN"


@dataclass(frozen=True)
class Limits:
    """How much one request, and all of them together, may ask for.

    Attributes:
        body_bytes: bytes of one request's body.
        files: images in one request.
        pixels: pixels of one image.
        uploads: requests whose body is arriving.
        waiting: requests in line for the encoder.
        head_seconds: time for a connection to send a whole request head.
        idle_seconds: longest pause inside a body, and of a client that does not read its answer.
        grace_seconds: time after which a body must have come at `slowest_rate` or faster.
        slowest_rate: bytes a second.
        drain_seconds: time for running requests to finish once the server is told to stop.
        undo_seconds: how long removed exemplars are kept in memory.
        kept_bytes: memory for prepared images, which are scored again without another upload.

    """

    body_bytes: int = 100_000_000
    files: int = 64
    pixels: int = 100_000_000
    uploads: int = 64
    waiting: int = 64
    head_seconds: float = 10.0
    idle_seconds: float = 15.0
    grace_seconds: float = 30.0
    slowest_rate: float = 16_384.0
    drain_seconds: float = 20.0
    undo_seconds: float = 600.0
    kept_bytes: int = 256_000_000


@dataclass(frozen=True)
class Config:
    """One server.

    Attributes:
        gallery: the gallery's file, created by the first enrollment if absent.
        backbone: for a new gallery, or one whose backbone was moved.
        host: the address to listen on. Any but a loopback address needs a token.
        port: the port to listen on; 0 takes a free one.
        token: what clients must know; None lets everyone on this machine in.
        public_url: the address that browsers see, if it is another (behind a reverse proxy).
        read_only: refuse every change.

    """

    gallery: Path
    backbone: str | None = None
    host: str = "127.0.0.1"
    port: int = 8420
    token: str | None = field(default=None, repr=False)
    public_url: str | None = None
    read_only: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.token is not None and (len(self.token) < SHORTEST_TOKEN or not self.token.isascii()):
            raise ArgumentError(
                "token", f"must have at least {SHORTEST_TOKEN} ASCII characters; make one with `openssl rand -hex 32`"
            )
        if self.token is None and not is_loopback(self.host):
            raise ArgumentError(
                "host",
                f"{self.host} can be reached from other machines, so a token is needed: "
                f"give --token-file FILE or set ${TOKEN_VARIABLE}, or listen on 127.0.0.1",
            )
        if self.public_url is not None:
            origin_of(self.public_url)

    @property
    def origin(self) -> str:
        """The scheme, host and port that browsers see."""
        if self.public_url is not None:
            return origin_of(self.public_url)
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def cookie(self) -> str:
        """The session cookie's name; cookies are shared between ports, so the port is part of it."""
        return f"corel_session_{self.port}"


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def origin_of(url: str) -> str:
    """Give a URL's scheme, host and port as a browser writes an Origin; refuse what is no such address."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise ArgumentError(
            "public_url", f"must be an address such as https://studio.example.org, without a path, got {url}"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port not in (None, usual) else "")


def read_token(file: Path | None) -> str | None:
    """Read the token from a file, else from the environment; None if neither has one."""
    if file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    text = file.expanduser().read_text().strip()
    if not text:
        raise ArgumentError(
            "token_file", f"{file} is empty; write a token into it, for example that of `openssl rand -hex 32`"
        )
    return text
