"""Is an image of an enrolled class at all, and of which: p-values from how well the exemplars fit among themselves.

Everything here is built on one monotone quantity: the likeness of a point to a class, which grows with its sum over the
other members of the class and falls with the number that this sum is divided by. docs/verdicts.md has the proofs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corel.oneclass._bank import allowed_rejections
from corel.oneclass._checks import Latents, check_rate
from corel.oneclass._kernel import Doubles, Integers, Points

# Exemplars that calibrate "one of the enrolled classes". Comparing all of 100,000 with each other would take as long
# as scoring 100,000 images, and a random subset keeps the promise: given the others, it is exchangeable with the image.
CALIBRATING = 4096


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
        best: how like their likeliest class the calibrating exemplars are, ascending `[Q]`. An image may join any
            class, which lowers a few of these numbers; the k-th here is the lowest k-th of all C choices.
        own: per class its exemplars' likeness to it, sums divided by m − 1, the number of others; ascending.
        joined: the same after an image far from all has joined: sums divided by m.

    """

    best: Doubles
    own: tuple[Doubles, ...]
    joined: tuple[Doubles, ...]

    @classmethod
    def of(cls, bank: Bank) -> Calibration:
        """Compare the exemplars of a bank with each other."""
        bounds = np.cumsum(bank.sizes)[:-1]
        own, joined = bank.peer_likeness(bank.sizes - 1), bank.peer_likeness(bank.sizes)
        return cls(
            best=np.sort(_best(bank, own, joined), axis=1).min(axis=0),
            own=tuple(map(np.sort, np.split(own, bounds))),
            joined=tuple(map(np.sort, np.split(joined, bounds))),
        )

    def known(self, likeness: ArrayLike) -> Doubles:
        """P-values `[n]` for "of one of the classes" from the likeness `[n, C]` to each of them.

        An image of an enrolled class has p ≤ a with probability at most a, averaged over enrollments, if known images
        come with the class frequencies of the gallery.
        """
        ranks = _no_higher(self.best, np.asarray(likeness, float).max(axis=1))
        return np.asarray((1.0 + ranks) / (len(self.best) + 1))

    def pooled(self, p_values: ArrayLike, likeness: ArrayLike, rate: float) -> Doubles:
        """P-values `[n, C]` in which the classes too small for `rate` share one category.

        A class of m exemplars has no p-value below 1/(m + 1) of its own, so it would be in every prediction set.
        Together the small classes can reject; their coverage holds on average over them.

        Args:
            p_values: of each class by itself `[n, C]`; the large classes keep theirs.
            likeness: of the image to each class `[n, C]`.
            rate: the share of wrong rejections to allow.

        """
        result, like = np.array(p_values, float), np.asarray(likeness, float)
        members = np.sort(np.concatenate([*self._pool(rate), np.empty(0)]))
        for c in np.flatnonzero(self.sharing(rate)).tolist():
            others = _no_higher(members, like[:, c]) - _no_higher(self.own[c], like[:, c])
            result[:, c] = (1.0 + others + _no_higher(self.joined[c], like[:, c])) / (len(members) + 1)
        return result

    def sharing(self, rate: float) -> NDArray[np.bool_]:
        """Tell which classes `[C]` are too small for `rate` and share one category with others."""
        together = len(self._pool(rate)) > 1
        return np.array([together and allowed_rejections(rate, len(own)) < 1 for own in self.own], bool)

    def _pool(self, rate: float) -> list[Doubles]:
        """Give the classes that share a category with the one that an image joins."""
        check_rate(rate)
        # The image is one more of its class: a class that it does not join is small up to one exemplar more.
        return [own for own in self.own if allowed_rejections(rate, len(own) - 1) < 1]


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
    place = np.arange(len(rows)), np.repeat(np.arange(classes), bank.sizes)[rows]
    likeness, grown = (bank.likeness(bank.exemplars[rows], bank.sizes + more) for more in (0, 1))
    likeness[place], grown[place] = own[rows], joined[rows]
    # The likeliest class but y is the likeliest, or the second likeliest where y is the likeliest.
    each = np.arange(len(rows))
    likeliest = likeness.argmax(axis=1)
    first = likeness[each, likeliest]
    likeness[each, likeliest] = -np.inf
    other = np.where(likeliest == np.arange(classes)[:, None], likeness.max(axis=1), first)
    return np.asarray(np.maximum(other, grown.T))


def _no_higher(ascending: Doubles, values: Doubles) -> Integers:
    return np.searchsorted(ascending, values, side="right")
