"""Where in a photograph a thing was found: a map of p-values, as a mask, boxes or a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

DIMMED = 0.35  # brightness of what is not the thing
TINT = np.array([255, 196, 0], np.uint8)  # along the edge of what is
MARK = (255, 255, 255)
BAND = 1_000_000  # pixels that are drawn at a time
FINE = 2_000  # pixels along the longer side that boxes are exact to


class Box(NamedTuple):
    """A rectangle in pixels of the photograph, and the largest p-value in it."""

    left: int
    top: int
    width: int
    height: int
    p_value: float


@dataclass(frozen=True, eq=False)
class Found:
    """A map of p-values over one photograph.

    Windows of one photograph overlap, so they are not exchangeable: within the photograph that the examples come from
    the rate is a guide, not a promise.

    Attributes:
        name: the photograph.
        photo: its pixels, uint8 ``[h, w, 3]``.
        p_values: of the windows, float ``[rows, columns]``; with several window sides the largest at each place.
        rows: the pixel rows that the windows are centered on.
        columns: the pixel columns that they are centered on.
        marked: the box that the examples were taken from, if it lies in this photograph.

    """

    name: str
    photo: NDArray[np.uint8]
    p_values: NDArray[np.float64]
    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    marked: tuple[int, int, int, int] | None = None

    def at_pixels(self) -> NDArray[np.float32]:
        """Give the p-value at each pixel ``[h, w]``, interpolated between the centers of the windows."""
        return self._between(0, len(self.photo))

    def mask(self, rate: float = 0.05) -> NDArray[np.bool_]:
        """Say of each pixel ``[h, w]`` whether its p-value is above `rate`."""
        result = np.empty(self.photo.shape[:2], np.bool_)
        for top, bottom in self._bands():
            np.greater(self._between(top, bottom), rate, out=result[top:bottom])
        return result

    def boxes(self, rate: float = 0.05, least: float = 0.001) -> list[Box]:
        """Give a box around each connected part of the mask, the largest first; `least` is the smallest part shown.

        Boxes are exact to a pixel up to 2,000 pixels a side, and to a 2,000th of the longer side above that.
        """
        from scipy import ndimage

        height, width = self.photo.shape[:2]
        step = ceil(max(height, width) / FINE)
        values = np.concatenate([self._between(row, row + 1) for row in range(0, height, step)])[:, ::step]
        parts, _ = ndimage.label(values > rate)
        found = []
        for number, (rows, columns) in enumerate(ndimage.find_objects(parts), start=1):
            part = parts[rows, columns] == number
            if part.sum() >= least * parts.size:
                left, top = columns.start * step, rows.start * step
                size = (min(columns.stop * step, width) - left, min(rows.stop * step, height) - top)
                found.append(Box(left, top, *size, float(values[rows, columns][part].max())))
        return sorted(found, key=lambda box: -box.width * box.height)

    def overlay(self, rate: float = 0.05) -> Image.Image:
        """Draw the photograph with everything but the thing dimmed, and the marked box."""
        height, width = self.photo.shape[:2]
        picture, edge = Image.new("RGB", (width, height)), max(1, max(height, width) // 400)
        for top, bottom in self._bands():
            picture.paste(Image.fromarray(self._drawn(top, bottom, rate, edge)), (0, top))
        if self.marked is not None:
            left, top, across, down = self.marked
            thickness = max(2, max(height, width) // 250)
            ImageDraw.Draw(picture).rectangle((left, top, left + across - 1, top + down - 1), None, MARK, thickness)
        return picture

    def _drawn(self, top: int, bottom: int, rate: float, edge: int) -> NDArray[np.uint8]:
        """Draw some rows of the overlay; the edge of the thing is drawn `edge` pixels wide."""
        from scipy import ndimage

        first, last = max(0, top - edge), min(len(self.photo), bottom + edge)
        mask = self._between(first, last) > rate
        own = slice(top - first, bottom - first)
        inner = ndimage.binary_erosion(mask, iterations=edge)[own]
        mask = mask[own]
        pixels: NDArray[np.uint8] = self.photo[top:bottom].copy()
        pixels[~mask] = (pixels[~mask].mean(axis=-1, keepdims=True) * DIMMED).astype(np.uint8)
        pixels[mask & ~inner] = TINT
        return pixels

    def _bands(self) -> Iterator[tuple[int, int]]:
        """Cut the photograph into bands of rows, so that drawing a large one takes little memory."""
        height, width = self.photo.shape[:2]
        rows = max(1, BAND // width)
        return ((top, min(top + rows, height)) for top in range(0, height, rows))

    def _between(self, top: int, bottom: int) -> NDArray[np.float32]:
        """Interpolate the p-values of the pixel rows from `top` to `bottom`."""
        places = np.arange(self.photo.shape[1]) + 0.5
        down = _interpolated_down(self.p_values, self.rows, np.arange(top, bottom, dtype=np.float64) + 0.5)
        return np.stack([np.interp(places, self.columns, row) for row in down]).astype(np.float32)


def _interpolated_down(
    values: NDArray[np.float64], rows: NDArray[np.float64], wanted: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Interpolate whole rows between those at `rows` to those at `wanted`."""
    places = np.clip(wanted, rows[0], rows[-1])
    above = np.clip(np.searchsorted(rows, places, side="right") - 1, 0, max(len(rows) - 2, 0))
    below = np.minimum(above + 1, len(rows) - 1)
    gap = np.where(below > above, rows[below] - rows[above], 1.0)
    share = ((places - rows[above]) / gap)[:, None]
    result: NDArray[np.float64] = values[above] * (1 - share) + values[below] * share
    return result
