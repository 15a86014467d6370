"""Which of many images are strangers, with the false discovery rate controlled."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corel._errors import ArgumentError

ROUNDING = 1e-12  # tolerance, so that a p-value equal to its bound is selected in spite of rounding


def discoveries(p_values: ArrayLike, fdr: float) -> NDArray[np.bool_]:
    """Select by Benjamini and Hochberg: the r lowest p-values, r the most with p_(r) ≤ fdr·r/n.

    The expected share of wrong ones among those selected is at most `fdr`, over exemplars and images, for p-values of
    one `Split` (Bates et al. 2023). It is not proved for full-conformal p-values.

    Example:
        >>> discoveries([0.01, 0.5, 0.02, 0.9], fdr=0.1)
        array([ True, False,  True, False])

    """
    check_fdr(fdr)
    p = np.asarray(p_values, float)
    bounds = fdr * np.arange(1, len(p) + 1) / max(len(p), 1)
    within = np.flatnonzero(np.sort(p) <= bounds * (1 + ROUNDING))
    return p <= (bounds[within[-1]] * (1 + ROUNDING) if len(within) else -np.inf)


def least_discoveries(images: int, fdr: float, calibrating: int) -> int:
    """How many of the images must have the smallest p-value, 1/(calibrating + 1), for any of these to be selected.

    Example:
        >>> least_discoveries(10_000, 0.1, calibrating=120)
        827

    """
    check_fdr(fdr)
    return math.ceil(images / (fdr * (calibrating + 1)) * (1 - ROUNDING))


def check_fdr(fdr: float) -> None:
    """Refuse a rate that is not strictly between 0 and 1."""
    if not 0 < fdr < 1:
        raise ArgumentError("fdr", f"must lie strictly between 0 and 1, not {fdr}")
