"""Files that are whole or absent: written beside their place, then moved into it."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Give a place to write to; it is renamed to `path` on success, and deleted on failure.

    A link stays, and what it leads to is replaced. A pipe or a device cannot be replaced: it is the place itself. What
    a process that was killed left here before is deleted.
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
    """Give a name for what this process writes and will move or delete."""
    return f"{prefix}.{socket.gethostname()}-{os.getpid()}.tmp"


def sweep(folder: Path, prefix: str) -> None:
    """Delete files and folders of such names that belong to processes of this machine which are gone."""
    if os.name != "posix":  # elsewhere there is no harmless way to ask for a process
        return
    own = f"{prefix}.{socket.gethostname()}-"
    for left in folder.glob(f"{glob.escape(own)}*.tmp"):
        number = left.name.removeprefix(own).removesuffix(".tmp")
        if number.isascii() and number.isdigit() and not _runs(int(number)):
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
    """Make a rename last through a power cut; Windows cannot open a folder, and does so by itself."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_stream(path: Path) -> bool:
    """Tell a pipe or a device, which only passes on what is written to it, from a place for a file."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a crash, a kill or a full disk leaves what was there before untouched."""
    try:
        with appearing(path) as place:
            place.write_bytes(content)
    except OSError as error:
        raise OSError(
            error.errno, f"cannot write it, what was there before is unchanged: {error.strerror or error}", str(path)
        ) from error
