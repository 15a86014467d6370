"""Opens a gallery's file, and checks that it is a gallery and not damaged.

A gallery may come from anywhere: its identity, version, layout and length are checked before a row is read.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corel.gallery._journal_check import check_beside

APPLICATION_ID = int.from_bytes(b"corl", "big")
# A writer holds the lock for milliseconds, since images are encoded before; this long means it is stuck.
BUSY_SECONDS = 30.0
# What each format adds to the one before it. A new file is made by all of them, an older one by those it lacks: the
# result has the same schema, to the letter.
STEPS: dict[int, tuple[str, ...]] = {
    1: (
        "CREATE TABLE backbone (name TEXT NOT NULL, digest TEXT NOT NULL, dimension INTEGER NOT NULL)",
        "CREATE TABLE exemplar (id INTEGER PRIMARY KEY, class TEXT NOT NULL, hash TEXT NOT NULL,"
        " source TEXT NOT NULL, enrolled TEXT NOT NULL, latent BLOB NOT NULL, thumbnail BLOB,"
        " UNIQUE (class, hash))",
    ),
    2: (
        "ALTER TABLE exemplar ADD COLUMN features BLOB",
        "CREATE TABLE setting (name TEXT NOT NULL UNIQUE, value TEXT NOT NULL)",
        # Counted up by every writer: SQLite's own numbers differ from connection to connection.
        "CREATE TABLE change (number INTEGER NOT NULL)",
        "INSERT INTO change VALUES (0)",
    ),
    3: (
        # Beside the exemplars, not in them: all checksums are read without a latent.
        "CREATE TABLE checksum (id INTEGER PRIMARY KEY, value BLOB NOT NULL)",
        "ALTER TABLE change ADD COLUMN checksum BLOB",
    ),
}
FORMAT = max(STEPS)
SETTINGS = (
    # A decoder can turn a latent back into its image: forgetting overwrites it with zeros.
    "PRAGMA secure_delete = ON",
    # The schema of a foreign file must not call functions, and its pages are checked for consistency.
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)


def check_place(path: Path, *, create: bool) -> None:
    """Raise if there is no gallery at `path`, or if none can be created there."""
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a file; name a gallery such as {path / 'my.gallery'}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for {path.name}; create it first")
    if not create and not path.exists():
        raise FileNotFoundError(f"there is no gallery {path}; check the path, or make it with `corel enroll`")


def connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Open the file; `create` makes an empty one where there is none."""
    check_beside(path)
    with sentences(path):
        uri = f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        for statement in SETTINGS:
            connection.execute(statement)
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, path: Path, kind: str) -> Iterator[None]:
    """Run the block as one transaction, DEFERRED to read or IMMEDIATE to write; an error undoes it."""
    with sentences(path):
        connection.execute(f"BEGIN {kind}")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            # On a full disk SQLite may have rolled back by itself.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def lay_out(connection: sqlite3.Connection, upto: int = FORMAT, *, since: int = 0) -> None:
    """Create the tables and mark the file as a gallery, inside the caller's transaction; or convert an older one."""
    for step in range(since + 1, upto + 1):
        for statement in STEPS[step]:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {upto}")


def format_of(connection: sqlite3.Connection, path: Path) -> int:
    """Give a gallery's format, 0 for an empty file, inside the caller's transaction; anything else is an error."""
    # The first table makes a schema's version 1, so 0 is a file that nothing was ever written to.
    if _pragma(connection, "schema_version") == 0 and _pragma(connection, "application_id") == 0:
        if path.stat().st_size:  # SQLite takes the first bytes of a gallery for an empty file
            raise damaged(path, "it was cut short")
        return 0
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise ValueError(f"{path} is an SQLite file of another program, not a gallery; check the path")
    version = _pragma(connection, "user_version")
    if version > FORMAT:
        raise ValueError(f"{path} was written by a newer corel; run `pip install --upgrade corel`")
    if version not in STEPS or _schema(connection) != _own_schema(version):
        raise damaged(path, "its tables are not those of a gallery")
    # SQLite notices missing pages only when it comes to read them.
    if path.stat().st_size < _pragma(connection, "page_count") * _pragma(connection, "page_size"):
        raise damaged(path, "it was cut short")
    return version


def _schema(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
    """List every table, index, trigger and view, each once: two of them may have the same name."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    return sorted(tuple(map(str, row)) for row in rows)


@functools.cache
def _own_schema(version: int) -> list[tuple[str, ...]]:
    """List what `lay_out` makes. Anything else in a file, a trigger or a view, would run with our statements."""
    connection = sqlite3.connect(":memory:")
    lay_out(connection, version)
    schema = _schema(connection)
    connection.close()
    return schema


def damaged(path: Path, what: str) -> ValueError:
    """Make the error for a gallery that cannot be trusted."""
    return ValueError(f"{path} is damaged ({what}); restore a copy, or enroll its images into a new file")


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into sentences, by their messages: codes reach Python only from 3.11 on."""
    try:
        yield
    except sqlite3.ProgrammingError as error:
        raise ValueError(f"{path} was closed; open it anew") from error
    except sqlite3.Error as error:
        raise _translated(str(error), path) from error
    except UnicodeDecodeError as error:
        raise damaged(path, "a text in it cannot be read") from error


def _translated(message: str, path: Path) -> Exception:
    if "not a database" in message:
        return ValueError(f"{path} is not a gallery, nor any SQLite file; check the path")
    if "locked" in message:
        return TimeoutError(
            f"another process has been writing to {path} for {BUSY_SECONDS:.0f} s; try again when it is done"
        )
    if "readonly" in message or "unable to open" in message:
        return PermissionError(f"{path} cannot be written; make it and its folder writable, or use a copy")
    if "full" in message or "disk I/O" in message:
        return OSError(f"{path} could not be written ({message}) and is unchanged; free space and try again")
    return damaged(path, message)


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)
