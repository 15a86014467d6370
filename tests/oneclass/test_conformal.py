"""The guarantee: over redrawn bags, an exchangeable point is rejected at most as often as promised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest, kstest

from corel.oneclass import ClassBank, OneClass, prediction_sets

TRIALS = 1000
Draw = Callable[[np.random.Generator, int], NDArray[Any]]


def continuous(rng: np.random.Generator, rows: int) -> NDArray[Any]:
    return rng.normal(size=(rows, 4))


def tied(rng: np.random.Generator, rows: int) -> NDArray[Any]:
    """Few distinct values, so that duplicates and equal scores abound."""
    return rng.integers(0, 3, (rows, 4)).astype(float)


def exchangeable(rng: np.random.Generator, rows: int) -> NDArray[Any]:
    """Not independent: all rows of a bag share a center, as the images of one burst share a subject."""
    return rng.normal(size=(1, 4)) + 0.5 * rng.normal(size=(rows, 4))


def p_values(draw: Draw, m: int, contrast: bool, ties: Literal["conservative", "random"]) -> NDArray[np.float64]:
    """One p-value a trial; the bags of all trials share a bank, each point meets its own."""
    rng = np.random.default_rng(12)
    background = rng.normal(size=(50, 4)) if contrast else None
    bags = [draw(rng, m + 1) for _ in range(TRIALS)]
    bank = ClassBank.of([bag[:m] for bag in bags], branches=2, radius=1.5, background=background)
    return np.diagonal(bank.p_values(np.array([bag[m] for bag in bags]), ties=ties, seed=rng))


@pytest.mark.parametrize("contrast", [False, True])
@pytest.mark.parametrize("draw", [continuous, tied, exchangeable])
def test_conservative_p_values_are_valid_at_every_level(draw: Draw, contrast: bool) -> None:
    for m in (4, 19):
        p = p_values(draw, m, contrast, "conservative")
        for level in (1, 2, m // 2, m):
            a = level / (m + 1)
            assert binomtest(int((p <= a + 1e-12).sum()), TRIALS, a, "greater").pvalue > 1e-4


@pytest.mark.parametrize("contrast", [False, True])
@pytest.mark.parametrize("draw", [continuous, tied, exchangeable])
def test_random_ties_make_p_values_uniform(draw: Draw, contrast: bool) -> None:
    assert kstest(p_values(draw, 9, contrast, "random"), "uniform").pvalue > 1e-4


def test_predict_keeps_its_rate() -> None:
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(TRIALS):
        bag = continuous(rng, 31)
        rejected += OneClass(branches=2, radius=1.5, rate=0.1).fit(bag[:30]).predict(bag[30:])[0] == -1
    assert binomtest(rejected, TRIALS, 0.1, "greater").pvalue > 1e-4


def test_prediction_sets_cover_and_may_be_empty() -> None:
    rng = np.random.default_rng(0)
    centers, covered = 2.0 * np.eye(4), 0
    for _ in range(300):
        bags = [center + 0.6 * rng.normal(size=(20, 4)) for center in centers[:3]]
        bank, truth = ClassBank.of(bags, branches=2, radius=1.5), int(rng.integers(3))
        z = centers[truth] + 0.6 * rng.normal(size=(1, 4))
        covered += truth in prediction_sets(*bank.assess(z), rate=0.1)[0]
    assert binomtest(covered, 300, 0.9, "less").pvalue > 1e-4
    assert prediction_sets(*bank.assess(np.full((1, 4), 30.0)), rate=0.1)[0].tolist() == []


def test_prediction_sets_rank_by_score_then_p_value() -> None:
    sets = prediction_sets([[1.0, 3.0, 3.0, 9.0]], [[0.3, 0.2, 0.4, 0.05]], rate=0.05)
    assert [each.tolist() for each in sets] == [[2, 1, 0]]
    with pytest.raises(ValueError, match="must have the shape of scores"):
        prediction_sets([[1.0]], [[0.5, 0.5]], rate=0.1)
