"""Exemplars that may not belong: those that fit badly, copies, and enrollments that differ from earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from corel.gallery._duplicates import Duplicate, near_duplicates
from corel.gallery._exemplar import Exemplar
from corel.gallery._kept import Kept
from corel.gallery._later_enrollments import Later, compare_enrollments

if TYPE_CHECKING:
    from corel.oneclass import ClassBank

MAD_TO_DEVIATION = 1.4826  # a normal distribution's deviation in median absolute deviations
ODD_DEVIATIONS = 3.0


@dataclass(frozen=True, eq=False)
class Ranked:
    """An exemplar and how well the rest of its class explains it.

    Attributes:
        exemplar: the exemplar.
        position: its place in its class; 1 fits worst. `Gallery.forget` takes it.
        score: its score by the other exemplars of its class.
        gap: how many deviations below the median of its class the score is; the deviation is 1.4826·MAD.

    """

    exemplar: Exemplar
    position: int
    score: float
    gap: float

    @property
    def odd(self) -> bool:
        """Whether the score is far below what is usual in the class; a rule of thumb, not a significance test."""
        return self.gap > ODD_DEVIATIONS


@dataclass(frozen=True, eq=False)
class Fit(Ranked):
    """An exemplar compared with its class, the other classes and the background.

    Attributes:
        likelier: the class that it is most like, if that is not its own; else None.
        background: whether it is more like the background than like its own class.

    """

    likelier: str | None
    background: bool


@dataclass(frozen=True, eq=False)
class Audit:
    """What may not belong in a class, or in any class of a gallery.

    Attributes:
        fits: all exemplars, the largest gap first.
        duplicates: pairs of exemplars that show nearly the same picture.
        later: enrollments compared with what the class held before them.

    """

    fits: list[Fit]
    duplicates: list[Duplicate]
    later: list[Later]


def audit_classes(kept: Kept, exemplars: Sequence[list[Exemplar]], chosen: Sequence[int]) -> Audit:
    """Audit the classes of these numbers, given the exemplars of all classes."""
    fits = [each for c in chosen for each in _fits(kept, c, exemplars[c])]
    fits.sort(key=lambda each: (-each.gap, each.exemplar.name, each.position))
    later = [each for c in chosen for each in compare_enrollments(kept.bank, c, exemplars[c])]
    names = {kept.names[c] for c in chosen}
    everything = [each for some in exemplars for each in some]
    return Audit(fits, near_duplicates(everything, kept.bank.exemplars, names), later)


def ranked(exemplars: Sequence[Exemplar], scores: NDArray[np.float64]) -> list[Ranked]:
    """Give a class's exemplars, the lowest score first."""
    gaps = _gaps(scores)
    return [
        Ranked(exemplars[i], place, float(scores[i]), float(gaps[i]))
        for place, i in enumerate(np.argsort(scores, kind="stable").tolist(), start=1)
    ]


def _fits(kept: Kept, index: int, exemplars: Sequence[Exemplar]) -> list[Fit]:
    """Compare a class's exemplars, the lowest score first, with all classes too."""
    bank, rows = kept.bank, slice(*kept.bank.offsets[index : index + 2])
    scores, likeness = bank.leave_one_out()[rows], _likeness(bank, index)
    best, order = likeness.argmax(axis=1), np.argsort(scores, kind="stable").tolist()
    # Both scores with a background are logarithms of ratios to it: below zero, the background is likelier.
    return [
        Fit(**vars(each), likelier=None if best[i] == index else kept.names[best[i]],
            background=bool(likeness[i, index] < 0))
        for i, each in zip(order, ranked(exemplars, scores), strict=True)
    ]  # fmt: skip


def _likeness(bank: ClassBank, index: int) -> NDArray[np.float64]:
    """Compare the exemplars of one class with all classes ``[m, C]``, themselves left out."""
    rows = slice(*bank.offsets[index : index + 2])
    likeness = bank.likeness(bank.exemplars[rows])
    likeness[:, index] = bank.peer_likeness(bank.sizes - 1)[rows]
    return likeness


def _gaps(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Deviations below the median; where more than half of the scores are equal, any other is infinitely far."""
    below = np.median(scores) - scores
    deviation = MAD_TO_DEVIATION * float(np.median(np.abs(below)))
    if deviation > 0:
        return np.asarray(below / deviation)
    return np.where(below == 0, 0.0, np.copysign(np.inf, below))
