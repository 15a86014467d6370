"""Servers and a client for tests; the client is the standard library's, which sends exactly what it is given."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

File = tuple[str, bytes]


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def form(files: Sequence[File] = (), **fields: str | Sequence[str]) -> tuple[bytes, str]:
    """A multipart body and its content type; file names go out exactly as they are."""
    boundary = secrets.token_hex(16)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="images"; filename="'.encode()
        + name.encode("utf-8", "surrogateescape")
        + b'"\r\nContent-Type: application/octet-stream\r\n\r\n'
        + content
        for name, content in files
    ]
    for name, given in fields.items():
        values = [given] if isinstance(given, str) else given
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
        parts += [(head + value).encode() for value in values]
    body = b"".join(part + b"\r\n" for part in parts) + f"--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"


@dataclass
class Server:
    """A server in a process of its own."""

    port: int
    pid: int
    log: Path
    token: str | None = None
    _factory: Factory | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str | None] | None = None,
        timeout: float = 60.0,
    ) -> Answer:
        """One request on a connection of its own; None leaves a header out that is otherwise sent."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        named: dict[str, str | None] = {"Host": f"127.0.0.1:{self.port}"}
        if self.token:
            named["Authorization"] = f"Bearer {self.token}"
        if body:
            named["Content-Length"] = str(len(body))
        named |= headers or {}
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in named.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def get(self, path: str, headers: Mapping[str, str | None] | None = None) -> Answer:
        return self.ask("GET", path, headers=headers)

    def send(self, method: str, path: str, content: object) -> Answer:
        """Send JSON."""
        return self.ask(method, path, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def post(self, path: str, files: Sequence[File] = (), **fields: str | Sequence[str]) -> Answer:
        body, kind = form(files, **fields)
        return self.ask("POST", path, body, {"Content-Type": kind})

    def enroll(self, name: str, files: Sequence[File]) -> Answer:
        return self.post(f"/v1/exemplars?name={quote(name)}", files)

    def classes(self) -> dict[str, int]:
        listed = self.get("/v1/classes").json["classes"]
        return {each["name"]: each["exemplars"] for each in listed}

    def exemplars(self, name: str) -> list[dict[str, Any]]:
        answer = self.get(f"/v1/exemplars?name={quote(name)}&limit=500")
        found: list[dict[str, Any]] = answer.json["exemplars"]
        return found

    def wait_until_ready(self) -> Server:
        for _ in range(1200):
            try:
                if self.get("/readyz").status == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"the server does not become ready: {self.log.read_text()}")

    def kill(self, number: int = signal.SIGKILL) -> int:
        """Send a signal, 0 for none, and give the exit code."""
        assert self._factory is not None
        os.kill(self.pid, number)
        return self._factory.wait(self.pid)


class Factory:
    """See factory.py."""

    def __init__(self, folder: Path) -> None:
        program = [sys.executable, str(Path(__file__).with_name("factory.py"))]
        self._process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self._folder = folder
        self.running: set[int] = set()
        assert self._answer() == {"ready": True}

    def start(self, gallery: Path, **settings: Any) -> Server:
        """Start a server and wait until it listens, not until it is ready."""
        log = self._folder / f"{gallery.name}.{len(list(self._folder.iterdir()))}.log"
        asked = {"gallery": str(gallery), "port": 0, **settings}
        self._tell({"serve": asked, "log": str(log)})
        found = self._answer()
        if "error" in found:
            raise ValueError(found["error"])
        self.running.add(found["pid"])
        return Server(found["port"], found["pid"], log, settings.get("token"), self)

    def wait(self, pid: int) -> int:
        self._tell({"wait": pid})
        self.running.discard(pid)
        code: int = self._answer()["code"]
        return code

    def close(self) -> None:
        for pid in list(self.running):
            os.kill(pid, signal.SIGKILL)
            self.wait(pid)
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _tell(self, command: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found
