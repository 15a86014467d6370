"""Counting exemplars in L1 balls on the CPU, many classes at once; distances are never stored beyond one class's row.

Points are `[n, B, D]`, exemplars `[B, D, M]` so that the innermost loops run over neighbouring exemplars, and class
`c` owns the columns ``offsets[c]:offsets[c + 1]``. Each distance is a sum over coordinates in their order, which makes
it the same to the last bit whatever the batching, and symmetric in its two points.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel._jit import jit, subkernel

Points = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]
Doubles = NDArray[np.float64]
Real = np.floating[Any]  # a radius, in the type of the points it is compared with

ROWS = 64  # points that share a class's exemplars while these stay in the first-level cache


@subkernel
def term(count: np.integer[Any], weight: float, logarithmic: bool) -> float:
    """What one branch adds to a score: its count, or the logarithm of the smoothed ratio of rates."""
    return math.log1p(count * weight) if logarithmic else float(count)


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
def _count(distances: Points, size: int, radius: Real) -> np.int32:
    inside = np.int32(0)
    for i in range(size):
        inside += np.int32(distances[i] <= radius)
    return inside


@jit
def count_rows(points: Points, exemplars: Points, radius: Real, start: int, stop: int, counts: Integers) -> None:
    """``counts[t, j]``: how many of all exemplars lie within `radius` of point `t` in branch `j`."""
    branches, _, size = exemplars.shape
    distances = np.empty(size, points.dtype)
    for block in range(start, stop, ROWS):
        for j in range(branches):
            for t in range(block, min(stop, block + ROWS)):
                _distances(points[t, j], exemplars[j], 0, size, distances)
                counts[t, j] = _count(distances, size, radius)


@jit
def count_peers(
    points: Points, exemplars: Points, offsets: Integers, radius: Real, start: int, stop: int, counts: Integers
) -> None:
    """``counts[i, j]``: how many other exemplars of its own class lie within `radius` of exemplar `i`."""
    distances = np.empty(exemplars.shape[2], points.dtype)
    for c in range(start, stop):
        first, last = offsets[c], offsets[c + 1]
        for j in range(exemplars.shape[0]):
            for i in range(first, last):
                _distances(points[i, j], exemplars[j], first, last, distances)
                counts[i, j] = _count(distances, last - first, radius) - 1


@jit
def score_rows(
    points: Points,
    exemplars: Points,
    offsets: Integers,
    radius: Real,
    weights: Doubles,
    logarithmic: bool,
    start: int,
    stop: int,
    scores: Doubles,
) -> None:
    """``scores[t, c]``: the sum over branches of `term` of the count of class `c` around point `t`."""
    distances = np.empty(exemplars.shape[2], points.dtype)
    scores[start:stop] = 0
    for block in range(start, stop, ROWS):
        for j in range(exemplars.shape[0]):
            for c in range(len(offsets) - 1):
                first, last = offsets[c], offsets[c + 1]
                for t in range(block, min(stop, block + ROWS)):
                    _distances(points[t, j], exemplars[j], first, last, distances)
                    inside = _count(distances, last - first, radius)
                    scores[t, c] += term(inside, weights[t, j], logarithmic)


@jit
def rank_rows(
    points: Points,
    exemplars: Points,
    offsets: Integers,
    radius: Real,
    weights: Doubles,
    logarithmic: bool,
    apart: Doubles,
    joined: Doubles,
    start: int,
    stop: int,
    scores: Doubles,
    below: Integers,
    tied: Integers,
) -> None:
    """Put each point in each class's bag and count the exemplars that then score below it, or the same.

    ``apart[j, i]`` is what branch `j` adds to the leave-one-out score of exemplar `i`, ``joined[j, i]`` what it adds
    with one more neighbour: the point itself, where it lies within `radius` of the exemplar.
    """
    size = exemplars.shape[2]
    distances, raised = np.empty(size, points.dtype), np.empty(size, np.float64)
    for t in range(start, stop):
        for c in range(len(offsets) - 1):
            first, last = offsets[c], offsets[c + 1]
            score = 0.0
            raised[: last - first] = 0
            for j in range(exemplars.shape[0]):
                _distances(points[t, j], exemplars[j], first, last, distances)
                score += term(_count(distances, last - first, radius), weights[t, j], logarithmic)
                alone, together = apart[j, first:last], joined[j, first:last]
                for i in range(last - first):
                    raised[i] += together[i] if distances[i] <= radius else alone[i]
            scores[t, c] = score
            below[t, c], tied[t, c] = _compare(raised, last - first, score)


@subkernel
def _compare(values: Doubles, size: int, score: float) -> tuple[int, int]:
    below, tied = 0, 0
    for i in range(size):
        below += values[i] < score
        tied += values[i] == score
    return below, tied


@jit
def branch_terms(counts: Integers, weights: Doubles, logarithmic: bool, out: Doubles) -> None:
    """`term` of every count `[n, B]`, evaluated by the same code as in the other kernels so that equals stay equal."""
    for t in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            out[t, j] = term(counts[t, j], weights[t, j], logarithmic)
