"""The app: routes inside, and around them what every request passes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from corel._version import __version__
from corel.serve import _api, _pages, _problems
from corel.serve._body import BoundedBody
from corel.serve._config import Config
from corel.serve._guard import Guard
from corel.serve._metrics import Measure
from corel.serve._site import Site, Working

# Everything comes from this server, scripts and styles from files of their own, and no other page may frame this one.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "media-src 'self' blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(self), microphone=(), geolocation=()",
    # Without any referrer a browser would send "Origin: null" with the form for the token.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


class App:
    """The ASGI application of one server; `site` is what its routes share."""

    def __init__(self, config: Config) -> None:
        self.site = Site(config)
        inner = Working(_routes(self.site), self.site, _paths(_api.router))
        guarded = Guard(BoundedBody(inner, config.limits), config)
        self._app = SafeHeaders(Measure(guarded, self.site.metrics, _paths(_api.router, _pages.router)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self._app(scope, receive, send)


def create_app(config: Config) -> App:
    """Make the ASGI application for a server, to be run by any ASGI server with one process."""
    return App(config)


class SafeHeaders:
    """ASGI middleware: the headers that keep a browser from being used against its user, on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                if b"cache-control" not in given:
                    added.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self.app(scope, receive, sending if scope["type"] == "http" else send)


def _paths(*routers: APIRouter) -> frozenset[str]:
    return frozenset(route.path for router in routers for route in router.routes if isinstance(route, APIRoute))


def _routes(site: Site) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with site.running_worker():
            yield

    # FastAPI's own documentation loads scripts from another host.
    api = FastAPI(
        title="corel studio", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        openapi_url="/v1/openapi.json", redirect_slashes=False,
    )  # fmt: skip
    api.state.site = site
    api.include_router(_pages.router)
    api.include_router(_api.router)
    _problems.register(api)
    return api
