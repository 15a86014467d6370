"""Weighing exemplars by their L1 distance on the CPU, many classes at once, with no array of all distances.

Points are `[n, B, D]`, exemplars `[B, D, M]` so that the innermost loops run over neighboring exemplars, and class
`c` owns the columns ``offsets[c]:offsets[c + 1]``. A distance is the sum over coordinates in their order, a weight is
an integer: both are symmetric, and the same to the last bit whatever the batching.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corel._compute.jit import jit, subkernel

Points = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]
Doubles = NDArray[np.float64]
Real = np.floating[Any]  # in the type of the points it is compared with

ROWS = 64  # points compared with the same exemplars while these stay in the cache
WIDTH = 1024  # exemplars compared at a time, of as many classes as fit
COUNTED = 640  # the same for the count: with their distances they stay in the first-level cache
FACTORS = 16  # factors multiplied before their logarithm is taken: one logarithm instead of 16, and far from overflow


class Window(NamedTuple):
    """The weight of an exemplar by its distance.

    It is 1 within `radius`, or ``weights[distance·steps]``, the last of the weights for all larger distances. Where
    unit vectors are compared, the distance is `largest` minus their product.
    """

    radius: Real
    steps: Real
    weights: Integers
    largest: Real


class Classes(NamedTuple):
    """Exemplars `[B, D, M]`, the bounds of their classes, how they weigh, and whether logarithms are summed."""

    exemplars: Points
    offsets: Integers
    window: Window
    logarithmic: bool


class Standing(NamedTuple):
    """The mass of the other exemplars of its class around each exemplar, and its scale, both `[B, M]`."""

    masses: Integers
    scales: Doubles


class Ranks(NamedTuple):
    """Scores `[n, C]`, and how many exemplars of the class score below the point, and the same, once it has joined."""

    scores: Doubles
    below: Integers
    tied: Integers

    def rows(self, chosen: slice) -> Ranks:
        """The part of some points, to be filled in place."""
        return Ranks(self.scores[chosen], self.below[chosen], self.tied[chosen])


@subkernel
def _distances(point: Points, exemplars: Points, first: int, last: int, out: Points) -> None:
    """L1 distances of `point [D]` to the columns ``first:last`` of `exemplars [D, M]`, five coordinates a pass."""
    size, dim = last - first, len(point)
    fives = dim - dim % 5
    out[:size] = 0
    for d in range(0, fives, 5):
        x0, x1, x2, x3, x4 = point[d], point[d + 1], point[d + 2], point[d + 3], point[d + 4]
        e0, e1, e2 = exemplars[d, first:last], exemplars[d + 1, first:last], exemplars[d + 2, first:last]
        e3, e4 = exemplars[d + 3, first:last], exemplars[d + 4, first:last]
        for i in range(size):
            near = ((out[i] + abs(x0 - e0[i])) + abs(x1 - e1[i])) + abs(x2 - e2[i])
            out[i] = (near + abs(x3 - e3[i])) + abs(x4 - e4[i])
    for d in range(fives, dim):
        x0, e0 = point[d], exemplars[d, first:last]
        for i in range(size):
            out[i] += abs(x0 - e0[i])


@subkernel
def _weigh(distances: Points, size: int, window: Window, out: Integers) -> None:
    """Fill `out` with the weight of each exemplar."""
    if len(window.weights) == 0:
        for i in range(size):
            out[i] = distances[i] <= window.radius
    else:
        last = distances.dtype.type(len(window.weights) - 1)
        for i in range(size):
            step = distances[i] * window.steps
            out[i] = np.int32(step if step < last else last)
        for i in range(size):  # a second loop over unsigned integers: otherwise numba vectorizes neither
            out[i] = window.weights[np.uint32(out[i])]


@subkernel
def _sum(weights: Integers, first: int, last: int) -> np.int64:
    total = np.int64(0)
    for weight in weights[first:last]:
        total += weight
    return total


@subkernel
def _group_end(offsets: Integers, c: int) -> int:
    """The class after the last that is met together with class `c`."""
    end = c + 1
    while end < len(offsets) - 1 and offsets[end + 1] - offsets[c] <= WIDTH:
        end += 1
    return end


# A score is Σ_j c_j of the masses c_j of its branches, or Σ_j log(1 + c_j·s_j), taken FACTORS branches at a time.
@subkernel
def _start(logarithmic: bool) -> float:
    return 1.0 if logarithmic else 0.0


@subkernel
def _add(partial: float, mass: np.integer[Any], scale: float, logarithmic: bool) -> float:
    return partial * (1.0 + float(mass) * scale) if logarithmic else partial + float(mass)


@subkernel
def _close(partial: float, logarithmic: bool) -> float:
    return math.log(partial) if logarithmic else partial


@jit
def combine_columns(masses: Integers, scales: Doubles, logarithmic: bool, scores: Doubles) -> None:
    """``scores[i]`` from the masses `[B, n]` of its branches."""
    branches = len(masses)
    for i in range(masses.shape[1]):
        scores[i], partial = 0.0, _start(logarithmic)
        for j in range(branches):
            partial = _add(partial, masses[j, i], scales[j, i], logarithmic)
            if (j + 1) % FACTORS == 0 or j + 1 == branches:
                scores[i] += _close(partial, logarithmic)
                partial = _start(logarithmic)


@jit
def mass_rows(points: Points, exemplars: Points, window: Window, start: int, stop: int, masses: Integers) -> None:
    """``masses[t, j]``: the mass of all exemplars around point `t` in branch `j`."""
    branches, _, size = exemplars.shape
    distances, weights = np.empty(size, points.dtype), np.empty(size, np.int32)
    for block in range(start, stop, ROWS):
        for j in range(branches):
            for t in range(block, min(stop, block + ROWS)):
                _distances(points[t, j], exemplars[j], 0, size, distances)
                _weigh(distances, size, window, weights)
                masses[t, j] = _sum(weights, 0, size)


@jit
def count_rows(points: Points, classes: Classes, start: int, stop: int, scores: Doubles) -> None:
    """``scores[t, c]``: how many exemplars of class `c` lie in the balls around point `t`, over all branches (Eq. 6).

    Hits add up over the branches before they add up over the class: one sum of a class's exemplars, not one a branch.
    """
    exemplars, offsets, window, _ = classes
    branches, _, size = exemplars.shape
    distances, hits = np.empty(COUNTED, points.dtype), np.empty((ROWS, COUNTED), np.int32)
    scores[start:stop] = 0
    for block in range(start, stop, ROWS):
        for first in range(0, size, COUNTED):
            last = min(size, first + COUNTED)
            hits[:] = 0
            for j in range(branches):
                for t in range(block, min(stop, block + ROWS)):
                    _distances(points[t, j], exemplars[j], first, last, distances)
                    hit = hits[t - block]
                    for i in range(last - first):
                        hit[i] += distances[i] <= window.radius
            c = np.searchsorted(offsets, first, side="right") - 1
            while c < len(offsets) - 1 and offsets[c] < last:
                low, high = max(offsets[c], first) - first, min(offsets[c + 1], last) - first
                for t in range(block, min(stop, block + ROWS)):
                    scores[t, c] += _sum(hits[t - block], low, high)
                c += 1


@jit
def contrast_rows(points: Points, scales: Doubles, classes: Classes, start: int, stop: int, scores: Doubles) -> None:
    """``scores[t, c]``: the score of point `t` against the exemplars of class `c`, from logarithms of weights."""
    exemplars, offsets, window, _ = classes
    branches, _, size = exemplars.shape
    distances, weights = np.empty(size, points.dtype), np.empty(size, np.int32)
    partial = np.empty((ROWS, len(offsets) - 1))
    scores[start:stop] = 0
    for block in range(start, stop, ROWS):
        partial[:] = _start(True)
        for j in range(branches):
            group = 0
            while group < len(offsets) - 1:
                end = _group_end(offsets, group)
                first, last = offsets[group], offsets[end]
                for t in range(block, min(stop, block + ROWS)):
                    _distances(points[t, j], exemplars[j], first, last, distances)
                    _weigh(distances, last - first, window, weights)
                    for c in range(group, end):
                        mass = _sum(weights, offsets[c] - first, offsets[c + 1] - first)
                        partial[t - block, c] = _add(partial[t - block, c], mass, scales[t, j], True)
                group = end
            if (j + 1) % FACTORS == 0 or j + 1 == branches:
                for t in range(block, min(stop, block + ROWS)):
                    for c in range(len(offsets) - 1):
                        scores[t, c] += _close(partial[t - block, c], True)
                partial[:] = _start(True)


@jit
def rank_rows(
    points: Points, scales: Doubles, classes: Classes, standing: Standing, start: int, stop: int, ranks: Ranks
) -> None:
    """Let each point join each class, and count the exemplars that then score below it, or the same.

    Around an exemplar the point adds its weight to the mass of the others. The weight is the same in both directions.
    """
    exemplars, offsets, window, logarithmic = classes
    branches, _, size = exemplars.shape
    distances, weights = np.empty(size, points.dtype), np.empty(size, np.int32)
    partial, raised = np.empty(size), np.empty(size)
    turns = len(offsets) - 1
    for turn in range((stop - start + ROWS - 1) // ROWS * turns):  # one class after another for a block of points
        block, c = start + turn // turns * ROWS, turn % turns
        first, last = offsets[c], offsets[c + 1]
        for t in range(block, min(stop, block + ROWS)):
            score, own = 0.0, _start(logarithmic)
            raised[: last - first], partial[: last - first] = 0.0, _start(logarithmic)
            for j in range(branches):
                _distances(points[t, j], exemplars[j], first, last, distances)
                _weigh(distances, last - first, window, weights)
                own = _add(own, _sum(weights, 0, last - first), scales[t, j], logarithmic)
                others, factors = standing.masses[j, first:last], standing.scales[j, first:last]
                for i in range(last - first):
                    partial[i] = _add(partial[i], others[i] + weights[i], factors[i], logarithmic)
                if (j + 1) % FACTORS == 0 or j + 1 == branches:
                    score, own = score + _close(own, logarithmic), _start(logarithmic)
                    for i in range(last - first):
                        raised[i] += _close(partial[i], logarithmic)
                        partial[i] = _start(logarithmic)
            ranks.scores[t, c] = score
            ranks.below[t, c], ranks.tied[t, c] = _compare(raised, last - first, score)


@subkernel
def _compare(values: Doubles, size: int, score: float) -> tuple[int, int]:
    below, tied = 0, 0
    for i in range(size):
        below += values[i] < score
        tied += values[i] == score
    return below, tied
