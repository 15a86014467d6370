"""The gallery's rows: exemplars with their latents, and the backbone they were encoded by.

A class exists while it has an exemplar. The journal is SQLite's rollback journal, not its write-ahead log:
the file can be read in a read-only folder and copied as it lies, and after a kill inside a transaction the
next process to open it rolls that back.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel._terminal import printable
from corel.gallery._file import check_place, connect, damaged, is_laid_out, lay_out, sentences, transaction
from corel.gallery._names import check_name

VARIABLES = 500  # in one statement; SQLite allows at least 999


@dataclass(frozen=True)
class BackboneReference:
    """Which backbone the latents come from: a shipped name or a path, its content hash, and B·D."""

    name: str
    digest: str
    dimension: int


@dataclass(frozen=True)
class Exemplar:
    """One enrolled example of a class.

    `hash` is of what was encoded (the pixels at the encoder's size), `thumbnail` a PNG of the same,
    `enrolled` an ISO time in UTC.
    """

    name: str
    hash: str
    source: str
    enrolled: str
    latent: NDArray[np.float32]
    thumbnail: bytes | None


class Store:
    """An open gallery file; every method is one transaction, and every error a sentence."""

    def __init__(self, path: Path, *, create: bool) -> None:
        check_place(path, create=create)
        self.path = path
        self.reference: BackboneReference | None = None
        # A new file appears with its first exemplars, not before.
        self._connection = None if create and not path.exists() else connect(path, create=create)
        self.counts()

    def close(self) -> None:
        """Release the file."""
        if self._connection is not None:
            self._connection.close()

    def version(self) -> tuple[int, int]:
        """Give a value that changes whenever this or another process changes the file."""
        if self._connection is None:
            return 0, 0
        with sentences(self.path):
            (shared,) = self._connection.execute("PRAGMA data_version").fetchone()
        return shared, self._connection.total_changes

    def add(self, reference: BackboneReference, exemplars: Iterable[Exemplar]) -> list[bool]:
        """Insert all exemplars or none; True for each that was new, False for one its class already holds."""
        if self._connection is None:
            self._connection = connect(self.path, create=True)
        with transaction(self._connection, self.path, "IMMEDIATE"):
            # Another process may have made the gallery since this one looked.
            self.reference = self._read_reference(self._connection)
            if self.reference is None:
                lay_out(self._connection)
                row = (reference.name, reference.digest, reference.dimension)
                self._connection.execute("INSERT INTO backbone VALUES (?, ?, ?)", row)
                self.reference = reference
            check_backbone(self.path, self.reference, reference)
            return [_insert(self._connection, exemplar) for exemplar in exemplars]

    def remove(self, name: str, hashes: Sequence[str] | None = None) -> int:
        """Delete a class, or those of its exemplars that have these hashes; gives how many went."""
        if self._connection is None:
            return 0
        with transaction(self._connection, self.path, "IMMEDIATE"):
            if hashes is None:
                return self._connection.execute("DELETE FROM exemplar WHERE class = ?", (name,)).rowcount
            rows = [(name, each) for each in hashes]
            delete = "DELETE FROM exemplar WHERE class = ? AND hash = ?"
            return self._connection.executemany(delete, rows).rowcount

    def rename(self, name: str, new: str) -> int:
        """Give a class another name that no class has; gives how many exemplars it holds."""
        if self._connection is None:
            return 0
        with transaction(self._connection, self.path, "IMMEDIATE"):
            (taken,) = self._connection.execute("SELECT COUNT(*) FROM exemplar WHERE class = ?", (new,)).fetchone()
            if taken:
                raise ValueError(f"there is a class {new!r} already; choose another name, or forget that class first")
            return self._connection.execute("UPDATE exemplar SET class = ? WHERE class = ?", (new, name)).rowcount

    def counts(self) -> dict[str, int]:
        """Count each class's exemplars, classes in alphabetical order."""
        rows = self._read("SELECT class, COUNT(*) FROM exemplar GROUP BY class ORDER BY class")
        return {self._class(name): count for name, count in rows}

    def exemplars(self, name: str) -> list[Exemplar]:
        """Read a class's exemplars in the order they were enrolled."""
        select = "SELECT hash, source, enrolled, latent, thumbnail FROM exemplar WHERE class = ? ORDER BY id"
        rows = self._read(select, (name,))
        latents = self._latents([row[3] for row in rows])
        return [
            Exemplar(name, printable(str(digest)), printable(str(source)), printable(str(enrolled)), latent, png)
            for (digest, source, enrolled, _, png), latent in zip(rows, latents, strict=True)
        ]

    def holders(self, hashes: Sequence[str]) -> list[tuple[str, ...]]:
        """For each hash the classes that hold an exemplar with it, in alphabetical order."""
        found: dict[str, list[str]] = {each: [] for each in hashes}
        wanted = list(found)
        for start in range(0, len(wanted), VARIABLES):
            chunk = tuple(wanted[start : start + VARIABLES])
            places = ", ".join("?" * len(chunk))
            select = f"SELECT hash, class FROM exemplar WHERE hash IN ({places}) ORDER BY class"
            for digest, name in self._read(select, chunk):
                found[digest].append(self._class(name))
        return [tuple(found[each]) for each in hashes]

    def thumbnails(self, count: int) -> list[bytes]:
        """Read the thumbnails of some exemplars: those with the lowest hashes, a sample as good as random."""
        chosen = "SELECT id FROM exemplar ORDER BY hash LIMIT ?"
        rows = self._read(f"SELECT thumbnail FROM exemplar WHERE id IN ({chosen})", (count,))
        return [thumbnail for (thumbnail,) in rows if isinstance(thumbnail, bytes)]

    def latents(self) -> tuple[dict[str, int], NDArray[np.float32]]:
        """Read all latents [m, B·D], class after class, and how many belong to each."""
        rows = self._read("SELECT class, latent FROM exemplar ORDER BY class, id")
        counts = Counter(self._class(name) for name, _ in rows)
        return dict(counts), self._latents([latent for _, latent in rows])

    def _read(self, select: str, parameters: tuple[str | int, ...] = ()) -> list[tuple[Any, ...]]:
        if self._connection is None:
            return []
        with transaction(self._connection, self.path, "DEFERRED"):
            self.reference = self.reference or self._read_reference(self._connection)
            return self._connection.execute(select, parameters).fetchall() if self.reference else []

    def _read_reference(self, connection: sqlite3.Connection) -> BackboneReference | None:
        if not is_laid_out(connection, self.path):
            return None
        rows = connection.execute("SELECT name, digest, dimension FROM backbone").fetchall()
        match rows:
            case [(str(name), str(digest), int(dimension))] if dimension > 0:
                return BackboneReference(name, digest, dimension)
        raise damaged(self.path, "it does not name one backbone")

    def _class(self, name: object) -> str:
        try:
            return check_name(name)
        except (TypeError, ValueError) as error:
            raise damaged(self.path, "a class has an impossible name") from error

    def _latents(self, blobs: list[object]) -> NDArray[np.float32]:
        dimension = self.reference.dimension if self.reference else 0
        if any(not isinstance(blob, bytes) or len(blob) != 4 * dimension for blob in blobs):
            raise damaged(self.path, f"a latent does not have {dimension} values")
        joined = b"".join(blob for blob in blobs if isinstance(blob, bytes))
        latents = np.frombuffer(joined, dtype="<f4").reshape(len(blobs), dimension)
        if not np.isfinite(latents).all():
            raise damaged(self.path, "a latent is not finite")
        return latents.astype(np.float32, copy=False)


def check_backbone(path: Path, stored: BackboneReference, given: BackboneReference) -> None:
    """Latents of two encoders cannot be compared: refuse to mix them."""
    if stored.digest != given.digest:
        raise ValueError(
            f"{path} was made with the backbone {stored.name} ({stored.digest[:12]}), not with "
            f"{given.name} ({given.digest[:12]}); open it with that one, or enrol into a new gallery"
        )


def _insert(connection: sqlite3.Connection, each: Exemplar) -> bool:
    latent = each.latent.astype("<f4").tobytes()
    insert = (
        "INSERT INTO exemplar (class, hash, source, enrolled, latent, thumbnail)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (class, hash) DO NOTHING"
    )
    row = (each.name, each.hash, each.source, each.enrolled, latent, each.thumbnail)
    return connection.execute(insert, row).rowcount == 1
