"""Files that are whole or absent: written beside their place, then moved into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Give a place to write to; what is there moves to `path` if the block ends well, and goes if it does not.

    A link stays, and what it leads to is replaced. A pipe or a device cannot be replaced: it is the place itself.
    """
    if is_stream(path):
        yield path
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
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
            error.errno, f"cannot write it, what was there before is unchanged: {error.strerror}", str(path)
        ) from error
