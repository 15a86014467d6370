"""What a gallery says about images: a score and a p-value for each class, and the sets that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corel.images import Skipped


@dataclass(frozen=True, eq=False)
class Scores:
    """Images against all classes.

    Attributes:
        images: the n images' names.
        classes: the C classes' names.
        scores: float64 ``[n, C]``, higher is more like the class.
        p_values: float64 ``[n, C]``, conformal: an image of the class has p ≤ a with probability at most a.
        likeness: float64 ``[n, C]``, scores to compare classes by: as if all had as many exemplars as the largest.
        skipped: what could not be read.

    """

    images: Sequence[str]
    classes: tuple[str, ...]
    scores: NDArray[np.float64]
    p_values: NDArray[np.float64]
    likeness: NDArray[np.float64]
    skipped: tuple[Skipped, ...] = ()

    def prediction_sets(self, rate: float) -> list[tuple[str, ...]]:
        """Give the classes that do not reject an image, the likeliest first; an empty set is an answer."""
        from corel.oneclass import prediction_sets

        sets = prediction_sets(self.likeness, self.p_values, rate)
        return [tuple(self.classes[index] for index in each) for each in sets]

    def ranking(self, rate: float) -> NDArray[np.int64]:
        """Order each image's classes ``[n, C]``: its prediction set, then those that reject it, both by likeness."""
        return np.lexsort((-self.p_values, -self.likeness, self.p_values <= rate), axis=1)
