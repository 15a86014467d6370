"""Forms with images, read while they arrive: files and fields are counted by us, large files go to the disk.

A temporary file has no name in any folder, so that a crash leaves nothing behind. What a client calls a file is a text
to show, never a path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.requests import ClientDisconnect, Request

from corel._terminal import printable
from corel.serve._config import Limits
from corel.serve._problems import Refused

IN_MEMORY = 1_000_000  # bytes of a file
LONGEST_FIELD = 1_000  # bytes; a hash or a class's name
MOST_FIELDS = 1_000
LONGEST_FILE_NAME = 200
IMAGES = "images"


@dataclass(frozen=True)
class Upload:
    """A file as it was sent."""

    name: str
    file: BinaryIO


@dataclass
class Form:
    """The files of the field ``images``, and the other fields."""

    uploads: list[Upload] = field(default_factory=list)
    fields: dict[str, list[str]] = field(default_factory=dict)

    def close(self) -> None:
        """Delete what is on the disk."""
        for upload in self.uploads:
            upload.file.close()


async def read_form(request: Request, limits: Limits) -> Form:
    """Read a multipart form; the caller closes it."""
    form = Form()
    try:
        await _read(request, _Parts(form, limits))
    except BaseException:
        form.close()
        raise
    return form


async def _read(request: Request, parts: _Parts) -> None:
    parser = _parser(request, parts)
    try:
        async for chunk in request.stream():
            parser.write(chunk)
    except FormParserError as error:
        raise _malformed("the form is damaged") from error
    except ClientDisconnect:
        raise _malformed("the connection ended before the form did") from None
    if not parts.ended:  # the parser itself accepts that
        raise _malformed("the form was cut short")


def _parser(request: Request, parts: _Parts) -> MultipartParser:
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise Refused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "media-type",
            f"send images as multipart/form-data, in fields called {IMAGES!r}",
        )  # fmt: skip
    try:
        return MultipartParser(options[b"boundary"], cast(Any, parts.callbacks()))
    except FormParserError as error:
        raise _malformed("the form's boundary is impossible") from error


class _Parts:
    """Collects a form's parts from the parser's events."""

    def __init__(self, form: Form, limits: Limits) -> None:
        self._form, self._limits = form, limits
        self._headers: dict[bytes, bytes] = {}
        self._name, self._value = b"", b""  # of the header that is being read
        self._field, self._text = "", bytearray()
        self._file: BinaryIO | None = None
        self._fields = 0
        self.ended = False

    def callbacks(self) -> dict[str, Callable[..., None]]:
        names = ("part_begin", "part_data", "part_end", "header_field", "header_value", "header_end",
                 "headers_finished", "end")  # fmt: skip
        return {f"on_{name}": getattr(self, f"_{name}") for name in names}

    def _part_begin(self) -> None:
        self._headers, self._text, self._file = {}, bytearray(), None

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name, self._value = b"", b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        self._field = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" not in options:
            return
        if self._field != IMAGES:
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "field", f"files belong into fields called {IMAGES!r}")
        if len(self._form.uploads) >= self._limits.files:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "files",
                f"a request has at most {self._limits.files} images; send the others in another one",
                limit=self._limits.files,
            )  # fmt: skip
        # Written from the event loop: a chunk goes to the system's buffers, which is as quick as copying it.
        self._file = cast(BinaryIO, SpooledTemporaryFile(max_size=IN_MEMORY))  # noqa: SIM115
        self._form.uploads.append(Upload(shown_name(options[b"filename"]), self._file))

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])
            return
        self._text += data[start:end]
        if len(self._text) > LONGEST_FIELD:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "field", f"a field has at most {LONGEST_FIELD:,} bytes")

    def _part_end(self) -> None:
        if self._file is not None:
            self._file.seek(0)
            return
        self._form.fields.setdefault(self._field, []).append(self._text.decode("utf-8", "replace"))
        self._fields += 1
        if self._fields > MOST_FIELDS:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "fields", f"a form has at most {MOST_FIELDS:,} fields")

    def _end(self) -> None:
        self.ended = True


def shown_name(given: bytes) -> str:
    """Give a file's name as one line of text of modest length; its end says most."""
    name = printable(given.decode("utf-8", "replace")) or "image"
    return name if len(name) <= LONGEST_FILE_NAME else f"…{name[1 - LONGEST_FILE_NAME :]}"


def _malformed(what: str) -> Refused:
    return Refused(HTTPStatus.BAD_REQUEST, "form", f"{what}; send it again")
