"""One file over HTTP: resumed where it broke off, tried again, checked against its checksum."""

from __future__ import annotations

import hashlib
import ssl
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import IO

from corel._io.atomic import sync_folder
from corel._terminal import Advance, progress_bar
from corel.images.known.catalog import Download

_ATTEMPTS = 5  # for each address; every attempt goes on where the one before broke off
_TIMEOUT = 30.0  # seconds without a byte
_BLOCK = 1 << 18
_MEGABYTE = 1e6


def download(wanted: Download, folder: Path, *, progress: bool) -> Path:
    """Give the checked file in `folder`; where it is missing, get it from the first address that has it.

    Raises:
        ConnectionError: no address gave the file; what has arrived is kept for the next call.
        ValueError: a file of that name is there already but has another checksum.

    """
    path = folder / wanted.file
    if path.is_file():
        if _md5(path) != wanted.md5:
            raise ValueError(f"{path} is not the official file (MD5 {wanted.md5}); remove it and fetch again")
        return path
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    failures = []
    for url in wanted.urls:
        failure = _attempt(url, part, wanted, progress=progress)
        if failure is None:
            part.replace(path)
            sync_folder(folder)
            return path
        failures.append(f"{urllib.parse.urlsplit(url).hostname}: {failure}")
    raise ConnectionError("; ".join(failures))


def _attempt(url: str, part: Path, wanted: Download, *, progress: bool) -> str | None:
    """Complete `part` from `url`; give the reason why not, or None."""
    reason, inherited = "", part.is_file()
    for _ in range(_ATTEMPTS):
        try:
            complete = _continue(url, part, wanted.file, progress=progress)
        except urllib.error.HTTPError as error:
            return f"the server answers {error.code} {error.reason}"
        except urllib.error.URLError as error:
            return str(getattr(error.reason, "strerror", None) or error.reason)
        except (HTTPException, ConnectionError, TimeoutError, ssl.SSLError):
            complete = False
        if not complete:
            reason = "the connection broke"
        elif _md5(part) == wanted.md5:
            return None
        else:
            part.unlink()
            reason = f"the downloaded file does not have the MD5 {wanted.md5}"
            if not inherited:
                break
            inherited = False  # the bytes left by an earlier run may have been wrong
    return reason


def _continue(url: str, part: Path, file: str, *, progress: bool) -> bool:
    """Append to `part` what it lacks; tell whether the server says that was all."""
    have = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == 416 and have:  # nothing lies beyond `have`: the checksum decides
            return True
        raise
    with response:
        if response.status != 206:  # the server sends all of it again
            have = 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length else None
        with (
            part.open("ab" if have else "wb") as out,
            progress_bar(f"{file}, MB", total / _MEGABYTE if total else None, quiet=not progress) as advance,
        ):
            advance(have / _MEGABYTE)
            have += _copy(response, out, advance)
    return total is None or have == total


def _copy(source: IO[bytes], target: IO[bytes], advance: Advance) -> int:
    copied = 0
    while block := source.read(_BLOCK):
        target.write(block)
        copied += len(block)
        advance(len(block) / _MEGABYTE)
    return copied


def _md5(path: Path) -> str:
    # MD5 is what the publishers give; it guards against damage, and unpacking guards against malice.
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
