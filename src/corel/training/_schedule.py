"""The step size as a function of the step alone, so that a resumed training needs no scheduler's state."""

from __future__ import annotations

import math

from corel.training.config import TrainConfig

RISE, FIRST, LAST = 0.3, 1 / 25, 1 / 250_000  # share of the steps that rise; first and last as parts of the largest


def step_size(config: TrainConfig, step: int, steps: int) -> float:
    """Give the step size of step 0 … `steps` - 1.

    ``one-cycle`` goes along half cosines, as torch's `OneCycleLR` with its defaults does.
    """
    if config.schedule == "constant":
        return config.learning_rate
    peak = RISE * steps - 1
    if step <= peak:
        return config.learning_rate * _half_cosine(FIRST, 1, step / peak)
    return config.learning_rate * _half_cosine(1, LAST, (step - peak) / (steps - 1 - peak))


def _half_cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * share)) / 2
