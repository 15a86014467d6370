"""The page, the login for browsers, and the addresses for health checks and metrics."""

from __future__ import annotations

import asyncio
import hashlib
from functools import cache
from importlib import resources
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from corel.serve._guard import session, token_fits
from corel.serve._problems import problem
from corel.serve._site import SiteOf

router = APIRouter(include_in_schema=False)

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
# A token is too long to be guessed online; the delay also keeps the log readable.
WRONG_TOKEN_SECONDS = 0.5
LONGEST_LOGIN = 4_000  # bytes


@cache
def files() -> dict[str, bytes]:
    """Read the page's files, once; nothing else is ever served from the disk."""
    folder = resources.files("corel") / "serve" / "page"
    return {each.name: each.read_bytes() for each in folder.iterdir() if any(each.name.endswith(end) for end in TYPES)}


@router.get("/")
async def index(request: Request) -> Response:
    """Give the page, or the form for the token to those who have not shown one."""
    return _file("index.html" if request.state.known else "login.html", request)


@router.get("/page/{name}")
async def asset(name: str, request: Request) -> Response:
    """Give one of the page's files."""
    return _file(name, request)


@router.get("/v1/docs")
async def documentation(request: Request) -> Response:
    """Give the page that shows the API's description."""
    return _file("api.html", request)


@router.post("/login")
async def login(request: Request, site: SiteOf) -> Response:
    """Take the token from the form and give a cookie."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_LOGIN:
            return problem(413, "body-bytes", "this is too long for a token")
    given = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()
    if not token_fits(site.config, given):
        await asyncio.sleep(WRONG_TOKEN_SECONDS)
        site.metrics.rejections.labels("token").inc()
        return Response(files()["wrong.html"], 401, media_type="text/html")
    response = RedirectResponse("/", 303)
    secure = site.config.origin.startswith("https:")
    response.set_cookie(
        site.config.cookie, session(site.config), max_age=30 * 86400, httponly=True, samesite="strict", secure=secure
    )
    return response


@router.post("/logout")
async def logout(site: SiteOf) -> Response:
    """Take the cookie back."""
    response = RedirectResponse("/", 303)
    response.delete_cookie(site.config.cookie, httponly=True, samesite="strict")
    return response


@router.get("/healthz")
async def health() -> dict[str, str]:
    """Say that the process answers."""
    return {"status": "ok"}


@router.get("/readyz")
async def ready(site: SiteOf) -> Response:
    """Say whether work is taken on."""
    if site.ready:
        return Response('{"status": "ready"}', media_type="application/json")
    return problem(503, "not-ready", "the server is stopping" if site.draining else "the encoder is being loaded")


@router.get("/metrics")
async def metrics(site: SiteOf) -> Response:
    """Give the numbers for Prometheus."""
    return Response(site.metrics.render(), media_type="text/plain; version=0.0.4")


def _file(name: str, request: Request) -> Response:
    content = files().get(name)
    if content is None:
        return problem(404, "http", "there is no such file")
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Vary": "Cookie, Authorization"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=TYPES[name[name.rindex(".") :]], headers=headers)
