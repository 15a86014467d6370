"""Where in a photograph a thing was found: a map of p-values, as a mask, boxes or a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

DIMMED = 0.35  # brightness of what is not the thing
TINT = np.array([255, 196, 0], np.float32)  # along the edge of what is
MARK = (255, 255, 255)


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
        height, width = self.photo.shape[:2]
        across = np.stack([np.interp(np.arange(width) + 0.5, self.columns, row) for row in self.p_values])
        return _interpolated_down(across.astype(np.float32), self.rows, height)

    def mask(self, rate: float = 0.05) -> NDArray[np.bool_]:
        """Say of each pixel ``[h, w]`` whether its p-value is above `rate`."""
        return np.asarray(self.at_pixels() > rate)

    def boxes(self, rate: float = 0.05, least: float = 0.001) -> list[Box]:
        """Give a box around each connected part of the mask, the largest first; `least` is the smallest part shown."""
        from scipy import ndimage

        values = self.at_pixels()
        parts, _ = ndimage.label(values > rate)
        found = []
        for number, (rows, columns) in enumerate(ndimage.find_objects(parts), start=1):
            part = parts[rows, columns] == number
            if part.sum() >= least * parts.size:
                size = (columns.stop - columns.start, rows.stop - rows.start)
                found.append(Box(columns.start, rows.start, *size, float(values[rows, columns][part].max())))
        return sorted(found, key=lambda box: -box.width * box.height)

    def overlay(self, rate: float = 0.05) -> Image.Image:
        """Draw the photograph with everything but the thing dimmed, and the marked box."""
        from scipy import ndimage

        mask = self.mask(rate)
        edge = mask & ~ndimage.binary_erosion(mask, iterations=max(1, max(mask.shape) // 400))
        pixels = self.photo.astype(np.float32)
        pixels[~mask] = pixels[~mask].mean(axis=-1, keepdims=True) * DIMMED
        pixels[edge] = TINT
        picture = Image.fromarray(pixels.astype(np.uint8))
        if self.marked is not None:
            left, top, width, height = self.marked
            thickness = max(2, max(mask.shape) // 250)
            ImageDraw.Draw(picture).rectangle((left, top, left + width - 1, top + height - 1), None, MARK, thickness)
        return picture


def _interpolated_down(values: NDArray[np.float32], rows: NDArray[np.float64], height: int) -> NDArray[np.float32]:
    """Interpolate whole rows between those at `rows` to one for each pixel row."""
    places = np.clip(np.arange(height) + 0.5, rows[0], rows[-1])
    above = np.clip(np.searchsorted(rows, places, side="right") - 1, 0, max(len(rows) - 2, 0))
    below = np.minimum(above + 1, len(rows) - 1)
    gap = np.where(below > above, rows[below] - rows[above], 1.0)
    share = ((places - rows[above]) / gap).astype(np.float32)[:, None]
    result: NDArray[np.float32] = values[above] * (1 - share) + values[below] * share
    return result
