"""The counting kernels over all rows: allocate what they fill and share the rows between threads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corel._threads import run_chunks
from corel.oneclass import _kernel
from corel.oneclass._kernel import Doubles, Integers, Points


class Ranks(NamedTuple):
    """Scores `[n, C]` and, with each point in each bag, how many exemplars score below it and how many the same."""

    scores: Doubles
    below: Integers
    tied: Integers


def count(points: Points, columns: Points, radius: float) -> NDArray[np.int64]:
    """Exemplars within `radius` of each point and branch `[n, B]`, all classes together."""
    counts = np.empty(points.shape[:2], np.int64)
    run_chunks(
        lambda start, stop: _kernel.count_rows(points, columns, points.dtype.type(radius), start, stop, counts),
        len(points),
        work=_work(points, columns),
    )
    return counts


def count_peers(points: Points, columns: Points, offsets: Integers, radius: float) -> NDArray[np.int64]:
    """Other exemplars of the same class within `radius` of each exemplar and branch `[M, B]`."""
    counts = np.empty(points.shape[:2], np.int64)
    run_chunks(
        lambda start, stop: _kernel.count_peers(
            points, columns, offsets, points.dtype.type(radius), start, stop, counts
        ),
        len(offsets) - 1,
        work=_work(points, columns) / max(1, len(offsets) - 1),
    )
    return counts


def score(
    points: Points, columns: Points, offsets: Integers, radius: float, weights: Doubles, logarithmic: bool
) -> Doubles:
    """Scores `[n, C]` of each point against each class."""
    scores = np.empty((len(points), len(offsets) - 1))
    run_chunks(
        lambda start, stop: _kernel.score_rows(
            points, columns, offsets, points.dtype.type(radius), weights, logarithmic, start, stop, scores
        ),
        len(points),
        work=_work(points, columns),
    )
    return scores


def rank(
    points: Points,
    columns: Points,
    offsets: Integers,
    radius: float,
    weights: Doubles,
    logarithmic: bool,
    apart: Doubles,
    joined: Doubles,
) -> Ranks:
    """Each point's rank among the exemplars of each class, once it has joined them."""
    shape = (len(points), len(offsets) - 1)
    ranks = Ranks(np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.int64))
    limit = points.dtype.type(radius)
    run_chunks(
        lambda start, stop: _kernel.rank_rows(
            points, columns, offsets, limit, weights, logarithmic, apart, joined, start, stop, *ranks
        ),
        len(points),
        work=2 * _work(points, columns),
    )
    return ranks


def _work(points: Points, columns: Points) -> float:
    return float(len(points)) * columns.size
