"""Weighing exemplars by their cosine on the CPU: matrix products in blocks, then kernels over their rows.

An exemplar weighs exp(cos/τ), and the score is that of one branch of the contrast: with c the mass of the class's m
exemplars around a point, and q the mean weight of the background there,

    log( (c + s·q) / ((m + s)·q) ) = log(1 + c/(s·q)) + log(s/(m + s)).

Without s this is log mean exp(cos/τ) over the exemplars minus the same over the background. The s pseudo-exemplars,
spread like the background, change no order of points within a class; they let classes of different sizes be compared,
and give an empty one a score.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from corel._compute.blas import one_thread_products
from corel._compute.jit import jit, subkernel
from corel._compute.threads import run_chunks
from corel.oneclass._kernel import Classes, Doubles, Integers, Points, Ranks, Standing, Window
from corel.oneclass._whitening import LARGEST

TEMPERATURE = 0.1  # τ
PRIOR = 1.0  # s

UNIT = 1 << 30  # the largest weight; weights are integers, so that their sums know no order
RESOLUTION = 128  # steps per temperature at which the exponential is tabulated
CELLS = 1 << 21  # products that a thread holds at once: 8 MB


def window(length: int) -> Window:
    """The weights of unit vectors of this length, by the largest product that there can be minus theirs."""
    steps = RESOLUTION / (TEMPERATURE * length**2)
    return Window(np.float32(0), np.float32(steps), _table(int(2 * LARGEST * steps) + 2), np.float32(LARGEST))


def scales(background_masses: Integers, background_size: int) -> Doubles:
    """1/(s·q) per unit of mass."""
    result: Doubles = background_size / (PRIOR * np.maximum(background_masses, 1))
    return result


def constant(sizes: Integers) -> Doubles:
    """log(s/(m + s)): what smoothing adds to the score of any point from a class of m exemplars."""
    result: Doubles = np.log(PRIOR / (sizes + PRIOR))
    return result


def mass(points: Points, columns: Points, window: Window) -> NDArray[np.int64]:
    """As `_cpu.mass`, of unit vectors `[n, 1, F]`."""
    masses = np.empty((len(points), 1), np.int64)
    _over_products(points, columns, lambda rows, products: _mass_rows(products, window, masses[rows]))
    return masses


def mass_peers(points: Points, columns: Points, window: Window) -> NDArray[np.int64]:
    """As `_cpu.mass_peers`."""
    masses = np.empty((1, len(points)), np.int64)
    _over_products(points, columns, lambda rows, products: _peer_rows(products, window, rows.start, masses[0, rows]))
    return masses


def score(points: Points, scales: Doubles, classes: Classes) -> Doubles:
    """As `_cpu.score`."""
    scores = np.empty((len(points), len(classes.offsets) - 1))
    _over_products(
        points, classes.exemplars, lambda rows, products: _score_rows(products, scales[rows], classes, scores[rows])
    )
    return scores


def rank(points: Points, scales: Doubles, classes: Classes, standing: Standing) -> Ranks:
    """As `_cpu.rank`."""
    shape = (len(points), len(classes.offsets) - 1)
    ranks = Ranks(np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.int64))
    others = Standing(standing.masses[0].astype(np.float64), standing.scales[0])
    _over_products(
        points,
        classes.exemplars,
        lambda rows, products: _rank_rows(products, scales[rows], classes, others, ranks.rows(rows)),
    )
    return ranks


def _over_products(points: Points, columns: Points, kernel: Callable[[slice, NDArray[np.float32]], None]) -> None:
    """Multiply points with the exemplars, and give a kernel the products `[rows, M]` of some rows at a time."""
    features, count = columns.shape[1:]
    step = max(16, CELLS // max(1, count))

    def some(start: int, stop: int) -> None:
        held = np.empty((min(step, stop - start), count), np.float32)
        for first in range(start, stop, step):
            rows = slice(first, min(first + step, stop))
            kernel(rows, np.matmul(points[rows, 0], columns[0], out=held[: rows.stop - first]))

    with one_thread_products():
        run_chunks(some, len(points), work=(2 + features / 16) * len(points) * count)


@cache
def _table(entries: int) -> Integers:
    weights: Integers = np.rint(UNIT * np.exp(np.arange(entries) / -RESOLUTION)).astype(np.int32)
    return weights


@subkernel
def _weigh(products: Points, window: Window, out: Integers) -> None:
    """Fill `out` with the weight of each exemplar."""
    for i in range(len(products)):
        out[i] = np.int32((window.largest - products[i]) * window.steps)
    for i in range(len(products)):  # apart from the loop above, and unsigned: only so do both become vector code
        out[i] = window.weights[np.uint32(out[i])]


@subkernel
def _sum(weights: Integers) -> np.int64:
    total = np.int64(0)
    for weight in weights:
        total += weight
    return total


@jit
def _mass_rows(products: Points, window: Window, masses: Integers) -> None:
    weights = np.empty(products.shape[1], np.int32)
    for t in range(len(products)):
        _weigh(products[t], window, weights)
        masses[t, 0] = _sum(weights)


@jit
def _peer_rows(products: Points, window: Window, first: int, masses: Integers) -> None:
    """``masses[t]``: the mass around exemplar ``first + t`` of all others."""
    weights = np.empty(products.shape[1], np.int32)
    for t in range(len(products)):
        _weigh(products[t], window, weights)
        masses[t] = _sum(weights) - weights[first + t]


@jit
def _score_rows(products: Points, scales: Doubles, classes: Classes, scores: Doubles) -> None:
    offsets, weights = classes.offsets, np.empty(products.shape[1], np.int32)
    for t in range(len(products)):
        _weigh(products[t], classes.window, weights)
        for c in range(len(offsets) - 1):
            scores[t, c] = math.log(1.0 + float(_sum(weights[offsets[c] : offsets[c + 1]])) * scales[t, 0])


@jit
def _rank_rows(products: Points, scales: Doubles, classes: Classes, others: Standing, ranks: Ranks) -> None:
    """Let each point join each class, and count the exemplars that then score below it, or the same.

    Scaled masses are compared; the scores are their logarithms. Masses are integers that doubles hold exactly.
    """
    offsets, weights = classes.offsets, np.empty(products.shape[1], np.int32)
    for t in range(len(products)):
        _weigh(products[t], classes.window, weights)
        for c in range(len(offsets) - 1):
            first, last = offsets[c], offsets[c + 1]
            own = float(_sum(weights[first:last])) * scales[t, 0]
            below, tied = 0, 0
            for i in range(first, last):
                raised = (others.masses[i] + weights[i]) * others.scales[i]
                below += raised < own
                tied += raised == own
            ranks.scores[t, c] = math.log(1.0 + own)
            ranks.below[t, c], ranks.tied[t, c] = below, tied
