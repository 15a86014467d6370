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
        skipped: what could not be read.

    """

    images: Sequence[str]
    classes: tuple[str, ...]
    scores: NDArray[np.float64]
    p_values: NDArray[np.float64]
    skipped: tuple[Skipped, ...] = ()

    def ranking(self, rate: float) -> NDArray[np.int64]:
        """Order the classes of each image ``[n, C]``: those not rejected at `rate` first, then by score.

        Not by p-value: the largest and the smallest of them tie often.
        """
        return np.lexsort((-self.scores, self.p_values <= rate), axis=1)

    def prediction_sets(self, rate: float) -> list[tuple[str, ...]]:
        """Give the classes that do not reject an image, the likeliest first; an empty set is an answer."""
        sizes = (self.p_values > rate).sum(axis=1)
        ranked = self.ranking(rate)
        return [tuple(self.classes[c] for c in row[:size]) for row, size in zip(ranked, sizes, strict=True)]
