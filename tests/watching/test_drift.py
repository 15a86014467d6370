"""The drift test keeps its false-alarm rate on exchangeable streams of any kind; with a fixed bag it would not."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import kstest

from corel.oneclass import split_p_values
from corel.watching import DriftTest
from corel.watching._drift import LEVEL, POWERS, log_payoffs, waiting

Doubles = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Doubles]


def ties(random: np.random.Generator, count: int) -> Doubles:
    return random.integers(0, 4, count).astype(float)


def equal(random: np.random.Generator, count: int) -> Doubles:
    return np.zeros(count)


def two_classes(random: np.random.Generator, count: int) -> Doubles:
    """Nine of ten from one class, scored apart."""
    return np.asarray(random.standard_normal(count) + 5.0 * (random.random(count) < 0.1))


def copies(random: np.random.Generator, count: int) -> Doubles:
    """An exchangeable stream with duplicates: what was drawn before is drawn again, as from an urn."""
    drawn: list[float] = []
    for _ in range(count):
        again = drawn and random.random() < 0.5
        drawn.append(drawn[random.integers(len(drawn))] if again else float(random.standard_normal()))
    return random.permutation(drawn)


def heavy(random: np.random.Generator, count: int) -> Doubles:
    return random.standard_cauchy(count)


DRAWS = [ties, equal, two_classes, copies, heavy]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("calibrating", [1, 5, 40])
def test_p_values_are_uniform_and_independent(draw: Draw, calibrating: int) -> None:
    random, found = np.random.default_rng(calibrating), []
    for seed in range(400):
        scores = draw(random, calibrating + 6)
        test = DriftTest(scores[:calibrating], seed)
        found.append([test.update(score) for score in scores[calibrating:]])
    p_values = np.array(found)
    assert kstest(p_values.ravel(), "uniform").pvalue > 1e-4
    correlations = np.corrcoef(p_values.T)[np.triu_indices(6, 1)]
    assert np.abs(correlations).max() < 4.5 / math.sqrt(400)
    joint = np.maximum(p_values[:, 0], p_values[:, 1])  # of two independent ones, the square is uniform
    assert kstest(joint**2, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("draw", DRAWS)
def test_false_alarms_are_rare_over_whole_streams(draw: Draw) -> None:
    random, level, streams = np.random.default_rng(1), 0.1, 80
    alarms = sum(stream(draw(random, 330), 30, seed, 1 / level).alarmed for seed in range(streams))
    assert alarms <= level * streams + 3 * math.sqrt(streams * level * (1 - level))


def stream(scores: Doubles, calibrating: int, seed: int, limit: float = 1 / LEVEL) -> DriftTest:
    test = DriftTest(scores[:calibrating], seed, limit)
    for score in scores[calibrating:]:
        test.update(float(score))
    return test


def capitals(p_values: Doubles) -> Doubles:
    """The logarithm of the largest capital of many streams of p-values ``[n, images]``, as `DriftTest` bets."""
    bets = np.full((len(p_values), 2 * len(POWERS)), -np.inf)
    largest = np.zeros(len(p_values))
    for i, column in enumerate(p_values.T):
        begun = waiting(i) - waiting(i + 1)
        powers = np.array(POWERS)
        payoffs = np.concatenate([np.log(powers) + (powers - 1) * np.log(p)[:, None] for p in (column, 1 - column)], 1)
        bets = np.logaddexp(bets, math.log(begun / bets.shape[1])) + payoffs
        total = np.logaddexp(np.logaddexp.reduce(bets, axis=1), math.log(waiting(i + 1)))
        largest = np.maximum(largest, total)
    return largest


def test_false_alarms_over_many_long_streams_and_with_a_fixed_bag() -> None:
    random = np.random.default_rng(2)
    online = random.random((2000, 1500))  # what p-values are by the test above
    assert np.mean(capitals(online) >= math.log(100)) <= 0.01 + 3 * math.sqrt(0.01 / 2000)
    fixed = np.stack([
        split_p_values(random.standard_normal(20), random.standard_normal(1500), "random", random)
        for _ in range(100)
    ])  # fmt: skip
    assert np.mean(capitals(np.clip(fixed, 1e-9, 1 - 1e-9)) >= math.log(100)) > 0.25


def test_the_bets_of_this_file_equal_the_librarys() -> None:
    scores = np.random.default_rng(3).standard_normal(120)
    test = DriftTest(scores[:20], 0)
    p_values, logs = [], [0.0]
    for score in scores[20:]:
        p_values.append(test.update(score))
        logs.append(test.log_capital)
    assert capitals(np.array([p_values]))[0] == pytest.approx(max(logs))


@pytest.mark.parametrize("bet", range(2 * len(POWERS)))
def test_every_bet_is_fair(bet: int) -> None:
    def paid(t: float) -> float:  # with p = exp(−t), or 1 − p, where a bet's payoff is largest
        small = math.exp(-t)
        return math.exp(log_payoffs(small if bet < len(POWERS) else 1 - small)[bet] - t)

    mean = quad(paid, 0, 30)[0]
    assert 0.995 < mean <= 1


def test_part_of_the_capital_waits_even_after_a_billion_images() -> None:
    assert waiting(0) == 1
    assert 0.04 < waiting(10**9) < 0.05


@pytest.mark.parametrize("quiet", [0, 300])
@pytest.mark.parametrize("shift", [-3.0, 3.0])
def test_a_change_is_noticed_soon(quiet: int, shift: float) -> None:
    random = np.random.default_rng(4)
    test = stream(random.standard_normal(100 + quiet), 100, 0)
    assert not test.alarmed
    for score in random.standard_normal(20) + shift:
        test.update(float(score))
    assert test.alarmed


def test_a_resumed_test_gives_the_same_result() -> None:
    scores = np.random.default_rng(5).integers(0, 9, 200).astype(float)
    whole = stream(scores, 50, 7)
    first = stream(scores[:120], 50, 7)
    second = DriftTest(scores[:50], 7)
    second.resume(scores[50:120].tolist(), first.log_bets, alarmed=first.alarmed)
    for score in scores[120:]:
        second.update(float(score))
    assert second.log_capital == whole.log_capital
