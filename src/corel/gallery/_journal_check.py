"""Checks a gallery's header and the journal beside it before SQLite acts on them.

A gallery that a stranger sends may come with a journal. SQLite replays a journal when it opens the file, and one that
names a super-journal makes it delete whatever file has that name. A gallery never has either of these:
a write-ahead log, or a journal that names another file.
"""

from __future__ import annotations

import os
from pathlib import Path

from corel._io.regular import open_regular

_SQLITE = b"SQLite format 3\0"
_ROLLBACK = b"\x01\x01"  # versions to write and to read: 1 is a rollback journal, 2 a write-ahead log
# https://www.sqlite.org/fileformat.html: a journal that names a super-journal ends in the length of the name,
# a checksum and the bytes that a journal begins with.
_JOURNAL = bytes.fromhex("d9d505f920a163d7")
_ENDING = 16


def check_beside(path: Path) -> None:
    """Refuse a file that asks for a write-ahead log, and a journal beside it that names another file."""
    real = Path(os.path.realpath(path))  # SQLite follows links, too, before it looks for a journal
    if _head(real)[18:20] not in (_ROLLBACK, b"") or _named(real, "-wal").exists():
        raise ValueError(
            f"{path} uses a write-ahead log, which a gallery never does; if it is yours, run "
            f"`sqlite3 {path.name} 'PRAGMA journal_mode=DELETE'` in its folder"
        )
    journal = _named(real, "-journal")
    if journal.exists() and _names_another(journal):
        raise ValueError(
            f"{journal} names another file for SQLite to delete, which no journal of a gallery does; "
            f"remove it, and do not trust {path.name}"
        )


def _named(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _head(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with open_regular(path) as file:
        head = file.read(20)
    return head if head.startswith(_SQLITE) else b""  # SQLite says what else it is


def _names_another(journal: Path) -> bool:
    with open_regular(journal) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _ENDING))
        ending = file.read(_ENDING)
    length = int.from_bytes(ending[:4], "big")
    # SQLite also compares the checksum, by rules that depend on the processor. Ignoring it only refuses more.
    return len(ending) == _ENDING and ending.endswith(_JOURNAL) and 0 < length <= size - _ENDING
