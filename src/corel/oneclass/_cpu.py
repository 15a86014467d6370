"""The kernels over all rows: allocate the results, and share the rows between threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corel._compute.threads import run_chunks
from corel.oneclass import _kernel
from corel.oneclass._kernel import Classes, Doubles, Integers, Points, Ranks, Standing, Window


def combine(masses: Integers, scales: Doubles, logarithmic: bool) -> Doubles:
    """Scores `[n]` from the masses `[B, n]` in the branches."""
    scores = np.empty(masses.shape[1])
    _kernel.combine_columns(masses, scales, logarithmic, scores)
    return scores


def mass(points: Points, columns: Points, window: Window) -> NDArray[np.int64]:
    """The mass of all exemplars around each point, per branch `[n, B]`."""
    masses = np.empty(points.shape[:2], np.int64)
    run_chunks(
        lambda start, stop: _kernel.mass_rows(points, columns, window, start, stop, masses),
        len(points),
        work=_work(points, columns),
    )
    return masses


def mass_peers(points: Points, columns: Points, window: Window) -> NDArray[np.int64]:
    """The mass of the other exemplars of a class around each of them, per branch `[B, m]`."""
    own = window.weights[0] if len(window.weights) else 1  # an exemplar's weight at itself, at distance zero
    return np.ascontiguousarray(mass(points, columns, window).T) - own


def score(points: Points, scales: Doubles, classes: Classes) -> Doubles:
    """Scores `[n, C]` of each point against each class."""
    scores = np.empty((len(points), len(classes.offsets) - 1))

    def rows(start: int, stop: int) -> None:
        if classes.logarithmic:
            _kernel.contrast_rows(points, scales, classes, start, stop, scores)
        else:
            _kernel.count_rows(points, classes, start, stop, scores)

    run_chunks(rows, len(points), work=_work(points, classes.exemplars))
    return scores


def rank(points: Points, scales: Doubles, classes: Classes, standing: Standing) -> Ranks:
    """Each point's rank among the exemplars of each class, once it has joined them."""
    shape = (len(points), len(classes.offsets) - 1)
    ranks = Ranks(np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.int64))
    run_chunks(
        lambda start, stop: _kernel.rank_rows(points, scales, classes, standing, start, stop, ranks),
        len(points),
        work=2 * _work(points, classes.exemplars),
    )
    return ranks


def _work(points: Points, columns: Points) -> float:
    return float(len(points)) * columns.size
