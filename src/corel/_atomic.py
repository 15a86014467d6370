"""Files that are whole or absent: written beside their place, then moved into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Give a place to write to; what is there moves to `path` if the block ends well, and goes if it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a crash, a kill or a full disk leaves what was there before untouched."""
    try:
        with appearing(path) as temporary, temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(
            error.errno, f"cannot write it, what was there before is unchanged: {error.strerror}", str(path)
        ) from error
