"""From one-class to multi-class: which classes an image may belong to, best first, possibly none."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corel._errors import ArgumentError
from corel.oneclass._checks import check_rate


def prediction_sets(scores: ArrayLike, p_values: ArrayLike, rate: float) -> list[NDArray[np.int64]]:
    """For each row the classes whose p-value exceeds `rate`, highest score first.

    Scores rank because p-values tie: they are multiples of 1/(m + 1). Where classes differ in size, give
    `ClassBank.likeness` in their place. For an image of an enrolled class the set
    holds that class with probability at least 1 − rate. An empty set says "none of them".

    Example:
        >>> prediction_sets(scores=[[3.0, 5.0, 4.0]], p_values=[[0.5, 0.2, 0.01]], rate=0.05)
        [array([1, 0])]

    """
    check_rate(rate)
    score, p = np.atleast_2d(np.asarray(scores, float)), np.atleast_2d(np.asarray(p_values, float))
    if score.shape != p.shape:
        raise ArgumentError("p_values", f"must have the shape of scores, {[*score.shape]}, got {[*p.shape]}")
    order = np.lexsort((-p, -score), axis=1)
    return [ranked[p[row, ranked] > rate] for row, ranked in enumerate(order)]
