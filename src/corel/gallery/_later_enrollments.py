"""An exact permutation test: do exemplars that were enrolled later look like the earlier ones?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from corel.gallery._exemplar import Exemplar

if TYPE_CHECKING:
    from corel.oneclass import ClassBank

PERMUTATIONS = 999
FEWEST = 5  # exemplars on either side; fewer tell nothing
MOST = 1000  # exemplars that are compared with each other
LATEST = 10  # enrollments of a class that are tested


@dataclass(frozen=True)
class Later:
    """An enrollment into a class that held exemplars already.

    Attributes:
        name: the class.
        enrolled: when.
        count: how many exemplars came then.
        earlier: how many were there before.
        p_value: for "both are draws of the same images". It is exact: were that true, p ≤ a would have a probability
            of at most a, for one enrollment; with many, some small ones are to be expected.

    """

    name: str
    enrolled: str
    count: int
    earlier: int
    p_value: float


def compare_enrollments(bank: ClassBank, index: int, exemplars: Sequence[Exemplar]) -> list[Later]:
    """Test the last enrollments of a class, each against all before it."""
    first = int(bank.offsets[index])
    starts = list(_starts(exemplars))
    found = []
    for start, end in list(zip(starts, [*starts[1:], len(exemplars)], strict=True))[1:][-LATEST:]:
        votes, labels = _sampled(bank, index, start, end, first)
        each = exemplars[start]
        found.append(Later(each.name, each.enrolled, end - start, start, _permutation_p_value(votes, labels)))
    return found


def _starts(exemplars: Sequence[Exemplar]) -> Iterator[int]:
    """Where enrollments begin; one that is too small to be tested counts with the one before it."""
    begun, seen = 0, 0
    for _, group in groupby(exemplars, key=lambda each: each.enrolled):
        count = len(list(group))
        if not seen or min(count, seen - begun) >= FEWEST:
            begun = seen
            yield begun
        seen += count


def _sampled(
    bank: ClassBank, index: int, start: int, end: int, first: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """What exemplars up to `end` add to each other's score, and which of them came from `start` on."""
    rows = np.arange(end)
    if end > MOST:
        rows = np.sort(np.random.default_rng(end).choice(end, MOST, replace=False))
    votes = bank.votes(bank.exemplars[first + rows], index)[:, rows]
    return votes, rows >= start


def _permutation_p_value(votes: NDArray[np.float64], later: NDArray[np.bool_]) -> float:
    """Test whether votes within the two sides exceed votes between them by more than for random divisions."""
    mutual = votes + votes.T
    np.fill_diagonal(mutual, 0.0)
    rng = np.random.default_rng(len(later))
    labels = np.stack([later, *(rng.permutation(later) for _ in range(PERMUTATIONS))], axis=1).astype(float)
    count, size = float(later.sum()), len(later)
    if min(count, size - count) < 2:
        return 1.0
    inside = ((mutual @ labels) * labels).sum(axis=0)
    between = mutual.sum(axis=1) @ labels - inside
    outside = mutual.sum() - inside - 2 * between
    rest = size - count
    apart = inside / (count * (count - 1)) + outside / (rest * (rest - 1)) - 2 * between / (count * rest)
    return float(np.mean(apart >= apart[0] - 1e-12 * np.abs(apart).max()))
