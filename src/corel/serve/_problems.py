"""Errors as RFC 9457 problem documents, with the library's own sentences."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

logger = logging.getLogger("corel.serve")

# In place of what the framework says.
SAID = {400: "the body cannot be read as JSON", 404: "there is nothing at this address; /v1/docs lists what there is"}


class Refused(HTTPException):
    """A request that is refused, with a status, one word to tell it apart from others, and a sentence.

    It is an `HTTPException` because FastAPI turns any other error in a body into its own.
    """

    def __init__(self, status: HTTPStatus, reason: str, detail: str, **more: Any) -> None:
        super().__init__(int(status), detail)
        self.reason = reason
        self.more = more


def problem(status: int, reason: str, detail: str, **more: Any) -> Response:
    """Make the answer; `more` are members of the document beside the standard ones."""
    document = {
        "type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail,
        "reason": reason, **more,
    }  # fmt: skip
    headers = {"Retry-After": "1"} if status in (429, 503) else {}
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="corel"'
    return Response(json.dumps(document), status, headers, media_type="application/problem+json")


def refusal(error: Refused) -> Response:
    """Make the answer to a request that is refused."""
    return problem(error.status_code, error.reason, str(error.detail), **error.more)


def register(app: FastAPI) -> None:
    """Let every error of the app become a problem document."""
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(ValueError, _sentence)
    app.add_exception_handler(TypeError, _sentence)
    app.add_exception_handler(OSError, _storage)
    app.add_exception_handler(Exception, _fault)


async def _http(_: Request, error: Exception) -> Response:
    if isinstance(error, Refused):
        return refusal(error)
    assert isinstance(error, HTTPException)
    response = problem(error.status_code, "http", SAID.get(error.status_code, str(error.detail)))
    response.headers.update(error.headers or {})
    return response


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first: Mapping[str, Any] = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    return problem(422, "invalid", f"{where}: {first['msg'].lower()}", argument=where)


async def _sentence(_: Request, error: Exception) -> Response:
    return problem(422, "refused", str(error))


async def _storage(_: Request, error: Exception) -> Response:
    busy = isinstance(error, TimeoutError)
    logger.error("the gallery could not be used: %s", error)
    return problem(503 if busy else 507, "busy" if busy else "storage", str(error))


async def _fault(_: Request, error: Exception) -> Response:
    return problem(500, "fault", f"unexpected {type(error).__name__}; the server's log shows where it arose")
