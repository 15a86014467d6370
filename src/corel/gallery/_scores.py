"""What a gallery says about images: a score and a p-value for each class, and the sets that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from corel.gallery._assessment import assess
from corel.gallery._selection import Selection
from corel.gallery._verdicts import Verdict, answer
from corel.images import Skipped

if TYPE_CHECKING:
    from corel.oneclass import Calibration, ClassBank


Booleans: TypeAlias = NDArray[np.bool_]


class HeldOut(NamedTuple):
    """Images by a split of the exemplars: some score, the others are held out to calibrate.

    Attributes:
        scores: float64 ``[n]``, how like its likeliest class each image is, by the scoring exemplars.
        calibration: float64 ``[q]``, the same of the exemplars that were held out; ascending.

    """

    scores: NDArray[np.float64]
    calibration: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scores:
    """Images against all classes.

    Attributes:
        images: the n images' names.
        classes: the C classes' names.
        scores: float64 ``[n, C]``, higher is more like the class.
        p_values: float64 ``[n, C]``, conformal: an image of the class has p ≤ a with probability at most a.
        likeness: float64 ``[n, C]``, scores to compare classes by: as if all classes had the average size.
        calibration: how the exemplars themselves fit, each with itself left out.
        skipped: what could not be read.
        enrolled: per image the classes that hold this very image.
        photographic: bool ``[n]``, False for blank, flat and noise frames; None where that was not asked.
        held_out: the images by a split of the exemplars; None where that was not asked.

    """

    images: Sequence[str]
    classes: tuple[str, ...]
    scores: NDArray[np.float64]
    p_values: NDArray[np.float64]
    likeness: NDArray[np.float64]
    calibration: Calibration
    skipped: tuple[Skipped, ...] = ()
    enrolled: Sequence[tuple[str, ...]] = ()
    photographic: Booleans | None = None
    held_out: HeldOut | None = None

    @classmethod
    def of(cls, bank: ClassBank, calibration: Calibration, rows: Any, **about: Any) -> Scores:
        """Compare rows, as the bank's method takes them, with its classes; `about` are the fields about the images."""
        return cls(**assess(bank, rows, {})._asdict(), calibration=calibration, **about)

    @classmethod
    def joined(cls, parts: Sequence[Scores]) -> Scores:
        """Put the scores of several batches against the same classes one after the other."""
        photographic = [part.photographic for part in parts if part.photographic is not None]
        held = [part.held_out for part in parts if part.held_out is not None]
        return replace(
            parts[0],
            images=[name for part in parts for name in part.images],
            scores=np.concatenate([part.scores for part in parts]),
            p_values=np.concatenate([part.p_values for part in parts]),
            likeness=np.concatenate([part.likeness for part in parts]),
            skipped=tuple(each for part in parts for each in part.skipped),
            enrolled=[each for part in parts for each in part.enrolled],
            photographic=np.concatenate(photographic) if photographic else None,
            held_out=held[0]._replace(scores=np.concatenate([each.scores for each in held])) if held else None,
        )

    @cached_property
    def known(self) -> NDArray[np.float64]:
        """P-values ``[n]`` for "of one of the enrolled classes": a small one says stranger.

        An image of an enrolled class has p ≤ a with probability at most a, averaged over enrollments, if known images
        come with the class frequencies of the gallery. Where a split was asked for, they are the split's.
        """
        if self.held_out is None:
            return self.calibration.known(self.likeness)
        from corel.oneclass import split_p_values

        return split_p_values(self.held_out.calibration, self.held_out.scores)

    def decide(self, rate: float = 0.05, confidence: float | None = None) -> list[Verdict]:
        """Give a verdict on each image: known, unsure, stranger, or not a photograph.

        An exemplar is of the classes that hold it, whatever its p-values.
        Among images of the enrolled classes, at most the share `rate` is called stranger, and the classes of a
        verdict hold the true one at least with probability 1 − 2·rate. In addition, at most 1% of real images is
        called "not a photograph", as measured on eight sets. The share of strangers is averaged over enrollments. With
        a `confidence`, which needs a split, it is at most `rate` for this very gallery, with that probability.
        """
        limit = rate if confidence is None else self._limit(rate, confidence)
        return [self._verdict(i, allowed, limit) for i, allowed in enumerate(self.prediction_sets(rate))]

    def select(self, fdr: float = 0.1) -> Selection:
        """Select strangers so that at most the share `fdr` of those selected is of enrolled classes, on average.

        An exemplar is never selected, whatever its p-value: its class is known.
        """
        from corel.oneclass import discoveries

        count = len(self._split.calibration)
        p_values = np.where(self._holding.any(axis=1), 1.0, self.known)
        return Selection(self.images, p_values, discoveries(p_values, fdr), fdr, count, self.skipped)

    @property
    def _split(self) -> HeldOut:
        if self.held_out is None:
            raise ValueError("this needs exemplars that only calibrate; score with held_out=59 or more")
        return self.held_out

    def _limit(self, rate: float, confidence: float) -> float:
        from corel.oneclass import strict_limit

        return strict_limit(rate, confidence, len(self._split.calibration))

    def prediction_sets(self, rate: float) -> list[tuple[str, ...]]:
        """Give the classes that do not reject an image, the likeliest first; an empty set is an answer.

        Classes too small for the rate share one category: coverage is averaged over them.
        """
        from corel.oneclass import prediction_sets

        sets = prediction_sets(self.likeness, self.set_p_values(rate), rate)
        return [tuple(self.classes[index] for index in each) for each in sets]

    def set_p_values(self, rate: float) -> NDArray[np.float64]:
        """P-values ``[n, C]`` that decide the prediction sets: classes too small for the rate share one category."""
        return self.calibration.pooled(self.p_values, self.likeness, rate)

    def ranking(self, rate: float) -> NDArray[np.int64]:
        """Order each image's classes ``[n, C]``: those that hold it, its prediction set, the others."""
        p_values = self.set_p_values(rate)
        return np.lexsort((-p_values, -self.likeness, p_values <= rate, ~self._holding), axis=1)

    @cached_property
    def _holding(self) -> Booleans:
        """Tell which classes ``[n, C]`` hold each very image."""
        found = np.zeros(self.likeness.shape, bool)
        for i, names in enumerate(self.enrolled):
            found[i] = [name in names for name in self.classes] if names else False
        return found

    def _verdict(self, i: int, allowed: tuple[str, ...], limit: float) -> Verdict:
        p_value, likeliest = float(self.known[i]), self.classes[int(self.likeness[i].argmax())]
        enrolled = self.enrolled[i] if len(self.enrolled) else ()
        if self._holding[i].any():  # what it is was said; p-values are for new images
            allowed = tuple(self.classes[c] for c in np.argsort(-self.likeness[i]) if self._holding[i, c])
            limit = 0.0
        blank = self.photographic is not None and not self.photographic[i]
        verdict = "not a photograph" if blank else answer(p_value, allowed, limit)
        named = allowed if verdict in ("known", "unsure") else ()
        return Verdict(self.images[i], verdict, named, likeliest, p_value, enrolled)
