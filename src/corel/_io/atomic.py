"""Files that are whole or absent: written beside their place, then moved into it."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Give a place to write to; it is renamed to `path` on success, and deleted on failure.

    If `path` is a link, its target is replaced. If it is a pipe or a device, it is written to directly. Temporary files
    that killed processes left behind are deleted first.
    """
    if is_stream(path):
        yield path
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(temporary_name(f".{path.name}"))
    sweep(path.parent, f".{path.name}")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def temporary_name(prefix: str) -> str:
    """Give a name for a temporary file of this process, another one each time: threads may write the same file."""
    return f"{prefix}.{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}.tmp"


def sweep(folder: Path, prefix: str) -> None:
    """Delete temporary files and folders of processes that no longer run on this machine."""
    if os.name != "posix":  # elsewhere there is no harmless way to ask whether a process runs
        return
    own = f"{prefix}.{socket.gethostname()}-"
    for left in folder.glob(f"{glob.escape(own)}*.tmp"):
        number = re.fullmatch(r"([0-9]+)(-[0-9a-f]{8})?\.tmp", left.name.removeprefix(own))
        if number and not _runs(int(number[1])):
            with contextlib.suppress(OSError):
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def sync_folder(folder: Path) -> None:
    """Write a folder's entries to the disk, so that a rename survives a power cut; Windows needs no such call."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_stream(path: Path) -> bool:
    """Tell a pipe or a device, which only passes on what is written to it, from a place for a file."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in errors that name none: writing to an open file on a full disk raises such."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a crash, a kill or a full disk leaves what was there before untouched."""
    try:
        with appearing(path) as place:
            place.write_bytes(content)
    except OSError as error:
        raise OSError(
            error.errno, f"cannot write it, what was there before is unchanged: {error.strerror or error}", str(path)
        ) from error
