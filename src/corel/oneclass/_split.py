"""Some exemplars score, the others calibrate: p-values with guarantees for one gallery, not for the average gallery.

The scoring part is fixed before any image is seen, so all images are ranked among the same calibration scores. Vovk
(2012) gives the share of images that one such gallery rejects, Bates et al. (2023) the false discovery rate among many.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from corel._errors import ArgumentError
from corel.oneclass._bank import ClassBank
from corel.oneclass._checks import Latents, Seed, Ties, check_rate, check_ties
from corel.oneclass._kernel import Doubles, Points

MOST = 10_000  # exemplars that calibrate a confidence: more would tell no more, and each is scored first


@dataclass(frozen=True, eq=False)
class Split:
    """Exemplars in two parts: one scores points, the other says which scores are usual.

    Attributes:
        bank: The classes, with their scoring exemplars only.
        calibration: The calibrating exemplars' scores `[n]`, ascending.

    Example:
        >>> bank = ClassBank.of([[[0.0], [1.0], [2.0], [3.0]]], branches=1, radius=1.0)
        >>> split = Split.of(bank, hashes=["a", "b", "c", "d"], calibrating=2)
        >>> split.p_values([[1.0], [90.0]]).tolist()
        [1.0, 0.3333333333333333]

    """

    bank: ClassBank
    calibration: Doubles

    @classmethod
    def of(
        cls, bank: ClassBank, hashes: Sequence[str] | None = None, calibrating: int | None = None, seed: int = 0
    ) -> Split:
        """Split a bank by its exemplars' hashes, in whatever order they were enrolled.

        Args:
            bank: All classes.
            hashes: A name for each exemplar's content; default: its row, equal rows numbered. Exemplars with one
                hash, such as an image in two classes, stay together and calibrate as one: a copy on the other side
                would make a calibration score too high.
            calibrating: How many exemplars calibrate; default: half of them.
            seed: Another seed gives another split.

        """
        named = _row_names(bank.exemplars) if hashes is None else list(hashes)
        contents, first, content = np.unique(named, return_index=True, return_inverse=True)
        count = len(contents) // 2 if calibrating is None else calibrating
        if not 0 < count < len(contents):
            raise ArgumentError(
                "calibrating",
                f"is {count} of {len(contents)} different exemplars, which leaves one side without any; enroll more",
            )
        chosen = np.argsort([_digest(each, seed) for each in contents])[:count]
        kept = _only(bank, ~np.isin(content, chosen))
        return cls(kept, np.sort(_best(kept, bank.exemplars[first[chosen]])))

    def scores(self, z: Latents) -> Doubles:
        """How like its likeliest class each point is `[n]`, by the scoring exemplars."""
        return _best(self.bank, z)

    def p_values(self, z: Latents, ties: Ties = "conservative", seed: Seed = None) -> Doubles:
        """Split-conformal p-values `[n]` for "of one of the classes", as `split_p_values` gives them."""
        return split_p_values(self.calibration, self.scores(z), ties, seed)


def split_p_values(
    calibration: ArrayLike, scores: ArrayLike, ties: Ties = "conservative", seed: Seed = None
) -> Doubles:
    """The share of {calibration scores, the point's own} that is no higher than the point's: one p-value a score.

    `ties="random"` counts a uniform share of the ties, drawn from `seed` in the order of the scores.
    """
    check_ties(ties)
    ascending, values = np.sort(np.asarray(calibration, float)), np.asarray(scores, float)
    below, through = (np.searchsorted(ascending, values, side=side) for side in ("left", "right"))
    tied = through - below + 1.0  # the point ties with itself
    if ties == "random":
        tied *= np.random.default_rng(seed).random(tied.shape)
    return np.asarray((below + tied) / (len(ascending) + 1))


def strict_limit(rate: float, confidence: float, calibrating: int) -> float:
    """Where to reject, p ≤ limit, so that *this* split rejects at most `rate` of its classes with this confidence.

    The k-th smallest of n calibration scores has a share Beta(k, n + 1 − k) of the classes below it. The limit is
    k/(n + 1) for the largest k with P(Beta(k, n + 1 − k) ≤ rate) ≥ confidence (Vovk 2012).

    Example:
        >>> strict_limit(rate=0.05, confidence=0.95, calibrating=59) == 1 / 60
        True

    """
    check_confidence(rate, confidence, calibrating)
    k = np.arange(1, calibrating + 1)
    return int((betainc(k, calibrating + 1 - k, rate) >= confidence - 1e-12).sum()) / (calibrating + 1)


def calibrating_size(total: int, rate: float, confidence: float) -> int:
    """How many of `total` exemplars should calibrate: half of them, or as many as the confidence needs."""
    check_confidence(rate, confidence, total - 1)
    return max(min(total // 2, MOST), least_calibrating(rate, confidence))


def least_calibrating(rate: float, confidence: float) -> int:
    """The fewest exemplars that can calibrate: all n lie above the rate's quantile with probability (1 − rate)^n."""
    return math.ceil(math.log1p(-confidence) / math.log1p(-rate) - 1e-9)


def check_confidence(rate: float, confidence: float, calibrating: int) -> None:
    """Refuse a confidence that so many calibrating exemplars cannot give."""
    check_rate(rate)
    if not 0 < confidence < 1:
        raise ArgumentError("confidence", f"must lie strictly between 0 and 1, not {confidence}")
    least = least_calibrating(rate, confidence)
    if calibrating < least:
        possible = math.ceil(1000 - 1000 * (1 - confidence) ** (1 / max(calibrating, 1))) / 1000
        raise ArgumentError(
            "confidence",
            f"of {confidence:g} in a rate of {rate:g} needs at least {least:,} exemplars that calibrate, beside those "
            f"that score; there can be {max(calibrating, 0):,}. Enroll more, or raise the rate to {possible:g}",
        )


def _row_names(rows: Points) -> list[str]:
    """Name rows by their content; equal rows get numbers, since they need not be copies of one image."""
    seen: Counter[bytes] = Counter()
    names = []
    for content in map(np.ndarray.tobytes, rows):
        seen[content] += 1
        names.append(f"{content.hex()}/{seen[content]}")
    return names


def _only(bank: ClassBank, rows: NDArray[np.bool_]) -> ClassBank:
    """The bank with some of its exemplars; a class may be left with none."""
    sums = np.concatenate([[0], np.cumsum(rows)])
    return replace(bank, exemplars=bank.exemplars[rows], offsets=sums[bank.offsets])


def _best(bank: ClassBank, z: Latents) -> Doubles:
    return np.asarray(bank.likeness(z).max(axis=1))


def _digest(name: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}/{name}".encode()).hexdigest()
