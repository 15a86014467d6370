"""Whether a gallery's rows fit into its file.

SQLite reads a page as often as other pages point to it: 50 kB can hold a table without an end, or a thousand texts of
a megabyte. A valid file is at least as large as its rows, so the sizes of its rows are added up before they are used.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from corel.gallery._file import damaged

# Tables and columns that are read for all rows at once, with the format that introduced them; the rest is read by row.
_READ = {
    "exemplar INDEXED BY sqlite_autoindex_exemplar_1": (1, ("class", "hash")),
    "backbone": (1, ("name", "digest")),
    "setting": (2, ("name", "value")),
    "setting INDEXED BY sqlite_autoindex_setting_1": (2, ("name",)),
    "change": (2, ("number",)),
    "checksum": (3, ("value",)),
}
_ROW = 8  # bytes that a row takes at least, beside its texts


def check_extent(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Refuse a gallery of this format whose lists are longer than its file."""
    for table, (since, columns) in _READ.items():
        if version >= since:
            # SQLite's length of a text ends at its first zero byte.
            lengths = " + ".join(f"ifnull(length(CAST({each} AS BLOB)), 0)" for each in columns)
            room = path.stat().st_size
            for (length,) in connection.execute(f"SELECT {lengths} FROM {table}"):
                room -= length + _ROW
                if room < 0:
                    raise _too_many(path)


def within_file(rows: Iterable[Sequence[Any] | None], path: Path) -> Iterator[Sequence[Any] | None]:
    """Pass on rows until their texts and blobs are more than the file can hold."""
    room = path.stat().st_size
    for row in rows:
        room -= sum(len(value) for value in row or () if isinstance(value, str | bytes))
        if room < 0:
            raise _too_many(path)
        yield row


def _too_many(path: Path) -> ValueError:
    return damaged(path, "its rows are more than it can hold")
