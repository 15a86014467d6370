"""The cosine score: its definition in floating point, its exactness, and the contract that all scores share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from corel.oneclass import ClassBank, OneClass, _cosine
from corel.oneclass._whitening import LARGEST, SHRINKAGE, Whitening

Array = NDArray[np.float64]
FEATURES = 24
RNG = np.random.default_rng(0)
MIXING = RNG.normal(size=(FEATURES, FEATURES)) / 5 + np.eye(FEATURES)
BACKGROUND = RNG.normal(size=(300, FEATURES)) @ MIXING + 3


def features(rows: int, seed: int, center: float = 3.0) -> Array:
    return np.random.default_rng(seed).normal(size=(rows, FEATURES)) @ MIXING + center


def bank_of(bags: list[Array], **settings: Any) -> ClassBank:
    return ClassBank.of(bags, branches=1, radius=1.0, background=BACKGROUND, method="cosine", **settings)


def cosines(points: Array, others: Array) -> Array:
    """In plain floating point, from the definition."""
    mean = BACKGROUND.mean(axis=0)
    covariance = np.cov(BACKGROUND.T, bias=True)
    shrunk = (1 - SHRINKAGE) * covariance + SHRINKAGE * np.trace(covariance) / FEATURES * np.eye(FEATURES)
    root = np.linalg.cholesky(np.linalg.inv(shrunk))
    directions = [(x - mean) @ root for x in (points, others)]
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in directions)
    return np.asarray(a @ b.T)


def test_score_is_log_mean_exp_over_exemplars_minus_the_same_over_the_background() -> None:
    bag, z = features(40, 1), features(50, 2)
    near, around = (np.exp(cosines(z, x) / _cosine.TEMPERATURE) for x in (bag, BACKGROUND))
    q = around.mean(axis=1)
    expected = np.log((near.sum(axis=1) + _cosine.PRIOR * q) / ((40 + _cosine.PRIOR) * q))
    np.testing.assert_allclose(bank_of([bag]).scores(z)[:, 0], expected, atol=0.03)


def test_unit_vectors_are_whole_and_their_products_exact() -> None:
    whitening = Whitening.of(BACKGROUND)
    units = whitening.units(np.concatenate([features(500, 3), 1e6 * features(20, 4), BACKGROUND.mean(0)[None]]))
    np.testing.assert_array_equal(units, np.rint(units))
    whole = units.astype(np.int64)
    assert (whole**2).sum(axis=1).max() <= LARGEST
    np.testing.assert_array_equal((units @ units.T).astype(np.int64), whole @ whole.T)
    assert not units[-1].any()
    np.testing.assert_allclose(np.linalg.norm(units[:-1], axis=1), whitening.length, rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_do_not_depend_on_the_batch_or_other_classes(monkeypatch: pytest.MonkeyPatch, dtype: type[Any]) -> None:
    bags: list[Any] = [features(m, m, 3.2).astype(dtype) for m in (1, 40, 7, 130)]
    z: Any = features(300, 5).astype(dtype)
    scores, p_values = bank_of(bags).assess(z)
    for c, bag in enumerate(bags):
        alone = bank_of([bag])
        np.testing.assert_array_equal(np.concatenate([alone.scores(row[None]) for row in z[:40]])[:, 0], scores[:40, c])
        np.testing.assert_array_equal(alone.p_values(z)[:, 0], p_values[:, c])
    monkeypatch.setattr(_cosine, "CELLS", 1000)
    again = bank_of(bags).assess(z)
    np.testing.assert_array_equal(again.scores, scores)
    np.testing.assert_array_equal(again.p_values, p_values)


def test_scores_do_not_depend_on_the_number_of_threads() -> None:
    z, threads, found = features(3000, 6), torch.get_num_threads(), []
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            found.append(bank_of([features(60, 7)]).assess(z))
    finally:
        torch.set_num_threads(threads)
    for other in found[1:]:
        np.testing.assert_array_equal(other.scores, found[0].scores)
        np.testing.assert_array_equal(other.p_values, found[0].p_values)


def test_the_whitening_does_not_depend_on_the_number_of_blas_threads() -> None:
    background, found = np.random.default_rng(9).normal(size=(900, 384)) ** 3, []
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            found.append(Whitening.of(background).matrix)
    np.testing.assert_array_equal(found[0], found[1])


@settings(max_examples=30)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=3).filter(any), st.integers(0, 2**16), st.floats(0.02, 0.98))
def test_p_values_are_full_conformal_and_thresholds_follow_them(sizes: list[int], seed: int, rate: float) -> None:
    """Each member of the bag is scored from scratch against the others; copies of exemplars tie exactly."""
    bags = [features(m, seed + c) for c, m in enumerate(sizes)]
    z = np.concatenate([features(3, seed + 9), *(bag[:1] for bag in bags)])
    bank = bank_of(bags)
    scores, p_values = bank.assess(z)
    for c, bag in enumerate(bags):
        for t, point in enumerate(z):
            members = np.concatenate([bag, point[None]])
            rests = [np.delete(members, i, axis=0) for i in range(len(members))]
            each = [bank_of([rest]).scores(member[None]).item() for member, rest in zip(members, rests, strict=True)]
            assert p_values[t, c] == np.mean(np.array(each) <= each[-1])
    np.testing.assert_array_equal(bank.scores(z), scores)
    assert (p_values[scores < bank.thresholds(rate)] <= rate + 1e-9).all()


def test_another_device_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    bank, z = bank_of([features(12, 1), features(0, 2), features(30, 3)]), features(50, 4)
    expected = bank.assess(z)
    monkeypatch.setattr("corel.oneclass._bank.computing_device", lambda z: torch.device("cpu"))
    found = bank.assess(torch.from_numpy(z))
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-12)
    np.testing.assert_array_equal(found.p_values, expected.p_values)


def test_adding_and_forgetting_equal_fitting_on_what_is_left() -> None:
    model = OneClass(method="cosine", background=BACKGROUND, rate=0.2)
    rows, z = features(30, 1), features(20, 2)
    model.fit(rows[:20]).partial_fit(rows[20:]).forget([0, 25])
    fresh = OneClass(method="cosine", background=BACKGROUND, rate=0.2).fit(np.delete(rows, [0, 25], axis=0))
    np.testing.assert_array_equal(model.p_values(z), fresh.p_values(z))
    np.testing.assert_array_equal(model.score_samples(z), fresh.score_samples(z))
    assert model.offset_ == fresh.offset_


def test_explanations_name_the_exemplars_that_are_like_the_point() -> None:
    bag, z = features(30, 1), features(10, 2)
    bank, expected = bank_of([bag]), cosines(z, bag)
    around = np.exp(cosines(z, BACKGROUND) / _cosine.TEMPERATURE)
    limits = _cosine.TEMPERATURE * np.log(around.mean(axis=1))
    for t, why in enumerate(bank.explain(z)):
        np.testing.assert_allclose(why.parts.sum(), bank.scores(z)[t, 0])
        np.testing.assert_allclose(why.distances[0], 1 - np.sort(expected[t])[::-1][: why.counts[0]], atol=2e-3)
        assert abs(why.counts[0] - (expected[t] > limits[t]).sum()) <= 1
        assert why.background_rates is not None
        assert why.background_rates == pytest.approx([np.mean(cosines(z, BACKGROUND)[t] > limits[t])], abs=0.02)


def test_repeating_all_exemplars_does_not_change_the_likeness() -> None:
    once, other, z = features(10, 1), features(30, 2), features(20, 3)
    bank = bank_of([once, np.tile(once, (3, 1)), other, other[:0]])
    likeness = bank.likeness(z)
    np.testing.assert_allclose(likeness[:, 0], likeness[:, 1], rtol=1e-12)
    assert np.isfinite(likeness).all()
    even = bank_of([other, np.tile(once, (3, 1))])
    np.testing.assert_array_equal(even.likeness(z), even.scores(z))


@pytest.mark.parametrize("exponent", [-900, -60, 60, 900])
def test_the_size_of_features_does_not_matter(exponent: int) -> None:
    size, z = 2.0**exponent, features(9, 1)
    large, usual = Whitening.of(BACKGROUND * size), Whitening.of(BACKGROUND)
    np.testing.assert_array_equal(large.matrix, usual.matrix)
    np.testing.assert_array_equal(large.units(z * size), usual.units(z))


def test_small_and_degenerate_backgrounds_are_enough() -> None:
    z = features(5, 1)
    for background in (BACKGROUND[:1], BACKGROUND[:3], np.zeros((4, FEATURES)), np.c_[np.zeros(9), BACKGROUND[:9, 1:]]):
        bank = ClassBank.of([z[:2]], branches=1, radius=1.0, background=background, method="cosine")
        assert np.isfinite(bank.scores(z)).all()
        assert bank.scores(z)[0, 0] > bank.scores(z)[2:, 0].min()


def test_bad_settings_are_refused_with_a_clear_error() -> None:
    with pytest.raises(ValueError, match='is "cosine", which compares with a background; pass background='):
        OneClass(method="cosine").fit(features(3, 1))
    with pytest.raises(ValueError, match="background has no rows"):
        ClassBank.of([features(3, 1)], branches=1, radius=1.0, background=BACKGROUND[:0], method="cosine")
