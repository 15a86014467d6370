"""The gallery's rows: exemplars with their latents, and the backbone they were encoded by.

A class exists while it has an exemplar. The journal is SQLite's rollback journal, not its write-ahead log:
the file can be read in a read-only folder and copied as it lies, and after a kill inside a transaction the
next process to open it rolls that back. Threads share one connection behind a lock.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from corel._errors import ArgumentError
from corel.gallery import _checksums
from corel.gallery._exemplar import (
    BackboneReference,
    Exemplar,
    Key,
    Snapshot,
    Version,
    check_backbone,
    stored_exemplar,
    stored_name,
)
from corel.gallery._extent import check_extent, within_file
from corel.gallery._file import FORMAT, check_place, connect, damaged, format_of, lay_out, transaction
from corel.images import WHOLE

VARIABLES = 500  # in one statement; SQLite allows at least 999


class Store:
    """An open gallery file; every method is one transaction, safe to call from any thread, and every error a sentence.

    A file of an older format is read as it is, and converted by the first transaction that writes.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        check_place(path, create=create)
        self.path = path
        self.reference: BackboneReference | None = None
        self._format = 0
        self._fits = False  # whether the rows were found to be no more than the file can hold
        self._verified: Version | None = None  # the version whose list was compared with its checksum
        self._lock = threading.RLock()
        # A new file appears with its first exemplars, not before.
        self._connection = None if create and not path.exists() else connect(path, create=create)
        self.counts()
        if not create and self.reference is None:
            self.close()
            raise ValueError(f"{path} is empty; enroll a class into it, or restore a copy of what it held")

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()

    def version(self) -> Version:
        """Give a value that changes whenever this or another process changes the file."""
        with self._lock, self._reading() as connection:
            return () if connection is None else self._version(connection)

    def changes(self, known: Container[Key]) -> Snapshot:
        """Read, as of one moment, what exemplars there are, and the latents and features of those not in `known`."""
        with self._lock, self._reading() as connection:
            if connection is None:
                return Snapshot((), {}, {})
            rows = connection.execute("SELECT class, id, hash FROM exemplar ORDER BY class, id").fetchall()
            keys: dict[str, list[Key]] = {}
            for name, number, digest in rows:
                keys.setdefault(stored_name(name, self.path), []).append((int(number), str(digest)))
            new = [key for each in keys.values() for key in each if key not in known]
            found = self._exemplars(connection, [number for number, _ in new])
            parts = [(each.latent, each.features) for each in found]
            return Snapshot(self._version(connection), keys, dict(zip(new, parts, strict=True)))

    def add(
        self, reference: BackboneReference, exemplars: Iterable[Exemplar], first: Mapping[str, Any] | None = None
    ) -> list[bool]:
        """Insert all exemplars or none; True for each that was new, False for one its class already holds.

        A new gallery stores the settings `first` in the same transaction.
        """
        with self._lock:
            if self._connection is None:
                self._connection = connect(self.path, create=True)
            with self._gone_if_it_fails(self._connection), self._writing(self._connection) as connection:
                if self.reference is None:
                    row = (reference.name, reference.digest, reference.dimension)
                    connection.execute("INSERT INTO backbone VALUES (?, ?, ?)", row)
                    _configure(connection, first or {})
                    self.reference = reference
                check_backbone(self.path, self.reference, reference)
                self._check_views(connection, first or {})
                return [_insert(connection, exemplar) for exemplar in exemplars]

    def remove(self, name: str, hashes: Sequence[str] | None = None) -> int:
        """Delete a class, or those of its exemplars that have these hashes; gives how many went."""
        with self._lock:
            if self._connection is None:
                return 0
            with self._writing(self._connection) as connection:
                if hashes is None:
                    return connection.execute("DELETE FROM exemplar WHERE class = ?", (name,)).rowcount
                rows = [(name, each) for each in hashes]
                return connection.executemany("DELETE FROM exemplar WHERE class = ? AND hash = ?", rows).rowcount

    def _check_views(self, connection: sqlite3.Connection, first: Mapping[str, Any]) -> None:
        """Refuse exemplars encoded with other views: another process may have made the gallery meanwhile."""
        stored = self._settings(connection).get("views", WHOLE)
        if stored != first.get("views", stored):
            raise ValueError(f"another process made {self.path} with the views {stored!r}; enroll again")

    def settings(self) -> dict[str, Any]:
        """Give what `configure` stored."""
        with self._lock, self._reading() as connection:
            if connection is None or self._format < 2:
                return {}
            return self._settings(connection)

    def _settings(self, connection: sqlite3.Connection) -> dict[str, Any]:
        rows = connection.execute("SELECT name, value FROM setting").fetchall()
        try:
            return {str(name): json.loads(value) for name, value in rows}
        except (TypeError, ValueError, RecursionError) as error:
            raise damaged(self.path, "a setting cannot be read") from error

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Store settings of the gallery, such as the views or the method of its scores, as JSON."""
        with self._lock:
            if self._connection is None or self.reference is None:
                raise ValueError(f"{self.path} is empty; enroll a class before its settings are stored")
            with self._writing(self._connection) as connection:
                _configure(connection, settings)

    def rename(self, name: str, new: str) -> int:
        """Give a class another name that no class has; gives how many exemplars it holds."""
        with self._lock:
            if self._connection is None:
                return 0
            with self._writing(self._connection) as connection:
                (taken,) = connection.execute("SELECT COUNT(*) FROM exemplar WHERE class = ?", (new,)).fetchone()
                if taken:
                    raise ArgumentError(
                        "new", f"is {new!r}, which is a class already; choose another, or forget that class first"
                    )
                list(self._of_class(connection, name))  # what is damaged gets no new checksum
                renamed = connection.execute("UPDATE exemplar SET class = ? WHERE class = ?", (new, name)).rowcount
                _checksums.seal_rows(connection, "class = ?", (new,))
                return renamed

    def counts(self) -> dict[str, int]:
        """Count each class's exemplars, classes in alphabetical order."""
        with self._lock, self._reading() as connection:
            select = "SELECT class, COUNT(*) FROM exemplar GROUP BY class ORDER BY class"
            rows = [] if connection is None else connection.execute(select).fetchall()
        return {stored_name(name, self.path): count for name, count in rows}

    def exemplars(self, name: str, hashes: Iterable[str] | None = None) -> list[Exemplar]:
        """Read a class's exemplars in the order they were enrolled, or only those with these hashes, in their order."""
        with self._lock, self._reading() as connection:
            return [] if connection is None else list(self._of_class(connection, name, hashes))

    def holders(self, hashes: Sequence[str]) -> list[tuple[str, ...]]:
        """For each hash the classes that hold an exemplar with it, in alphabetical order."""
        found: dict[str, list[str]] = {each: [] for each in hashes}
        wanted = list(found)
        with self._lock, self._reading() as connection:
            if connection is None:
                return [()] * len(hashes)
            for start in range(0, len(wanted), VARIABLES):
                chunk = wanted[start : start + VARIABLES]
                places = ", ".join("?" * len(chunk))
                select = f"SELECT hash, class FROM exemplar WHERE hash IN ({places}) ORDER BY class"
                for digest, name in connection.execute(select, chunk):
                    found[digest].append(stored_name(name, self.path))
        return [tuple(found[each]) for each in hashes]

    def hashes(self) -> dict[str, list[str]]:
        """Give the hashes of each class's exemplars in the order of enrollment."""
        found: dict[str, list[str]] = {}
        with self._lock, self._reading() as connection:
            rows = (
                [] if connection is None else connection.execute("SELECT class, hash FROM exemplar ORDER BY class, id")
            )
            for name, digest in rows:
                found.setdefault(stored_name(name, self.path), []).append(str(digest))
        return found

    def copy(self, path: Path) -> None:
        """Write one state of the file to another."""
        if self._connection is None:
            raise ValueError(f"{self.path} is empty; enroll a class before it is copied")
        with self._lock, closing(sqlite3.connect(path)) as target:
            self._connection.backup(target)

    def thumbnails(self, count: int) -> list[bytes]:
        """Read the thumbnails of some exemplars: those with the lowest hashes, a sample as good as random."""
        with self._lock, self._reading() as connection:
            if connection is None:
                return []
            rows = connection.execute("SELECT id FROM exemplar ORDER BY hash LIMIT ?", (count,))
            found = self._exemplars(connection, sorted(number for (number,) in rows))
            return [each.thumbnail for each in found if isinstance(each.thumbnail, bytes)]

    def _version(self, connection: sqlite3.Connection) -> Version:
        if self._format >= 2:
            return tuple(connection.execute("SELECT number FROM change").fetchone() or ())
        # Format 1 has no counter. These two are meaningful because all threads share this one connection.
        (shared,) = connection.execute("PRAGMA data_version").fetchone()
        return shared, connection.total_changes

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """Run the block on one state of the file; None where nothing is in it yet."""
        if self._connection is None:
            yield None
            return
        with transaction(self._connection, self.path, "DEFERRED"):
            self.reference = self._read_reference(self._connection)
            self._verify(self._connection)
            yield self._connection if self.reference else None

    @contextmanager
    def _gone_if_it_fails(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Remove the file if the block fails and nothing was ever in it."""
        try:
            yield
        except BaseException:
            # With the lock of a writer, so that no other process is about to fill the file.
            with contextlib.suppress(OSError, ValueError, sqlite3.Error):
                with transaction(connection, self.path, "EXCLUSIVE"):
                    if empty := not self.path.stat().st_size:
                        self.path.unlink()
                if empty:
                    connection.close()
                    self._connection, self.reference = None, None
            raise

    @contextmanager
    def _writing(self, connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
        """Run the block as one transaction in the newest format, counted as a change."""
        with transaction(connection, self.path, "IMMEDIATE"):
            # Another process may have made or converted the gallery since this one looked.
            self.reference = self._read_reference(connection)
            self._verify(connection)
            if self._format < FORMAT:
                lay_out(connection, since=self._format)
                _checksums.seal_rows(connection)
                self._format = FORMAT
            yield connection
            _checksums.seal_list(connection)

    def _verify(self, connection: sqlite3.Connection) -> None:
        """Compare the list of exemplars, the settings and the backbone with their checksum, once a version."""
        if self._format < 3 or (version := self._version(connection)) == self._verified:
            return
        if connection.execute("SELECT checksum FROM change").fetchall() != [(_checksums.of_list(connection),)]:
            raise damaged(self.path, "its list of exemplars does not match its checksum")
        self._verified = version

    def _read_reference(self, connection: sqlite3.Connection) -> BackboneReference | None:
        self._format = format_of(connection, self.path)
        if not self._format:
            return None
        if not self._fits:
            check_extent(connection, self.path, self._format)
            self._fits = True
        rows = connection.execute("SELECT name, digest, dimension FROM backbone").fetchall()
        match rows:
            case [(str(name), str(digest), int(dimension))] if dimension > 0:
                return BackboneReference(name, digest, dimension)
        raise damaged(self.path, "it does not name one backbone")

    def _of_class(
        self, connection: sqlite3.Connection, name: str, hashes: Iterable[str] | None = None
    ) -> Iterator[Exemplar]:
        select = "SELECT id FROM exemplar WHERE class = ?"
        rows = connection.execute(f"{select} ORDER BY id", (name,)).fetchall() if hashes is None else []
        for each in hashes or ():
            rows += connection.execute(f"{select} AND hash = ?", (name, each)).fetchall()
        return self._exemplars(connection, [number for (number,) in rows])

    def _exemplars(self, connection: sqlite3.Connection, numbers: Sequence[int]) -> Iterator[Exemplar]:
        """Read exemplars by their numbers, and compare each with its checksum."""
        columns = _checksums.COLUMNS if self._format >= 2 else _checksums.COLUMNS.replace("features", "NULL")
        checksum = "(SELECT value FROM checksum WHERE checksum.id = exemplar.id)" if self._format >= 3 else "NULL"
        select = f"SELECT {checksum}, {columns} FROM exemplar WHERE id = ?"
        rows = (connection.execute(select, (number,)).fetchone() for number in numbers)
        for found in within_file(rows, self.path):
            if found is None:
                raise damaged(self.path, "an exemplar in its list is missing")
            stored, *row = found
            exemplar = stored_exemplar(row, self.reference.dimension if self.reference else 0, self.path)
            if self._format >= 3 and stored != _checksums.of_row(row):
                raise damaged(self.path, f"an exemplar of {exemplar.name!r} does not match its checksum")
            yield exemplar


def _configure(connection: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    upsert = "INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    connection.executemany(upsert, [(name, json.dumps(value)) for name, value in settings.items()])


def _insert(connection: sqlite3.Connection, each: Exemplar) -> bool:
    latent = each.latent.astype("<f4").tobytes()
    features = None if each.features is None else each.features.astype("<f4").tobytes()
    insert = (
        "INSERT INTO exemplar (class, hash, source, enrolled, latent, thumbnail, features)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (class, hash) DO NOTHING"
    )
    row = (each.name, each.hash, each.source, each.enrolled, latent, each.thumbnail, features)
    added = connection.execute(insert, row)
    if added.rowcount != 1:
        return False
    connection.execute("INSERT INTO checksum VALUES (?, ?)", (added.lastrowid, _checksums.of_row(row)))
    return True
