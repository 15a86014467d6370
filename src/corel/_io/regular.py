"""Regular files only: a pipe, a socket or a device with a file's name is refused instead of waited for."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

# Opening a pipe waits for a writer unless told not to; Windows has no such pipes, and a flag of its own.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def open_regular(path: Path) -> IO[bytes]:
    """Open a regular file to read; a link to one is followed."""
    descriptor = os.open(path, _FLAGS)
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind == stat.S_IFREG:
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise ValueError(f"{path} is {_KINDS.get(kind, 'not a regular file')}, not a file; remove it or name another")


def read_regular(path: Path, most: int | None = None) -> bytes:
    """Read a regular file whole; one of more than `most` bytes is refused before it is read."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if most is not None and size > most:
            raise ValueError(f"{path} has {size:,} bytes, where at most {most:,} are expected; check the file")
        return file.read() if most is None else file.read(size)
