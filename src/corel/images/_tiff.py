"""Checks the strips and tiles in a TIFF's directory before a decoder reads them.

A file of 1,200 bytes may name a tile of 46,000 × 46,000 pixels, for which the decoder takes 2 GB, or a million strips,
over each of which it goes one by one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

MOST_PIECES = 100_000  # strips or tiles; an image of 64 million pixels has some 8,000 rows
LARGEST_TILE = 4096 * 4096  # pixels; a tile may be larger than its image
_TILE_WIDTH, _TILE_LENGTH, _PIECES = 322, 323, (273, 324)  # tags: the last are the places of strips and of tiles


class _Layout(NamedTuple):
    """How numbers are written: byte order, and in a BigTIFF longer ones."""

    start: str
    number: str
    entry: str


_LAYOUTS = {
    order + magic: _Layout(f"{sign}{start}", f"{sign}{count}", f"{sign}{entry}")
    for order, sign in ((b"II", "<"), (b"MM", ">"))
    for magic, (start, count, entry) in (
        (struct.pack(f"{sign}H", 42), ("4xL", "H", "HHL4s")),
        (struct.pack(f"{sign}H", 43), ("8xQ", "Q", "HHQ8s")),
    )
}


def check_tiff(file: IO[bytes]) -> None:
    """Refuse a TIFF of too many strips or tiles, or of too large ones; any other file passes, and stays where it is."""
    place = file.tell()
    try:
        if layout := _LAYOUTS.get(file.read(4)):
            file.seek(place)
            _check(dict(_entries(file, place, layout)))
    except (struct.error, OverflowError):  # cut off: the decoder says so
        pass
    finally:
        file.seek(place)


def _check(tags: dict[int, tuple[int, int]]) -> None:
    pieces = max((tags[tag][0] for tag in _PIECES if tag in tags), default=0)
    if pieces > MOST_PIECES:
        raise ValueError(f"it has {pieces:,} strips or tiles, more than {MOST_PIECES:,}; save it again")
    width, length = (tags.get(tag, (0, 0))[1] for tag in (_TILE_WIDTH, _TILE_LENGTH))
    if width * length > LARGEST_TILE:
        raise ValueError(f"it has tiles of {width} × {length} pixels; save it again with smaller ones")


def _entries(file: IO[bytes], place: int, layout: _Layout) -> Iterator[tuple[int, tuple[int, int]]]:
    """Give each tag of the first directory with its number of values, and the first of them where it is one."""
    (start,) = _unpack(file, layout.start)
    file.seek(place + start)
    (count,) = _unpack(file, layout.number)
    for _ in range(min(count, 1 << 16)):
        tag, kind, values, value = _unpack(file, layout.entry)
        # A short number stands at the beginning of its place.
        width = {3: "H", 4: "L", 16: "Q"}.get(kind)
        first = struct.unpack_from(layout.start[0] + width, value)[0] if width and values == 1 else 0
        yield tag, (values, first)


def _unpack(file: IO[bytes], layout: str) -> tuple[Any, ...]:
    return struct.unpack(layout, file.read(struct.calcsize(layout)))
