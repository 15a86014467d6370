"""What the routes share: the gallery, the encoder's thread, the metrics, and whether new work is accepted."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from http import HTTPStatus
from typing import Annotated, TypeVar

import anyio
from fastapi import Depends, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from corel.gallery import Scores
from corel.images import Skipped
from corel.serve._config import Config
from corel.serve._memory import Prepared
from corel.serve._metrics import Metrics
from corel.serve._problems import Refused, refusal
from corel.serve._studio import Studio
from corel.serve._uploads import Form, read_form
from corel.serve._worker import Worker

Value = TypeVar("Value")
MOST_SEARCHES = 8  # in line; each holds its photos in memory
# What is answered while the encoder is being loaded: a page shows its classes at once.
READING = frozenset(("GET", f"/v1/{path}") for path in ("settings", "classes", "exemplars", "thumbnails"))
MOST_READS = 1_000  # in line; a page asks for a screen of thumbnails at once


class Site:
    """One server's parts."""

    def __init__(self, config: Config) -> None:
        self.config, self.studio, self.metrics = config, Studio(config), Metrics()
        self.worker: Worker[Prepared, Scores] = Worker(
            self.studio.score, waiting=config.limits.waiting, observe=self.metrics.observe_batch
        )
        # Lists and thumbnails do not wait for the encoder.
        self.reader: Worker[Prepared, Scores] = Worker(self.studio.score, waiting=MOST_READS)
        # Searches and the order of a very large class take seconds; nobody else waits for them.
        self.finder: Worker[Prepared, Scores] = Worker(self.studio.score, waiting=MOST_SEARCHES)
        self.auditor: Worker[Prepared, Scores] = Worker(self.studio.score, waiting=config.limits.waiting)
        self.draining = False
        self.running = 0
        self.failure: Exception | None = None
        self._uploads = 0
        self.metrics.ready.set_function(lambda: float(self.ready))

    @property
    def ready(self) -> bool:
        """Whether new work is taken on."""
        return self.studio.ready.is_set() and not self.draining

    @asynccontextmanager
    async def running_worker(self) -> AsyncIterator[None]:
        """Load the encoder while the server answers already, and stop its thread in the end."""
        self._decoders = anyio.CapacityLimiter(os.cpu_count() or 1)
        workers = (self.worker, self.reader, self.finder, self.auditor)
        for each in workers:
            each.start()
        opening = asyncio.create_task(self._open())
        yield
        opening.cancel()
        for each in workers:
            each.stop(0.5)

    async def _open(self) -> None:
        try:
            await self.worker.run(self.studio.open)
            await self.worker.run(self.studio.warm_up)
        except Exception as error:
            self.failure = error

    @contextmanager
    def at_work(self, *, needs_encoder: bool) -> Iterator[None]:
        """Take on a request, or refuse it while the server stops, or while the encoder that it needs is loaded."""
        if self.draining or (needs_encoder and not self.ready):
            state = "is stopping" if self.draining else "is loading its encoder"
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "not-ready", f"the server {state}; try again in a moment")
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1

    @asynccontextmanager
    async def form(self, request: Request) -> AsyncIterator[Form]:
        """Read a form, as one of so many at a time."""
        limit = self.config.limits.uploads
        if self._uploads >= limit:
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "uploads", f"{limit} requests are being sent; try again soon")
        self._uploads += 1
        try:
            form = await read_form(request, self.config.limits)
        finally:
            self._uploads -= 1
        try:
            yield form
        finally:
            form.close()

    async def prepare(self, form: Form, *, pictures: bool = False) -> list[Prepared | Skipped]:
        """Decode a form's images, off the event loop, on as many threads as there are cores for all requests."""
        found: list[Prepared | Skipped] = []
        for upload in form.uploads:
            call = partial(self.studio.prepare, upload.name, upload.file, picture=pictures)
            found.append(await anyio.to_thread.run_sync(call, limiter=self._decoders))
        for each in found:
            self.metrics.images.labels("skipped" if isinstance(each, Skipped) else "prepared").inc()
        return found

    async def read(self, call: Callable[[], Value]) -> Value:
        """Read from the gallery, off the event loop and beside the encoder."""
        return await self.reader.run(call)

    async def audit(self, call: Callable[[], Value]) -> Value:
        """Compare exemplars with each other, one class after the other."""
        return await self.auditor.run(call)

    async def find(self, call: Callable[[], Value]) -> Value:
        """Search photos, one request after the other."""
        return await self.finder.run(call)

    async def work(self, call: Callable[[], Value]) -> Value:
        """Run a call that encodes or changes the gallery; such calls run one after the other."""
        return await self.worker.run(call)

    async def score(self, items: Sequence[Prepared]) -> Scores:
        """Score images, together with those of other requests."""
        return await self.worker.batch(items)


class Working:
    """ASGI middleware around the API: counts what runs, and takes on nothing while the server cannot do it."""

    def __init__(self, app: ASGIApp, site: Site, routes: frozenset[str]) -> None:
        self.app, self.site, self.routes = app, site, routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request."""
        if scope["type"] != "http" or scope["path"] not in self.routes:
            await self.app(scope, receive, send)
            return
        try:
            with self.site.at_work(needs_encoder=(scope["method"], scope["path"]) not in READING):
                await self.app(scope, receive, send)
        except Refused as error:
            await refusal(error)(scope, receive, send)


def _site(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


SiteOf = Annotated[Site, Depends(_site)]
