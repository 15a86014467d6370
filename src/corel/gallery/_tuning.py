"""The effect of a rate on images whose answer is known: p-values of members and of strangers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corel._errors import ArgumentError
from corel.gallery._scores import Scores
from corel.images import Skipped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Doubles = NDArray[np.float64]
CONFIDENCE = 0.95  # shown beside the rates themselves


class Shares(NamedTuple):
    """What a rate does to the images given: the shares of members and of strangers that are called strangers."""

    members: float
    strangers: float


class Known(NamedTuple):
    """P-values for "of one of the enrolled classes": verdicts' own, and those of a split."""

    verdict: Doubles
    split: Doubles


@dataclass(frozen=True, eq=False)
class Tuning:
    """Members of the enrolled classes and strangers, and how the gallery tells them apart.

    Attributes:
        members: p-values of images of the enrolled classes; those that are exemplars themselves are left out.
        strangers: p-values of other images.
        calibrating: how many exemplars calibrate in the split.
        enrolled: how many members were left out.
        skipped: what could not be read.

    """

    members: Known
    strangers: Known
    calibrating: int
    enrolled: int = 0
    skipped: tuple[Skipped, ...] = ()

    @classmethod
    def of(cls, members: Scores, strangers: Scores) -> Tuning:
        """Compare images that were scored with exemplars held out."""
        new = np.array([not each for each in members.enrolled], bool)
        if not new.any():
            raise ArgumentError("members", "are all enrolled already; give images that are no exemplars")
        known = Known(*(each[new] for each in _known(members)))
        calibrating = 0 if members.held_out is None else len(members.held_out.calibration)
        skipped = (*members.skipped, *strangers.skipped)
        return cls(known, _known(strangers), calibrating, int((~new).sum()), skipped)

    def at(self, rate: float) -> Shares:
        """Give what verdicts at this rate do to these images."""
        return Shares(float((self.members.verdict <= rate).mean()), float((self.strangers.verdict <= rate).mean()))

    def confident(self, rate: float, confidence: float = CONFIDENCE) -> Shares | None:
        """Give what the rate does with a confidence; None where too few exemplars calibrate for it."""
        from corel.oneclass import least_calibrating, strict_limit

        if self.calibrating < least_calibrating(rate, confidence):
            return None
        limit = strict_limit(rate, confidence, self.calibrating)
        return Shares(float((self.members.split <= limit).mean()), float((self.strangers.split <= limit).mean()))

    def rate_for(self, stop: float) -> float:
        """Give the lowest rate at which verdicts stop this share of the strangers."""
        if not 0 < stop <= 1:
            raise ArgumentError("stop", f"must lie above 0 and be at most 1, not {stop}")
        ascending = np.sort(self.strangers.verdict)
        return float(ascending[math.ceil(stop * len(ascending) - 1e-9) - 1])

    def draw(self) -> Figure:
        """Draw the p-values of both, and the shares called stranger against the rate."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        both = {"members": (self.members.verdict, "tab:blue"), "strangers": (self.strangers.verdict, "tab:red")}
        for name, (p, color) in both.items():
            label = f"{len(p):,} {name}"
            left.hist(
                p, np.linspace(0, 1, 21), weights=np.full(len(p), 1 / len(p)), alpha=0.5, color=color, label=label
            )
            right.step([0, *np.sort(p), 1], [0, *np.arange(1, len(p) + 1) / len(p), 1], where="post", color=color)
        right.plot([0, 1], [0, 1], color="gray", linestyle=":", label="members, at most on average")
        left.set(xlabel="p-value", ylabel="share of images")
        right.set(xlabel="rate", ylabel="share called stranger", xlim=(0, 1), ylim=(0, 1))
        for axes in (left, right):
            axes.legend(frameon=False)
        return figure


def _known(scores: Scores) -> Known:
    return Known(replace(scores, held_out=None).known, scores.known)
