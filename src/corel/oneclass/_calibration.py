"""Is an image of an enrolled class at all, and of which: p-values from how well the exemplars fit among themselves.

Everything here is built on one monotone quantity: the likeness of a point to a class grows with its sum over the
class's exemplars and falls with the number that this sum is divided by. docs/verdicts.md has the proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from corel.oneclass._bank import allowed_rejections
from corel.oneclass._checks import Latents, check_rate
from corel.oneclass._kernel import Doubles, Integers, Points

# Exemplars that calibrate "one of the enrolled classes". Comparing all of 100,000 with each other would take as long
# as scoring 100,000 images, and a random subset keeps the promise: given the others, it is exchangeable with the image.
CALIBRATING = 4096
# Below this size, dividing the image's sum by m instead of m + 1 would cost the prediction set noticeably.
SMALL = 100

Like = Callable[[Doubles, Integers], Doubles]


class Bank(Protocol):
    """What calibration needs from the exemplars of C classes, whatever their score.

    The likeness to a class must never fall when its sum grows, and never rise when its divisor grows.
    """

    @property
    def exemplars(self) -> Points: ...
    @property
    def sizes(self) -> Integers: ...
    def likeness(self, z: Latents, divisors: ArrayLike | None = None) -> Doubles: ...
    def peer_likeness(self, divisors: ArrayLike | None = None) -> Doubles: ...


@dataclass(frozen=True, eq=False)
class Calibration:
    """How like their own classes the exemplars are, each with itself left out.

    Attributes:
        best: per class y `[C, Q]` how like their likeliest class the calibrating exemplars are if an image joins y: the
            sum over y divided by m + 1, those over other classes by m; ascending.
        own: per class its exemplars' likeness to it, sums divided by m; ascending.
        joined: the same, sums divided by m + 1.

    """

    best: Doubles
    own: tuple[Doubles, ...]
    joined: tuple[Doubles, ...]

    @classmethod
    def of(cls, bank: Bank) -> Calibration:
        """Compare the exemplars of a bank with each other."""
        bounds = np.cumsum(bank.sizes)[:-1]
        own, joined = bank.peer_likeness(), bank.peer_likeness(bank.sizes + 1)
        return cls(
            best=np.sort(_best(bank, own, joined), axis=1),
            own=tuple(map(np.sort, np.split(own, bounds))),
            joined=tuple(map(np.sort, np.split(joined, bounds))),
        )

    def known(self, likeness: ArrayLike, joining: ArrayLike | None = None) -> Doubles:
        """P-values `[n]` for "of one of the classes" from the likeness `[n, C]` to each of them.

        An image of an enrolled class has p ≤ a with probability at most a, averaged over enrollments, if known images
        come with the class frequencies of the gallery. `joining` is what `joining_likeness` gives; without it p-values
        are a little higher.
        """
        like = np.asarray(likeness, float)
        joined = like if joining is None else np.asarray(joining, float)
        ranks = np.zeros(len(like), np.int64)
        for y, ascending in enumerate(self.best):
            highest = np.maximum(_best_other(like, y), joined[:, y])
            ranks = np.maximum(ranks, _no_higher(ascending, highest))
        return np.asarray((1.0 + ranks) / (self.best.shape[1] + 1))

    def pooled(self, p_values: ArrayLike, joining: ArrayLike, rate: float) -> Doubles:
        """P-values `[n, C]` in which the classes too small for `rate` share one category.

        A class of m exemplars has no p-value below 1/(m + 1) of its own, so it would be in every prediction set.
        Together the small classes can reject; their coverage holds on average over them.

        Args:
            p_values: of each class by itself `[n, C]`; the large classes keep theirs.
            joining: the image's likeness `[n, C]` to each class that it joins, as `joining_likeness` gives it.
            rate: the share of wrong rejections to allow.

        """
        check_rate(rate)
        result, like = np.array(p_values, float), np.asarray(joining, float)
        # The image is one more of its class: a class that it does not join is small up to one exemplar more.
        pool = [own for own in self.own if allowed_rejections(rate, len(own) - 1) < 1]
        members = np.sort(np.concatenate([*pool, np.empty(0)]))
        for c, own in enumerate(self.own):
            if allowed_rejections(rate, len(own)) < 1 and len(pool) > 1:
                others = _no_higher(members, like[:, c]) - _no_higher(own, like[:, c])
                result[:, c] = (1.0 + others + _no_higher(self.joined[c], like[:, c])) / (len(members) + 1)
        return result


def joining_likeness(bank: Bank, z: Latents, likeness: Doubles) -> Doubles:
    """The likeness `[n, C]` of points to the classes they join: sums divided by m + 1 where a class is small.

    Elsewhere `likeness`, which is a little higher, and keeps the promise for a little larger prediction set.
    """
    small = bank.sizes < SMALL
    if not small.any():
        return likeness
    return np.where(small, bank.likeness(z, bank.sizes + 1), likeness)


def exact_known(peers: Doubles, image: Doubles, mutual: Doubles, sizes: Integers, like: Like) -> float:
    """Compute the p-value of `Calibration.known` in its exact form: slow, and never higher.

    For each class y the image joins y, all M + 1 points are compared by their likeliest class, each with itself left
    out, and p is the largest of the C shares that are no likelier than the image.

    Args:
        peers: sums `[M, C, B]` of each exemplar over each class, itself left out.
        image: sums `[C, B]` of the image.
        mutual: weights `[M, B]` between the image and each exemplar.
        sizes: exemplars per class `[C]`.
        like: gives the likeness `[M + 1, C]` for sums `[M + 1, C, B]`, the image last, divided by counts `[C]`.

    """
    shares = []
    for y in range(len(sizes)):
        sums = np.concatenate([peers, image[None]])
        sums[:-1, y] += mutual
        best = like(sums, sizes + (np.arange(len(sizes)) == y)).max(axis=1)
        shares.append(float(np.mean(best <= best[-1])))
    return max(shares)


def supporting_sizes(rate: float, sizes: Iterable[int]) -> list[int]:
    """How many exemplars decide about each class at this rate: its own, or those of all small classes together."""
    check_rate(rate)
    listed = list(sizes)
    pool = sum(m for m in listed if allowed_rejections(rate, m) < 1)
    return [pool if allowed_rejections(rate, m) < 1 else m for m in listed]


def _best(bank: Bank, own: Doubles, joined: Doubles) -> Doubles:
    """Calibrating exemplars' likeness `[C, Q]` to their likeliest class, if an image far from all joins class y."""
    count, classes = len(own), len(bank.sizes)
    rows = np.arange(count)
    if count > CALIBRATING:
        rows = np.sort(np.random.default_rng(count).choice(count, CALIBRATING, replace=False))
    owner = np.repeat(np.arange(classes), bank.sizes)[rows]
    likeness, grown = (bank.likeness(bank.exemplars[rows], bank.sizes + more) for more in (0, 1))
    likeness[np.arange(len(rows)), owner], grown[np.arange(len(rows)), owner] = own[rows], joined[rows]
    return np.stack([np.maximum(_best_other(likeness, y), grown[:, y]) for y in range(classes)])


def _best_other(likeness: Doubles, y: int) -> Doubles:
    """The highest likeness `[n]` to any class but y."""
    others = np.delete(likeness, y, axis=1)
    return np.asarray(others.max(axis=1, initial=-np.inf))


def _no_higher(ascending: Doubles, values: Doubles) -> Integers:
    return np.searchsorted(ascending, values, side="right")
