"""How much of the machine one image may take; the encoders look at 32 to 1,024 pixels a side."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST_PIXELS = 64_000_000
MOST_PHOTO_PIXELS = 128_000_000  # of one photograph that somebody searches at its own resolution
# Encoders that save progressive JPEGs make about ten scans; every scan costs a pass over the whole image.
MOST_SCANS = 100
MOST_EXIF = 16  # segments of a JPEG; Pillow copies all that came before for each of them
MOST_CLASSES = 1_000_000  # a name is made for each number up to the largest label
_JPEG = b"\xff\xd8\xff"
_LARGE = 16_000_000
_ONE_AT_A_TIME = threading.Lock()


def check_metadata(data: bytes) -> None:
    """Refuse a JPEG whose metadata take longer to read than its pixels, before it is opened."""
    if data[:3] == _JPEG and data.count(b"Exif\0\0") > MOST_EXIF:
        raise ValueError(f"it has more than {MOST_EXIF} segments of EXIF data; save it again")


@contextmanager
def within_limits(size: tuple[int, int], data: bytes, most: int = MOST_PIXELS) -> Iterator[None]:
    """Refuse an image of too many pixels or scans; let large ones pass one at a time.

    ``$COREL_MAX_PIXELS`` replaces the limit `most`.
    """
    pixels, most = size[0] * size[1], _chosen_limit(most)
    if pixels > most:
        raise ValueError(
            f"{size[0]} × {size[1]} pixels are more than {most:,}; make it smaller, or set COREL_MAX_PIXELS"
        )
    # In a JPEG these two bytes begin a scan, and occur nowhere in its coded data.
    if data[:3] == _JPEG and data.count(b"\xff\xda") > MOST_SCANS:
        raise ValueError(f"it has more than {MOST_SCANS} scans; save it again")
    if pixels <= _LARGE:
        yield
        return
    with _ONE_AT_A_TIME:
        yield


def _chosen_limit(otherwise: int) -> int:
    chosen = os.environ.get("COREL_MAX_PIXELS", "")
    return int(chosen) if chosen.isascii() and chosen.isdigit() else otherwise
