"""Why a point got its score: the exemplars in its balls, branch by branch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corel.oneclass._kernel import Doubles, Integers, Points, Real


class Explanation(NamedTuple):
    """Why one point got its score from one class.

    Attributes:
        counts: Exemplars inside the ball of each branch `[B]`.
        background_rates: Share of the background inside the same balls `[B]`, or None without a background.
        neighbours: Per branch the exemplars inside the ball, nearest first.
        distances: Per branch how far these are.
        parts: What each branch adds to the score `[B]`.

    """

    counts: Integers
    background_rates: Doubles | None
    neighbours: tuple[Integers, ...]
    distances: tuple[Doubles, ...]
    parts: Doubles


def explain_points(
    points: Points, bag: Points, radius: float, parts: Doubles, shares: Doubles | None
) -> list[Explanation]:
    """Explain points `[n, B, D]` against the exemplars `[m, B, D]` of one class, given the parts of their scores."""
    limit = bag.dtype.type(radius)
    rates = [None] * len(points) if shares is None else shares
    return [_explain(_distances(point, bag), limit, *rest) for point, *rest in zip(points, parts, rates, strict=True)]


def _explain(distances: Points, radius: Real, parts: Doubles, rates: Doubles | None) -> Explanation:
    inside = [_nearest_first(column, radius) for column in distances.T]
    return Explanation(
        counts=np.array([len(near) for near in inside], np.int64),
        background_rates=rates,
        neighbours=tuple(inside),
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
