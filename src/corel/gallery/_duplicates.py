"""Exemplars that show nearly the same picture: saved again, scaled, brightened or slightly cropped."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corel.gallery._exemplar import Exemplar
from corel.gallery._items import decoded_thumbnail

SIDE = 16  # pixels at which thumbnails are compared: a crop by a few percent moves nothing by a whole one
# Two pictures are nearly the same if one minus their correlation is at most FAR, and at most 1/NEARER of the usual
# distance to the NEIGHBOR-th nearest picture: clothes on black are all alike, and only much closer ones are copies.
FAR, NEARER, NEIGHBOR = 0.05, 8, 5
CELLS = 1 << 23  # correlations held at once


@dataclass(frozen=True, eq=False)
class Duplicate:
    """Two exemplars that show nearly the same; `likeness` is the correlation of their thumbnails."""

    one: Exemplar
    other: Exemplar
    likeness: float


def near_duplicates(exemplars: Sequence[Exemplar], rows: NDArray[np.float32], names: Container[str]) -> list[Duplicate]:
    """Find pairs with at least one in the classes `names`, most alike first; vectors are compared by their `rows`."""
    units = _units(exemplars, rows)
    limit = min(FAR, _usual_distance(units) / NEARER)
    pairs = [
        Duplicate(exemplars[i], exemplars[j], likeness)
        for i, j, likeness in _alike(units, 1 - limit)
        if exemplars[i].name in names or exemplars[j].name in names
    ]
    return sorted(pairs, key=lambda each: -each.likeness)


def _units(exemplars: Sequence[Exemplar], rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give centered vectors of length one, whose products are correlations; a flat one correlates with nothing."""
    pictures = [decoded_thumbnail(each.thumbnail, (SIDE, SIDE)) for each in exemplars]
    blank = np.zeros((SIDE, SIDE, 3), np.uint8)
    if any(each is not None for each in pictures):
        values = np.stack([blank if each is None else each for each in pictures]).reshape(len(exemplars), -1)
        centered = values - values.mean(axis=1, keepdims=True)
    else:
        centered = rows - rows.mean(axis=0)
    lengths = np.linalg.norm(centered, axis=1, keepdims=True)
    return np.asarray(np.divide(centered, lengths, where=lengths > 0, out=np.zeros_like(centered)), np.float32)


def _usual_distance(units: NDArray[np.float32]) -> float:
    """Give the median distance from a sample of exemplars to their fifth nearest neighbor, or the farthest there is."""
    sample = np.random.default_rng(len(units)).permutation(len(units))[:1000]
    neighbor = min(NEIGHBOR, len(units) - 1)
    distances = np.partition(1 - units[sample] @ units.T, neighbor, axis=1)[:, neighbor]  # the nearest is itself
    return float(np.median(distances))


def _alike(units: NDArray[np.float32], least: float) -> Iterator[tuple[int, int, float]]:
    """Give the pairs i < j whose correlation reaches the threshold."""
    step = max(1, CELLS // max(1, len(units)))
    for start in range(0, len(units), step):
        products = units[start : start + step] @ units[start:].T
        for i, j in np.argwhere(products >= least).tolist():
            if i < j:
                yield start + i, start + j, float(products[i, j])
