"""Why a point got its score: the exemplars in its balls, branch by branch, or those that are like it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corel._errors import warn_renamed
from corel.oneclass._kernel import Doubles, Integers, Points, Real, Window


class Votes(NamedTuple):
    """Why one point got its score from one class.

    The cosine score has one branch. Its neighbors are the exemplars that weigh more than the background does on
    average, and their distances are 1 − cosine.

    Attributes:
        counts: Exemplars inside the ball of each branch `[B]`.
        background_rates: Share of the background inside the same balls `[B]`, or None without a background.
        neighbors: Per branch the exemplars inside the ball, nearest first.
        distances: Per branch how far these are.
        parts: What each branch adds to the score `[B]`.

    """

    counts: Integers
    background_rates: Doubles | None
    neighbors: tuple[Integers, ...]
    distances: tuple[Doubles, ...]
    parts: Doubles

    @property
    def neighbours(self) -> tuple[Integers, ...]:
        """The old spelling of `neighbors`."""
        warn_renamed("neighbours", "neighbors")
        return self.neighbors


def explain_balls(points: Points, bag: Points, radius: float, parts: Doubles, shares: Doubles | None) -> list[Votes]:
    """Explain points `[n, B, D]` against the exemplars `[m, B, D]` of one class, given the parts of their scores."""
    limit = bag.dtype.type(radius)
    rates = [None] * len(points) if shares is None else shares
    return [_explain(_distances(point, bag), limit, *rest) for point, *rest in zip(points, parts, rates, strict=True)]


def explain_cosines(
    points: Points, bag: Points, background: Points, window: Window, parts: Doubles, length: int
) -> list[Votes]:
    """Explain unit vectors `[n, 1, F]` from the exemplars `[1, F, m]` of a class and the background `[1, F, G]`."""
    near, around = (points[:, 0] @ columns[0] for columns in (bag, background))
    weights = window.weights[((window.largest - around) * window.steps).astype(np.int64)]
    # The smallest product at which an exemplar's weight exceeds the background's mean weight.
    heavier = np.searchsorted(-window.weights, -weights.mean(axis=1), side="left")
    limits = [float(window.largest) - steps / float(window.steps) for steps in heavier]
    return [
        _explain((1 - row / length**2)[:, None], 1 - limit / length**2, part, np.mean(others > limit, keepdims=True))
        for row, limit, part, others in zip(near, limits, parts, around, strict=True)
    ]


def divided(weights: Integers, scales: Doubles, *, logarithmic: bool) -> Doubles:
    """Divide each branch's part of the score between the exemplars `[m]`, by their weights `[m, B]`."""
    masses = weights.sum(axis=0)
    parts = masses * scales
    return np.asarray(weights @ ((np.log1p(parts) if logarithmic else parts) / np.maximum(masses, 1)))


def _explain(distances: Points, radius: Real, parts: Doubles, rates: Doubles | None) -> Votes:
    inside = [_nearest_first(column, radius) for column in distances.T]
    return Votes(
        counts=np.array([len(near) for near in inside], np.int64),
        background_rates=rates,
        neighbors=tuple(inside),
        distances=tuple(column[near].astype(np.float64) for column, near in zip(distances.T, inside, strict=True)),
        parts=parts,
    )


def _nearest_first(distances: Points, radius: Real) -> Integers:
    order = np.argsort(distances, kind="stable")
    return order[distances[order] <= radius]


def _distances(point: Points, bag: Points) -> Points:
    """L1 distances `[m, B]`, summed over coordinates in their order as the kernels sum them."""
    total = np.zeros(bag.shape[:2], bag.dtype)
    for d in range(bag.shape[2]):
        total += np.abs(point[:, d] - bag[:, :, d])
    return total
