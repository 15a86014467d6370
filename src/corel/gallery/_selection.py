"""Which of many images are strangers, and what that selection promises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corel._terminal import counted
from corel.images import Skipped


@dataclass(frozen=True, eq=False)
class Selection:
    """Images that were selected as strangers among many.

    Attributes:
        images: the names of all n images.
        p_values: float64 ``[n]``, split-conformal, for "of one of the enrolled classes"; 1 for exemplars.
        selected: bool ``[n]``.
        fdr: the false discovery rate: the expected share of wrong ones among those selected, at most.
        calibrating: how many exemplars calibrated.
        skipped: what could not be read.

    """

    images: Sequence[str]
    p_values: NDArray[np.float64]
    selected: NDArray[np.bool_]
    fdr: float
    calibrating: int
    skipped: tuple[Skipped, ...] = ()

    @property
    def ranked(self) -> list[int]:
        """The places of the images that were selected, those with the lowest p-values first."""
        order = np.argsort(self.p_values, kind="stable")
        return [int(i) for i in order[self.selected[order]]]

    @property
    def strangers(self) -> list[str]:
        """Their names."""
        return [self.images[i] for i in self.ranked]

    def __str__(self) -> str:
        if not self.selected.any():
            return self._why_nothing()
        chosen, images = int(self.selected.sum()), counted(len(self.images), "image")
        return f"{chosen:,} of {images} selected; on average at most {self.fdr:.1%} of a selection is wrong"

    def _why_nothing(self) -> str:
        """Say how many images would have to stand out, and how many exemplars would be enough for these images."""
        from corel.oneclass import least_discoveries

        images, lowest = len(self.images), int((self.p_values * (self.calibrating + 1) < 1.5).sum())
        least = least_discoveries(images, self.fdr, self.calibrating)
        are = "is" if least == 1 else "are"
        takes = f"{least:,} {are} needed" if least <= images else f"even all {images:,} would be too few"
        enough = 2 * math.ceil(images / (self.fdr * max(lowest, 1)) - 1)
        fit = "fits" if lowest == 1 else "fit"
        few = f"{lowest:,} such images are" if lowest > 1 else "1 such image is"
        return (
            f"nothing can be selected: {lowest:,} of {counted(images, 'image')} {fit} worse than all "
            f"{self.calibrating:,} exemplars that calibrate, and {takes}; enroll {enough:,} exemplars, half of which "
            f"calibrate: then {few} enough"
        )
