"""A photograph as overlapping square windows of the encoder's size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from corel._errors import ArgumentError

UInt8Array = NDArray[np.uint8]
Box = tuple[int, int, int, int]  # left, top, width, height in pixels of the photograph

ACROSS = 20  # windows side by side along a photograph's longer side, unless their side is given
OVERLAP = 0.75  # of two neighboring windows: each pixel is seen by sixteen


def default_side(photo: UInt8Array, size: int) -> int:
    """Give the side of a window: the encoder's own size, or more where the photograph is large."""
    longest = int(max(photo.shape[:2]))
    return max(size, longest // ACROSS)


@dataclass(frozen=True, eq=False)
class Windows:
    """All windows of one side in one photograph.

    The photograph is scaled so that a window of `side` pixels has the encoder's `size`, one row of windows at a time:
    in memory are the photograph, one such row and one batch.
    """

    photo: UInt8Array
    side: int
    size: int

    @cached_property
    def scaled(self) -> tuple[int, int]:
        """The photograph's height and width where a window has the encoder's size."""
        height, width = (max(self.size, round(length * self.size / self.side)) for length in self.photo.shape[:2])
        return height, width

    @property
    def zoom(self) -> tuple[float, float]:
        """The scaled height and width as shares of the photograph's."""
        return self.scaled[0] / self.photo.shape[0], self.scaled[1] / self.photo.shape[1]

    @cached_property
    def corners(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The tops and lefts of the windows in the scaled photograph; the last ones touch its border."""
        height, width = self.scaled
        return _starts(height, self.size), _starts(width, self.size)

    @property
    def centers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The rows and columns of the photograph's pixels that the windows are centered on."""
        tops, lefts = self.corners
        down, across = self.zoom
        return (tops.astype(np.float64) + self.size / 2) / down, (lefts.astype(np.float64) + self.size / 2) / across

    def __len__(self) -> int:
        tops, lefts = self.corners
        return len(tops) * len(lefts)

    def batches(self, batch_size: int) -> Iterator[UInt8Array]:
        """Give all windows ``[n, size, size, 3]``, row by row, at most `batch_size` at a time."""
        tops, lefts = self.corners
        of_row = lru_cache(1)(lambda row: self._cut(int(tops[row]), 0, self.scaled[1]))
        for start in range(0, len(self), batch_size):
            numbers = range(start, min(start + batch_size, len(self)))
            places = [(number // len(lefts), int(lefts[number % len(lefts)])) for number in numbers]
            yield np.stack([of_row(row)[:, left : left + self.size] for row, left in places])

    def inside(self, box: Box, count: int, generator: np.random.Generator) -> UInt8Array:
        """Draw `count` different windows ``[n, size, size, 3]`` that lie inside a box; fewer where it has no more."""
        (left, top, width, height), (rows, columns) = box, self.zoom
        tops = _places(top * rows, (top + height) * rows, self.size)
        lefts = _places(left * columns, (left + width) * columns, self.size)
        chosen = generator.permutation(len(tops) * len(lefts))[:count]
        places = zip(tops[chosen // len(lefts)].tolist(), lefts[chosen % len(lefts)].tolist(), strict=True)
        return np.stack([self._cut(top, left, self.size) for top, left in places])

    def _cut(self, top: int, left: int, width: int) -> UInt8Array:
        """Give ``[size, width, 3]`` of the scaled photograph, without scaling the rest of it."""
        if self.side == self.size:
            return self.photo[top : top + self.size, left : left + width]
        down, across = self.zoom
        y, x = _reach(top, self.size, down, self.photo.shape[0]), _reach(left, width, across, self.photo.shape[1])
        part = Image.fromarray(np.ascontiguousarray(self.photo[slice(*y), slice(*x)]))
        box = (left / across - x[0], top / down - y[0], (left + width) / across - x[0], (top + self.size) / down - y[0])
        within = (max(0.0, box[0]), max(0.0, box[1]), min(part.width, box[2]), min(part.height, box[3]))
        return np.asarray(part.resize((width, self.size), Image.Resampling.BILINEAR, box=within))


def windows_in(
    photo: UInt8Array, box: Box, count: int, *, size: int, sides: Sequence[int], seed: int = 0
) -> UInt8Array:
    """Draw windows from a box of a photograph, equally many of each side: uint8 ``[count, size, size, 3]``."""
    check_box(photo, box, max(sides))
    if count < len(sides):
        raise ArgumentError("count", f"must be at least {len(sides)}, one for each side of a window, got {count}")
    generator = np.random.default_rng(seed)
    shares = [count // len(sides) + (k < count % len(sides)) for k in range(len(sides))]
    return np.concatenate(
        [Windows(photo, side, size).inside(box, share, generator) for side, share in zip(sides, shares, strict=True)]
    )


def check_box(photo: UInt8Array, box: Box, side: int) -> None:
    """Raise unless the box lies in the photograph and a window lies in the box."""
    (left, top, width, height), (rows, columns) = box, photo.shape[:2]
    if left < 0 or top < 0 or width < 1 or height < 1 or left + width > columns or top + height > rows:
        raise ArgumentError(
            "box",
            f"{left},{top},{width},{height} (left, top, width, height) does not lie in the photograph of "
            f"{columns}×{rows} pixels",
        )
    if min(width, height) < side:
        raise ArgumentError(
            "box",
            f"is {width}×{height} pixels and no window of {side}×{side} fits into it; "
            f"draw a larger box or choose windows of at most {min(width, height)} pixels",
        )


def _reach(start: int, length: int, zoom: float, whole: int) -> tuple[int, int]:
    """The source pixels that a range of the scaled photograph depends on, including the filter's margin."""
    beside = ceil(1 / zoom) + 1
    return max(0, int(start / zoom) - beside), min(whole, ceil((start + length) / zoom) + beside)


def _starts(length: int, size: int) -> NDArray[np.int64]:
    stride = max(1, round(size * (1 - OVERLAP)))
    return np.unique(np.append(np.arange(0, length - size + 1, stride), length - size))


def _places(low: float, high: float, size: int) -> NDArray[np.int64]:
    """Give every start of a window between two borders, at least one."""
    first = int(np.ceil(low - 1e-6))
    return np.arange(first, max(first, int(high + 1e-6) - size) + 1)
