"""An image beside a class: what each exemplar adds to their likeness, and how like the class its members are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from corel.gallery._exemplar import Exemplar
from corel.gallery._verdicts import Verdict

if TYPE_CHECKING:
    from corel.gallery._scores import Scores
    from corel.oneclass import ClassBank


@dataclass(frozen=True, eq=False)
class Comparison:
    """An item against one class, in units of the score: a bar of the picture is a sum of votes.

    Attributes:
        name: the class.
        exemplars: the exemplars of the class.
        votes: float64 ``[m]``, what each exemplar adds to the likeness of the item; none is below zero.
        members: float64 ``[m]``, what all other exemplars together add to the likeness of each exemplar.
        p_value: for "of this class", as it decides whether the class is in the prediction set.
        role: "the likeliest" class, "the runner-up", the one "asked about", or "named by the verdict" where the
            likeliest is "ruled out".
        shared: whether the class is too small for the rate, so that members of all small classes count for `p_value`.

    """

    name: str
    exemplars: list[Exemplar]
    votes: NDArray[np.float64]
    members: NDArray[np.float64]
    p_value: float
    role: str = "asked about"
    shared: bool = False

    @property
    def total(self) -> float:
        """What all exemplars add together: the likeness above that of an item with nothing in common."""
        return float(self.votes.sum())

    @property
    def typical(self) -> float:
        """The total of a median member of the class."""
        return float(np.median(self.members))

    def voters(self, count: int) -> list[tuple[Exemplar, float]]:
        """Give the exemplars that vote most, each with its share of the total."""
        order = np.argsort(-self.votes, kind="stable")[:count].tolist()
        return [(self.exemplars[i], float(self.votes[i] / self.total)) for i in order if self.votes[i] > 0]


def compared_classes(scores: Scores, verdict: Verdict, name: str | None) -> dict[int, str]:
    """Number the classes to show, with their roles: the one asked about or the verdict's first, and the next."""
    likeliest, *others = np.argsort(-scores.likeness[0], kind="stable").tolist()
    asked = scores.classes.index(verdict.best if name is None else name)
    if asked == likeliest:
        return {likeliest: "the likeliest", **dict.fromkeys(others[:1], "the runner-up")}
    # Members of the likeliest class may fit so well that it rules the image out, and the next class does not.
    ruled_out = bool(verdict.classes) and not verdict.enrolled and verdict.likeliest not in verdict.classes
    role = "named by the verdict" if scores.classes[asked] == verdict.best else "asked about"
    return {asked: role, likeliest: "the likeliest, ruled out" if ruled_out else "the likeliest"}


def compare(
    bank: ClassBank,
    row: NDArray[np.float32],
    index: int,
    exemplars: Sequence[Exemplar],
    p_value: float,
    role: str,
    *,
    shared: bool = False,
) -> Comparison:
    """Compare an item, whose compared row is ``[1, ...]``, with class `index` of a bank."""
    (votes,) = bank.votes(row, index)
    # A member is compared with one exemplar fewer than a new item, so its sum is divided by one fewer.
    members = bank.peer_likeness(bank.sizes - 1)[slice(*bank.offsets[index : index + 2])] - bank.least_likeness
    return Comparison(exemplars[0].name, list(exemplars), votes, members, p_value, role, shared)


def in_words(verdict: Verdict, comparisons: Sequence[Comparison], rate: float) -> list[str]:
    """Say the verdict, what decided, and for each class how the item compares with its members."""
    sides = [
        f"{each.name}: at most {_share(each.p_value)} of {_members(each)} fit as badly"
        f"{', so it is ruled out' if each.p_value <= rate and not verdict.enrolled else ''}."
        for each in comparisons
    ]
    return [_heading(verdict), _reason(verdict, rate), *sides]


def _heading(verdict: Verdict) -> str:
    text = f"known: {verdict}" if verdict.verdict == "known" else str(verdict)
    return text[0].upper() + text[1:]


def _reason(verdict: Verdict, rate: float) -> str:
    if verdict.enrolled:
        return "It is an exemplar itself, so these numbers say nothing."
    if verdict.verdict == "not a photograph":
        return "It is blank, flat, noise, or far too dark or bright. The classes had no say."
    share, limit = _share(verdict.p_value), _percent(rate)
    return f"Of all exemplars, at most {share} fit as badly; for a stranger it is {limit} or less."


def _members(side: Comparison) -> str:
    return "the members of all small classes" if side.shared else "its members"


def _share(p_value: float) -> str:
    """Round up to two digits: "at most" stays true, and what exceeds a rate of two digits is shown to exceed it."""
    step = 10.0 ** (math.floor(math.log10(p_value)) - 1)
    return _percent(math.ceil(p_value / step - 1e-9) * step)


def _percent(share: float) -> str:
    return f"{round(100 * share, 9):g}%"
