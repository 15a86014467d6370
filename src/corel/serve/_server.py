"""The server process: a socket, uvicorn, and a shutdown that finishes running requests."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from corel.gallery import Gallery
from corel.serve._app import App, create_app
from corel.serve._config import Config

LARGEST_HEAD = 32_768  # bytes of a request's line and headers
CLOSING_SECONDS = 2  # for answers that are on their way when the drain ends


def serve(config: Config, *, started: Callable[[Config], None] = lambda config: None) -> None:
    """Serve until SIGTERM or SIGINT; `started` is called with the real port once the socket listens.

    On a signal the server drains: new work is answered with 503 while what runs finishes, within a bound.
    """
    # Report a bad file now, not in the first answer.
    Gallery.open(config.gallery, create=not config.read_only).close()
    with _listening(config) as listener:
        config = replace(config, port=listener.getsockname()[1])
        app = create_app(config)
        server = _Server(app, config)
        started(config)
        server.run(sockets=[listener])
    if app.site.failure is not None:
        raise app.site.failure


def _listening(config: Config) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        return socket.create_server((config.host, config.port), family=family, backlog=512)
    except OSError as error:
        raise ValueError(
            f"cannot listen on {config.host}:{config.port} ({_reason(error)}); choose another --host or --port"
        ) from error


def _reason(error: OSError) -> str:
    """Give the operating system's message without the address that `create_server` adds: our sentence has it."""
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)


class _Server(uvicorn.Server):
    """uvicorn that drains before it stops, and then ends with exit code 0 (its own would raise the signal again)."""

    def __init__(self, app: App, config: Config) -> None:
        settings: dict[str, Any] = {
            "http": _Protocol, "ws": "none", "lifespan": "on", "log_level": "warning", "access_log": False,
            "server_header": False, "proxy_headers": False, "h11_max_incomplete_event_size": LARGEST_HEAD,
            "timeout_keep_alive": config.limits.head_seconds, "timeout_graceful_shutdown": CLOSING_SECONDS,
        }  # fmt: skip
        super().__init__(uvicorn.Config(app, **settings))
        self._site, self._limits = app.site, config.limits
        self._deadline: float | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while the block runs."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        wanted = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, self.handle_exit) for each in wanted}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; at the second signal stop at once."""
        if self._site.draining:
            self.force_exit = True
        self._site.draining = True
        self._deadline = time.monotonic() + self._limits.drain_seconds

    async def on_tick(self, counter: int) -> bool:
        """Tell ten times a second whether to stop."""
        if await super().on_tick(counter) or self.force_exit or self._site.failure is not None:
            return True
        if self._deadline is None:
            return False
        return not self._site.running or time.monotonic() > self._deadline


class _Protocol(H11Protocol):
    """uvicorn's HTTP with a bound on the time that a client takes to send a request's head.

    Without it a client that sends a header now and then keeps its connection for ever.
    """

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start waiting for a request."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read; once a request has begun, its body is watched by the app."""
        super().data_received(data)
        if self._is_answering():
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if not self._is_answering():  # the next request may have come with this one
            self._await_head()

    def _is_answering(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _await_head(self) -> None:
        self._stop_waiting()
        seconds = self.config.timeout_keep_alive
        self._head_timer = self.loop.call_later(seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
