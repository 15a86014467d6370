"""Limits on a request's body while it arrives; a refused body is read on for a moment, so that the answer arrives."""

from __future__ import annotations

import asyncio
import time
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from corel.serve._config import Limits
from corel.serve._problems import Refused, refusal

# A client that is still sending does not read the answer, and loses it if the connection closes at once.
LINGER_SECONDS, LINGER_BYTES = 2.0, 8_000_000


class BoundedBody:
    """ASGI middleware: no body is larger, slower or more idle than the limits say."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request with a body that is watched."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        body = _Body(headers, receive, self.limits)
        answer = _Answer(body, send, self.limits.idle_seconds)
        try:
            body.check(int(headers.get("content-length", 0)))
        except Refused as error:
            await refusal(error)(scope, body.receive, answer.send)
            return
        await self.app(scope, body.receive, answer.send)


class _Body:
    def __init__(self, headers: Headers, receive: Receive, limits: Limits) -> None:
        self._receive, self._limits = receive, limits
        self._bytes, self._began = 0, time.monotonic()
        self.complete = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
        # A client that waits for "100 Continue" sends its body as soon as it is asked for.
        self.can_linger = "expect" not in headers

    def check(self, size: int) -> None:
        if size > self._limits.body_bytes:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body-bytes",
                f"a request has at most {self._limits.body_bytes:,} bytes; send fewer images at a time",
                limit=self._limits.body_bytes,
            )  # fmt: skip

    async def receive(self) -> Message:
        try:
            message = await asyncio.wait_for(self._receive(), self._limits.idle_seconds)
        except asyncio.TimeoutError:
            raise self._too_slow() from None
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self.complete = not message.get("more_body", False)
            self.check(self._bytes)
            self._check_pace()
        return message

    def _check_pace(self) -> None:
        late = time.monotonic() - self._began - self._limits.grace_seconds
        if not self.complete and late > 0 and self._bytes < late * self._limits.slowest_rate:
            raise self._too_slow()

    def _too_slow(self) -> Refused:
        return Refused(HTTPStatus.REQUEST_TIMEOUT, "slow", "the request came too slowly; try again")

    async def discard(self) -> None:
        """Read on for a moment, so that the client gets to read the answer."""
        left, until = LINGER_BYTES, time.monotonic() + LINGER_SECONDS
        while self.can_linger and not self.complete and left > 0 and (wait := until - time.monotonic()) > 0:
            try:
                message = await asyncio.wait_for(self._receive(), wait)
            except asyncio.TimeoutError:
                return
            if message["type"] != "http.request":
                return
            left -= len(message.get("body", b""))
            self.complete = not message.get("more_body", False)


class _Answer:
    def __init__(self, body: _Body, send: Send, idle_seconds: float) -> None:
        self._body, self._send, self._idle_seconds = body, send, idle_seconds
        self._closing = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not self._body.complete:
            self._closing = True
            message = {**message, "headers": [*message.get("headers", []), (b"connection", b"close")]}
        if self._closing and message["type"] == "http.response.body" and not message.get("more_body"):
            await self._timed({**message, "more_body": True})
            await self._body.discard()
            message = {"type": "http.response.body"}
        await self._timed(message)

    async def _timed(self, message: Message) -> None:
        """Send to a client that reads; one that does not is left, and its connection closes."""
        await asyncio.wait_for(self._send(message), self._idle_seconds)
