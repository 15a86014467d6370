"""Galleries whose tables do not end: pages that name one page hundreds of times."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path

PAGE = 4096
TABLE_LEAF, INDEX_LEAF, TABLE_INSIDE, INDEX_INSIDE = 0x0D, 0x0A, 0x05, 0x02


def make_endless(path: Path, name: str, depth: int = 6) -> None:
    """Put pages above the only page of a table or an index, each with many ways to the one below it."""
    with sqlite3.connect(path) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    connection.close()
    pages = [path.read_bytes()[start : start + PAGE] for start in range(0, path.stat().st_size, PAGE)]
    leaf = pages[root - 1]
    assert leaf[0] in (TABLE_LEAF, INDEX_LEAF)
    pages.append(leaf)
    for _ in range(depth):
        pages.append(_above(leaf, len(pages)))
    pages[root - 1] = pages.pop()
    pages[0] = pages[0][:28] + struct.pack(">L", len(pages)) + pages[0][32:]
    path.write_bytes(b"".join(pages))


def _above(leaf: bytes, child: int) -> bytes:
    """Make a page that leads to `child` again and again."""
    if leaf[0] == TABLE_LEAF:
        kind, key = TABLE_INSIDE, b"\x87\x68"  # the number 1,000, as SQLite writes it
    else:
        kind, key = INDEX_INSIDE, _first_cell(leaf)
    cell = struct.pack(">L", child) + key
    count = min(300, (PAGE - 12) // (len(cell) + 2))
    starts = [PAGE - len(cell) * (i + 1) for i in range(count)]
    head = struct.pack(">BHHHBL", kind, 0, count, starts[-1], 0, child)
    places = struct.pack(f">{count}H", *starts)
    return (head + places).ljust(starts[-1], b"\0") + cell * count


def _first_cell(leaf: bytes) -> bytes:
    (start,) = struct.unpack_from(">H", leaf, 8)
    length, size = leaf[start], 1
    if length & 128:
        length, size = (length & 127) << 7 | leaf[start + 1], 2
    return leaf[start : start + size + length]
