"""Promises of a split, by simulation: over many galleries, few reject more than the rate, whatever the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, binomtest

from corel.oneclass import ClassBank, Split, calibrating_size, least_calibrating, split_p_values, strict_limit

Draw = Callable[[np.random.Generator, int], NDArray[Any]]


def continuous(rng: np.random.Generator, rows: int) -> NDArray[Any]:
    return rng.normal(size=(rows, 4))


def tied(rng: np.random.Generator, rows: int) -> NDArray[Any]:
    """Few distinct values, so that equal rows and equal scores abound."""
    return rng.integers(0, 3, (rows, 4)).astype(float)


def two_groups(rng: np.random.Generator, rows: int) -> NDArray[Any]:
    """A rare group beside a frequent one, as where classes are unequal."""
    return rng.normal(size=(rows, 4)) + 5.0 * (rng.random((rows, 1)) < 0.1)


def bank_of(points: NDArray[Any], classes: int = 1) -> ClassBank:
    """Classes by the sign of a coordinate: of unequal sizes, some of them perhaps empty."""
    label = np.minimum((points[:, 0] > 1).astype(int), classes - 1)
    return ClassBank.of([points[label == c] for c in range(classes)], branches=2, radius=2.0)


@pytest.mark.parametrize("draw", [continuous, tied, two_groups])
@pytest.mark.parametrize("m", [2, 5, 39])
def test_p_values_are_valid_at_every_level(draw: Draw, m: int) -> None:
    rng, trials = np.random.default_rng(m), 400
    bags = [draw(rng, m + 1) for _ in range(trials)]
    p = np.array([Split.of(bank_of(bag[:m], 2)).p_values(bag[m:]).item() for bag in bags])
    for k in range(1, m // 2 + 1):
        a = k / (m // 2 + 1)
        assert binomtest(int((p <= a + 1e-12).sum()), trials, a, "greater").pvalue > 1e-4


@pytest.mark.parametrize("draw", [continuous, tied, two_groups])
@pytest.mark.parametrize(("m", "rate", "confidence"), [(12, 0.4, 0.9), (60, 0.05, 0.95), (200, 0.1, 0.8)])
def test_few_galleries_reject_more_than_the_rate(draw: Draw, m: int, rate: float, confidence: float) -> None:
    """Each gallery meets 2,000 images; those that reject more than the rate are at most 1 − confidence of all."""
    rng, trials = np.random.default_rng(m), 200
    unseen = draw(rng, 2000)
    broken = 0
    for _ in range(trials):
        split = Split.of(bank_of(draw(rng, m)), calibrating=calibrating_size(m, rate, confidence))
        limit = strict_limit(rate, confidence, len(split.calibration))
        broken += (split.p_values(unseen) <= limit).mean() > rate
    assert binomtest(int(broken), trials, 1 - confidence, "greater").pvalue > 1e-3


def test_the_limit_is_the_largest_that_keeps_the_confidence() -> None:
    for n in (59, 60, 92, 93, 150, 1000):
        k = round(strict_limit(0.05, 0.95, n) * (n + 1))
        assert beta(k, n + 1 - k).cdf(0.05) >= 0.95 > beta(k + 1, n - k).cdf(0.05)
    assert [round(strict_limit(0.05, 0.95, n) * (n + 1)) for n in (59, 92, 93)] == [1, 1, 2]


def test_five_percent_needs_59_exemplars_and_the_error_says_so() -> None:
    assert least_calibrating(0.05, 0.95) == 59
    assert calibrating_size(60, 0.05, 0.95) == 59
    assert calibrating_size(1000, 0.05, 0.95) == 500
    for refused in (lambda: calibrating_size(59, 0.05, 0.95), lambda: strict_limit(0.05, 0.95, 58)):
        with pytest.raises(ValueError, match=r"confidence of 0.95 in a rate of 0.05 needs at least 59 exemplars .* 58"):
            refused()
    with pytest.raises(ValueError, match="confidence must lie strictly between 0 and 1"):
        strict_limit(0.05, 1.0, 100)


def test_the_rate_that_a_refusal_proposes_is_possible() -> None:
    with pytest.raises(ValueError, match=r"raise the rate to 0\.14") as refused:
        strict_limit(0.05, 0.95, 20)
    assert least_calibrating(float(str(refused.value).split()[-1]), 0.95) <= 20


def test_a_split_does_not_depend_on_the_order_of_enrollment() -> None:
    rng = np.random.default_rng(0)
    points, unseen = tied(rng, 41), rng.normal(size=(9, 4))
    one, other = (Split.of(bank_of(each)) for each in (points, points[rng.permutation(41)]))
    np.testing.assert_array_equal(one.calibration, other.calibration)
    np.testing.assert_array_equal(one.scores(unseen), other.scores(unseen))
    assert not np.array_equal(one.calibration, Split.of(bank_of(points), seed=1).calibration)


def test_one_more_exemplar_changes_the_scoring_side_by_at_most_one() -> None:
    points = continuous(np.random.default_rng(1), 31)
    before, after = (Split.of(bank_of(points[:m])).bank.exemplars for m in (30, 31))
    assert len({row.tobytes() for row in before} ^ {row.tobytes() for row in after}) <= 1


def test_copies_of_an_image_stay_on_one_side() -> None:
    points = continuous(np.random.default_rng(2), 20)
    bank = ClassBank.of([points, points[:10]], branches=2, radius=2.0)
    hashes = [str(i) for i in (*range(20), *range(10))]
    split = Split.of(bank, hashes)
    assert len(split.calibration) == 10
    scoring = {row.tobytes() for row in split.bank.exemplars}
    assert len(scoring) == 10
    assert split.calibration.max() < split.scores(split.bank.exemplars).max()


def test_scores_are_those_of_the_likeliest_class_by_the_scoring_part() -> None:
    points = continuous(np.random.default_rng(3), 40)
    split = Split.of(bank_of(points, 2), calibrating=15)
    assert (len(split.calibration), len(split.bank.exemplars)) == (15, 25)
    np.testing.assert_array_equal(split.scores(points), split.bank.likeness(points).max(axis=1))
    calibrating = [row for row in points if row.tobytes() not in {each.tobytes() for each in split.bank.exemplars}]
    np.testing.assert_array_equal(split.calibration, np.sort(split.scores(calibrating)))


def test_ties_count_against_the_alarm_or_at_random() -> None:
    calibration = [1.0, 2.0, 2.0, 3.0]
    assert split_p_values(calibration, [0.0, 2.0, 9.0]).tolist() == [0.2, 0.8, 1.0]
    drawn = split_p_values(calibration, np.full(20_000, 2.0), ties="random", seed=0)
    assert drawn.min() >= 0.2
    assert drawn.max() <= 0.8
    assert drawn.mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("calibrating", [0, 3, -1])
def test_both_sides_keep_an_exemplar(calibrating: int) -> None:
    with pytest.raises(ValueError, match="of 3 different exemplars, which leaves one side without any"):
        Split.of(bank_of(np.arange(12.0).reshape(3, 4)), calibrating=calibrating)
