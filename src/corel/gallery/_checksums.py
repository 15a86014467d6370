"""Checksums in a gallery: one for each exemplar, and one over the list of them, the settings and the backbone.

The list is checked whenever the file has changed, an exemplar when it is read: opening reads no latent. Files of the
formats before 3 have no checksums, and get them with the first change. A checksum finds damage, not malice.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence

# Those of an exemplar, in the order in which they are hashed.
COLUMNS = "class, hash, source, enrolled, latent, thumbnail, features"
SIZE = 16  # bytes
_SMALL = (
    "SELECT number FROM change",
    "SELECT name, digest, dimension FROM backbone",
    "SELECT name, value FROM setting ORDER BY name",
)
# In the order of their indexes, and joined by SQLite: a loop in Python takes several times as long.
_LARGE = (
    "SELECT group_concat(quote(class) || quote(id) || quote(hash)) FROM"
    " (SELECT class, id, hash FROM exemplar ORDER BY class, hash)",
    "SELECT group_concat(quote(id) || quote(value)) FROM (SELECT id, value FROM checksum ORDER BY id)",
)


def of_row(row: Sequence[object]) -> bytes:
    """Hash an exemplar's columns, each with its type and length."""
    parts = [_bytes(value) for value in row]
    layout = " ".join(f"{type(value).__name__} {len(part)}" for value, part in zip(row, parts, strict=True))
    return hashlib.blake2b(b"".join([layout.encode(), b"\n", *parts]), digest_size=SIZE).digest()


def seal_rows(connection: sqlite3.Connection, where: str = "TRUE", values: Sequence[object] = ()) -> None:
    """Store the checksums of exemplars as they are now."""
    rows = connection.execute(f"SELECT id, {COLUMNS} FROM exemplar WHERE {where}", values)
    connection.executemany(
        "INSERT OR REPLACE INTO checksum VALUES (?, ?)", [(number, of_row(row)) for number, *row in rows]
    )


def seal_list(connection: sqlite3.Connection) -> None:
    """Drop the checksums of removed exemplars, count the change, and store the checksum of the list."""
    connection.execute("DELETE FROM checksum WHERE id NOT IN (SELECT id FROM exemplar)")
    connection.execute("UPDATE change SET number = number + 1")
    connection.execute("UPDATE change SET checksum = ?", (of_list(connection),))


def of_list(connection: sqlite3.Connection) -> bytes:
    """Hash the number of changes, the backbone, the settings, and each exemplar's class, number, hash and checksum."""
    parts = [str(connection.execute(select).fetchall()) for select in _SMALL]
    parts += [str(connection.execute(select).fetchone()[0]) for select in _LARGE]
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=SIZE).digest()


def _bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else repr(value)).encode("utf-8", "surrogatepass")
