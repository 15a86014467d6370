"""Who may ask: Host, Origin, token and read-only, checked before anything of a request's body is read.

A page on another site can make a browser send requests here. It cannot choose their Host, Origin and Sec-Fetch-Site,
which therefore tell our own page from others, also where a foreign name was made to point to this machine
(DNS rebinding). Programs send no Origin; where a token is set they send it as a bearer token.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import socket
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from corel.serve._config import Config, is_loopback
from corel.serve._problems import Refused, refusal

SAFE_METHODS = frozenset({"GET", "HEAD"})
# What needs no token: the login page, and the health check.
OPEN_PATHS = frozenset({"/", "/login", "/healthz", "/readyz"})
OPEN_FOLDER = "/page/"
# Changes nothing in the gallery, though it is posted.
READING_POSTS = frozenset({"/v1/score", "/v1/explain", "/v1/find", "/login", "/logout"})


class Guard:
    """ASGI middleware that lets a request pass or answers with a problem document."""

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self.app = app
        self.rules = Rules(config)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check an HTTP request; there are no others but the server's own start and stop."""
        if scope["type"] == "http":
            try:
                scope.setdefault("state", {})["known"] = self.rules.check(
                    scope["method"], scope["path"], Headers(scope=scope)
                )
            except Refused as error:
                await refusal(error)(scope, receive, send)
                return
        await self.app(scope, receive, send)


class Rules:
    """The rules for one server."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._hosts = _served_hosts(config)

    def check(self, method: str, path: str, headers: Headers) -> bool:
        """Raise `Refused`, or tell whether the client is known by a token (everyone is, where none is set)."""
        host = self._check_host(headers)
        self._check_site(headers, host)
        by_bearer, by_cookie = self._by_bearer(headers), self._by_cookie(headers)
        known = self._config.token is None or by_bearer or by_cookie
        if not known and path not in OPEN_PATHS and not path.startswith(OPEN_FOLDER):
            raise Refused(
                HTTPStatus.UNAUTHORIZED, "token", "a token is needed: send it as `Authorization: Bearer TOKEN`, "
                "or open this address in a browser and log in",
            )  # fmt: skip
        if by_cookie and not by_bearer and method not in SAFE_METHODS and "origin" not in headers:
            why = "a change with a cookie needs an Origin header; programs send the token instead"
            raise Refused(HTTPStatus.FORBIDDEN, "origin", why)
        if self._config.read_only and method not in SAFE_METHODS and path not in READING_POSTS:
            raise Refused(HTTPStatus.FORBIDDEN, "read-only", "this server was started with --read-only")
        return known

    def _check_host(self, headers: Headers) -> str:
        given = headers.getlist("host")
        if len(given) != 1 or not self._serves(given[0].lower()):
            raise Refused(
                HTTPStatus.MISDIRECTED_REQUEST, "host", "this server does not serve the Host that was asked for; "
                "open the address that it printed, or start it with --public-url",
            )  # fmt: skip
        return given[0].lower()

    def _serves(self, host: str) -> bool:
        if host in self._hosts:
            return True
        # Listening on all addresses, it has names that it cannot know. A bare address cannot be rebound.
        if self._config.host not in ("0.0.0.0", "::"):
            return False
        name, port = _split(host)
        return _is_address(name) and port == self._config.port

    def _check_site(self, headers: Headers, host: str) -> None:
        if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            raise Refused(HTTPStatus.FORBIDDEN, "site", "a page of another site sent this; open this address directly")
        given = headers.getlist("origin")
        wanted = self._config.origin if self._config.public_url else f"http://{host}"
        if given and given != [wanted]:
            raise Refused(
                HTTPStatus.FORBIDDEN, "origin", "another origin sent this; behind a proxy, start with --public-url"
            )

    def _by_bearer(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and token_fits(self._config, token.strip())

    def _by_cookie(self, headers: Headers) -> bool:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self._config.cookie)
        except CookieError:
            return False
        given, wanted = morsel.value if morsel else "", session(self._config)
        return bool(wanted) and hmac.compare_digest(given.encode(), wanted.encode())


def token_fits(config: Config, given: str) -> bool:
    """Compare a token in constant time."""
    return config.token is not None and hmac.compare_digest(given.encode("utf-8", "replace"), config.token.encode())


def session(config: Config) -> str:
    """Give the cookie's value: a one-way hash of the token, so that a new token ends all sessions."""
    return hmac.new(config.token.encode(), b"corel session", hashlib.sha256).hexdigest() if config.token else ""


def _served_hosts(config: Config) -> frozenset[str]:
    names = {config.host}
    if is_loopback(config.host):
        names |= {"localhost", "127.0.0.1", "::1"}
    if config.host in ("0.0.0.0", "::"):
        names |= {"localhost", socket.gethostname().lower()}
    hosts = {f"{f'[{name}]' if ':' in name else name}:{config.port}" for name in names}
    if config.port == 80:
        hosts |= {host.removesuffix(":80") for host in hosts}
    return frozenset(hosts | ({urlsplit(config.origin).netloc} if config.public_url else set()))


def _split(host: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(f"//{host}")
        return parts.hostname or "", parts.port or 80
    except ValueError:
        return "", None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
