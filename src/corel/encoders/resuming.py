"""Rows that were encoded before an interruption, in a file from which the same call goes on.

The file begins with `MAGIC` and the encoder's identity. Then comes a row for each item: its hash, its latent and a
checksum over both. Rows are used up to the first that is damaged.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel import images
from corel._io.regular import open_regular
from corel.encoders.base import Network

HASH, CHECK = 32, 8  # bytes
# How a file of this version begins; no other file is written to. The zero tells it from a text file.
MAGIC = b"corel rows 3\n\0"


def row_type(width: int) -> np.dtype[Any]:
    """Give the layout of a row with a latent of `width` numbers."""
    return np.dtype([("hash", np.uint8, HASH), ("latent", "<f4", width), ("check", np.uint8, CHECK)])


def seal_rows(rows: NDArray[Any], start: int = 0) -> None:
    """Write each row's checksum into it; the first row is number `start` of the file."""
    rows["check"] = _checks(rows, start)


def read_rows(path: Path | None, head: bytes, row: np.dtype[Any]) -> NDArray[Any]:
    """Read the whole rows of a file that begins with `head`, up to the first row that is damaged."""
    if path is None or not path.is_file():
        return np.empty(0, row)
    with open_regular(path) as file:
        if file.read(len(head)) != head:
            return np.empty(0, row)
        count = (os.fstat(file.fileno()).st_size - len(head)) // row.itemsize
        rows = np.frombuffer(file.read(count * row.itemsize), row)
    damaged = np.flatnonzero((rows["check"] != _checks(rows)).any(axis=1))
    return rows[: damaged[0]] if len(damaged) else rows


def _checks(rows: NDArray[Any], start: int = 0) -> NDArray[np.uint8]:
    content = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), rows.itemsize)[:, :-CHECK]
    numbered = (number.to_bytes(8, "little") + row.tobytes() for number, row in enumerate(content, start))
    sums = [hashlib.blake2b(row, digest_size=CHECK).digest() for row in numbered]
    return np.frombuffer(b"".join(sums), np.uint8).reshape(len(rows), CHECK)


def refuse_other_files(path: Path) -> None:
    """Raise if a file is there that is neither empty nor begins as these files do: it would be overwritten."""
    if not path.exists():
        return
    with open_regular(path) as file:
        start = file.read(len(MAGIC))
    if start and start != MAGIC:
        raise ValueError(
            f"{path} holds no rows of an interrupted wrap; delete it, or name another --out (in Python: partial)"
        )


class ResumableRows:
    """Latents and hashes of the items so far, in memory and, where there is a file, in it."""

    def __init__(self, path: Path | None, identity: bytes, width: int) -> None:
        self._type = row_type(width)
        self._head = MAGIC + hashlib.sha256(identity).digest()
        if path is not None:
            refuse_other_files(path)
        self._known = read_rows(path, self._head, self._type)
        self._parts: list[NDArray[Any]] = []
        self._seen = 0
        self._file = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._head + self._known.tobytes())
            self._file = path.open("ab")

    def extend(self, network: Network, values: NDArray[Any]) -> None:
        """Add items, and encode those that the file did not have at this place."""
        hashes = np.frombuffer(b"".join(map(images.content_hash, values)), np.uint8).reshape(len(values), HASH)
        start = self._seen
        known = self._known[start : start + len(values)]
        self._seen += len(values)
        if len(known) == len(values) and np.array_equal(known["hash"], hashes):
            self._parts.append(known)
            return
        rows = np.empty(len(values), self._type)
        rows["hash"], rows["latent"] = hashes, network.encode(values).numpy()
        seal_rows(rows, start)
        if len(self._known):  # the source has changed, or the file ends within this batch
            self._restart()
        self._parts.append(rows)
        self._write(rows)

    def all(self) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        """Give the latents and hashes of all items."""
        parts = self._parts or [np.empty(0, self._type)]
        latents = np.concatenate([each["latent"] for each in parts], dtype=np.float32)
        return latents, np.concatenate([each["hash"] for each in parts])

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _restart(self) -> None:
        """Cut the file down to the rows that were used."""
        self._known = self._known[:0]
        if self._file is not None:
            self._file.truncate(len(self._head) + sum(part.nbytes for part in self._parts))

    def _write(self, rows: NDArray[Any]) -> None:
        if self._file is not None:
            self._file.write(rows.tobytes())
            self._file.flush()


@contextmanager
def resumed_rows(path: Path | None, identity: bytes, width: int) -> Iterator[ResumableRows]:
    """Give the rows to extend, with those that the file `path` holds already."""
    rows = ResumableRows(path, identity, width)
    try:
        yield rows
    finally:
        rows.close()
