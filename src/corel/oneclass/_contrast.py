"""The contrast: the log-ratio of a class's rate of neighbors to the background's, branch by branch.

With c the mass of the class's m exemplars around a point in one branch and q the mean weight of the background there,
the class's rate is smoothed by s pseudo-exemplars that are spread like the background, and the branch adds

    log( (c + s·q) / ((m + s)·q) ) = log(1 + c/(s·q)) + log(s/(m + s)).

A branch without neighbors adds the least there is, log(s/(m + s)), however empty the background is around it: a point
far from everything gets the lowest score. Smoothing by a constant instead would reward the empty background.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from corel.oneclass._kernel import Doubles, Integers, Window

# Chosen on folds of CIFAR-10's train split by `python -m experiments contrast_folds`, which has the others too.
# s was frozen on an earlier training; with the shipped one 10 to 100 lie within .001 of each other, 10 ahead by .0004.
SHARPNESS = 4.0  # an exemplar at distance d weighs exp(−SHARPNESS·d/radius)
PRIOR = 30.0  # s

UNIT = 1 << 16  # weights are integers in units of 1/UNIT, so that their sums are exact and know no order
RESOLUTION = 64  # steps per radius at which the exponential is tabulated: d is rounded down to one of them


def ball(radius: float, dtype: type[np.floating[Any]]) -> Window:
    """The window of the count: 1 up to the radius."""
    return Window(dtype(radius), dtype(0), np.empty(0, np.int32), dtype(0))


def exponential(radius: float, dtype: type[np.floating[Any]], sharpness: float = SHARPNESS) -> Window:
    """The window of the contrast: exp(−sharpness·d/radius)."""
    return Window(dtype(radius), dtype(RESOLUTION / radius), _table(sharpness), dtype(0))


def scales(background_masses: Integers, background_size: int) -> Doubles:
    """1/(s·q) per unit of mass; the point itself counts in q, which is therefore never zero."""
    result: Doubles = (background_size + 1) / (PRIOR * (background_masses + UNIT))
    return result


def constant(sizes: Integers | Doubles, branches: int) -> Doubles:
    """B·log(s/(m + s)): what smoothing adds to the score of any point from a class of m exemplars."""
    result: Doubles = branches * np.log(PRIOR / (sizes + PRIOR))
    return result


@cache
def _table(sharpness: float) -> Integers:
    """The exponential in units at every step, down to the first that rounds to zero."""
    reach = int(np.ceil(RESOLUTION * np.log(2 * UNIT) / sharpness))
    weights: Integers = np.rint(UNIT * np.exp(-sharpness / RESOLUTION * np.arange(reach + 1))).astype(np.int32)
    weights[-1] = 0
    return weights
