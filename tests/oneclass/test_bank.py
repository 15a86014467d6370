"""Many classes at once: counts, scores and p-values against plain loops and scikit-learn."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.neighbors import KernelDensity

from corel.oneclass import ClassBank
from corel.oneclass._contrast import PRIOR, SHARPNESS, UNIT

Array = NDArray[np.float64]


def oracle_score(z: Array, others: Array, branches: int, radius: float, background: Array | None = None) -> float:
    """Eq. 6, or the log-ratio of smoothed rates less what all members of a bag share, branch after branch."""
    if background is None:
        return sum(sum(d <= radius for d in distances(z, others, branches, j)) for j in range(branches))
    product = 1.0
    for j in range(branches):
        near, around = (sum(weight(d, radius) for d in distances(z, x, branches, j)) for x in (others, background))
        product *= 1.0 + near * ((len(background) + 1) / (PRIOR * (around + UNIT)))
    return math.log(product)


def weight(distance: float, radius: float) -> int:
    """The exponential in whole units, constant over steps of a 64th of the radius."""
    return round(UNIT * math.exp(-SHARPNESS * math.floor(64 * distance / radius) / 64))


def distances(z: Array, others: Array, branches: int, branch: int) -> list[float]:
    part = slice(branch * len(z) // branches, (branch + 1) * len(z) // branches)
    return [float(np.abs(z[part] - other[part]).sum()) for other in others]


def oracle_p_value(z: Array, exemplars: Array, *setting: Any) -> float:
    """Put z in the bag, score each member against the rest, and see how many score no higher than z."""
    bag = [*exemplars, z]
    rests = [np.array(bag[:i] + bag[i + 1 :]).reshape(len(bag) - 1, len(z)) for i in range(len(bag))]
    scores = [oracle_score(member, rest, *setting) for member, rest in zip(bag, rests, strict=True)]
    return sum(s <= scores[-1] for s in scores) / len(bag)


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    """A ragged bank with ties and duplicates, some points, and perhaps a background."""
    branches, dim = draw(st.integers(1, 3)), draw(st.integers(1, 7))
    sizes = draw(st.lists(st.integers(0, 6), min_size=1, max_size=3).filter(any))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def latents(rows: int) -> Any:  # quarters add exactly in both float types: on the sphere is on the sphere
        return rng.integers(-4, 5, (rows, branches * dim)) / 4

    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return {
        "bags": [latents(size).astype(dtype) for size in sizes],
        "points": latents(3),
        "branches": branches,
        "radius": draw(st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0])),
        "background": latents(5) if draw(st.booleans()) else None,
    }


def bank_of(problem: dict[str, Any]) -> ClassBank:
    return ClassBank.of(problem["bags"], **{key: problem[key] for key in ("branches", "radius", "background")})


@settings(max_examples=60)
@given(problems())
def test_scores_and_p_values_follow_their_definitions(problem: dict[str, Any]) -> None:
    bank = bank_of(problem)
    scores, p_values = bank.assess(problem["points"])
    setting = problem["branches"], problem["radius"], problem["background"]
    shared = problem["branches"] * np.log(PRIOR / (bank.sizes + PRIOR))
    raw = scores if bank.method == "count" else scores - shared
    for t, z in enumerate(problem["points"]):
        for c, bag in enumerate(problem["bags"]):
            assert raw[t, c] == pytest.approx(oracle_score(z, bag.astype(float), *setting), abs=1e-9)
            assert p_values[t, c] == pytest.approx(oracle_p_value(z, bag.astype(float), *setting))
    np.testing.assert_array_equal(bank.scores(problem["points"]), scores)


@settings(max_examples=60)
@given(problems(), st.floats(0.02, 0.98))
def test_a_score_below_the_threshold_is_a_conformal_rejection(problem: dict[str, Any], rate: float) -> None:
    bank = bank_of(problem)
    scores, p_values = bank.assess(problem["points"])
    assert (p_values[scores < bank.thresholds(rate)] <= rate + 1e-9).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("background", [False, True])
def test_scores_do_not_depend_on_the_batch_or_other_classes(dtype: type[np.floating[Any]], background: bool) -> None:
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(m, 36)).astype(dtype) for m in (1, 40, 7, 130)]
    z = rng.normal(size=(300, 36)).astype(dtype)
    setting = {"branches": 3, "radius": 12.0, "background": rng.normal(size=(50, 36)) if background else None}
    scores, p_values = ClassBank.of(bags, **setting).assess(z)
    assert len(np.unique(scores[:, 3])) > 10
    for c, bag in enumerate(bags):
        alone = ClassBank.of([bag], **setting)
        np.testing.assert_array_equal(np.concatenate([alone.scores(row[None]) for row in z[:50]])[:, 0], scores[:50, c])
        np.testing.assert_array_equal(alone.p_values(z)[:, 0], p_values[:, c])


def test_scores_do_not_depend_on_the_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    bank = ClassBank.of([rng.normal(size=(50, 16))], branches=4, radius=4.0, background=rng.normal(size=(200, 16)))
    z, threads = rng.normal(size=(2000, 16)), torch.get_num_threads()
    many = bank.assess(z)
    try:
        torch.set_num_threads(1)
        one = bank.assess(z)
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(many.scores, one.scores)
    np.testing.assert_array_equal(many.p_values, one.p_values)


@pytest.mark.parametrize("with_background", [False, True])
def test_classes_larger_than_a_block_of_exemplars(with_background: bool) -> None:
    rng = np.random.default_rng(0)
    bags = [rng.integers(-4, 5, (size, 6)) / 4 for size in (700, 0, 3, 1100, 1)]
    settings: dict[str, Any] = {
        "branches": 2,
        "radius": 1.0,
        "background": rng.normal(size=(9, 6)) if with_background else None,
    }
    points = rng.integers(-4, 5, (70, 6)) / 4
    alone = [ClassBank.of([bag], **settings).scores(points) for bag in bags]
    assert np.array_equal(ClassBank.of(bags, **settings).scores(points), np.hstack(alone))
    expected = [oracle_score(points[-1], bags[3], *settings.values())]
    background_free = alone[3][-1] - (0 if not with_background else 2 * np.log(PRIOR / (1100 + PRIOR)))
    np.testing.assert_allclose(background_free, expected)


def test_counts_equal_scikit_learns_tophat_density() -> None:
    rng = np.random.default_rng(0)
    exemplars, z, dim, radius = rng.normal(size=(80, 6)), rng.normal(size=(40, 6)), 3, 2.0
    volume = math.pi ** (dim / 2) / math.gamma(dim / 2 + 1) * radius**dim  # scikit-learn's constant, for any metric
    expected = np.zeros(len(z))
    for part in (slice(0, dim), slice(dim, 2 * dim)):
        density = KernelDensity(bandwidth=radius, kernel="tophat", metric="manhattan").fit(exemplars[:, part])
        with np.errstate(divide="ignore"):
            expected += np.exp(density.score_samples(z[:, part])) * volume * len(exemplars)
    np.testing.assert_allclose(ClassBank.of([exemplars], branches=2, radius=radius).scores(z)[:, 0], expected)


def test_an_exemplar_at_the_radius_counts_and_one_beyond_it_does_not() -> None:
    beyond = np.nextafter(2.0, 3.0)
    bank = ClassBank.of([[[2.0]], [[beyond]]], branches=1, radius=2.0)
    np.testing.assert_array_equal(bank.scores([[0.0]]), [[1.0, 0.0]])
    rounded = ClassBank.of([np.array([[beyond]], np.float32)], branches=1, radius=2.0)
    np.testing.assert_array_equal(rounded.scores([[0.0]]), [[1.0]])


def test_contrast_is_the_log_ratio_of_smoothed_rates() -> None:
    rng = np.random.default_rng(0)
    exemplars, background, z = (rng.normal(size=(rows, 40)) for rows in (9, 30, 5))
    score = ClassBank.of([exemplars], branches=20, radius=2.0, background=background).scores(z)[:, 0]
    expected = np.zeros(5)
    for j in range(20):
        part = slice(2 * j, 2 * j + 2)
        mass, around = (
            np.exp(-SHARPNESS * cdist(z[:, part], x[:, part], "cityblock") / 2.0).sum(1)
            for x in (exemplars, background)
        )
        rate = (around + 1) / 31
        expected += np.log((mass + PRIOR * rate) / ((9 + PRIOR) * rate))
    np.testing.assert_allclose(score, expected, atol=20 * SHARPNESS / 64)  # the exponential is tabulated


def test_contrast_gives_a_point_far_from_everything_the_lowest_score() -> None:
    """Smoothing toward anything but the background would reward an empty background and accept noise."""
    rng = np.random.default_rng(0)
    bank = ClassBank.of([rng.normal(size=(40, 8))], branches=2, radius=3.0, background=rng.normal(size=(500, 8)))
    near, far = bank.scores(rng.normal(size=(200, 8))), bank.scores(np.full((1, 8), 50.0))
    assert far[0, 0] == pytest.approx(2 * math.log(PRIOR / (40 + PRIOR)))
    assert far.min() == min(near.min(), far.min())
    assert bank.p_values(np.full((1, 8), 50.0)) == pytest.approx(1 / 41)


def test_contrast_prefers_the_neighbor_that_is_rare_in_the_background() -> None:
    exemplars, crowd = np.array([[0.0], [10.0]]), np.zeros((100, 1))
    common, rare = ClassBank.of([exemplars], branches=1, radius=1.0, background=crowd).scores([[0.0], [10.0]])
    assert rare > common


def test_random_ties_do_not_depend_on_batching() -> None:
    rng = np.random.default_rng(0)
    bank = ClassBank.of([rng.integers(0, 2, (9, 4)), rng.integers(0, 2, (5, 4))], branches=2, radius=1.0)
    z = rng.integers(0, 2, (20, 4))
    at_once = bank.p_values(z, ties="random", seed=7)
    generator = np.random.default_rng(7)
    piecewise = [bank.p_values(part, ties="random", seed=generator) for part in np.array_split(z, 6)]
    np.testing.assert_array_equal(np.concatenate(piecewise), at_once)
    assert (at_once <= bank.p_values(z)).all()


def test_an_empty_class_scores_zero_and_has_p_value_one() -> None:
    bank = ClassBank.of([np.zeros((0, 2)), np.zeros((2, 2))], branches=1, radius=1.0)
    np.testing.assert_array_equal(bank.scores([[0.0, 0.0]]), [[0.0, 2.0]])
    np.testing.assert_array_equal(bank.p_values([[5.0, 5.0]]), [[1.0, 1 / 3]])
    np.testing.assert_array_equal(bank.thresholds(0.4), [-np.inf, 1.0])


@pytest.mark.parametrize("with_background", [False, True])
def test_repeating_all_exemplars_does_not_change_the_likeness(with_background: bool) -> None:
    """The same exemplars once and three times are one class; where all classes are as large, it is the score."""
    rng = np.random.default_rng(0)
    once, other, z = (rng.normal(size=(rows, 6)) for rows in (10, 30, 20))
    background = rng.normal(size=(50, 6)) if with_background else None
    settings = {"branches": 2, "radius": 2.0, "background": background}
    bank = ClassBank.of([once, np.tile(once, (3, 1)), other[:20], other[:0], other], **settings)
    likeness = bank.likeness(z)
    np.testing.assert_allclose(likeness[:, 0], likeness[:, 1], rtol=1e-12)
    assert bank.sizes.mean() == 18
    average = ClassBank.of([other[:18]], **settings)
    np.testing.assert_allclose(bank.likeness(z, [10, 30, 20, 0, 30])[:, 4], likeness[:, 4])
    np.testing.assert_array_equal(average.likeness(z), average.scores(z))
    assert (likeness[:, 3] <= likeness.min(axis=1)).all()
    even = ClassBank.of([other, np.tile(once, (3, 1))], **settings)
    np.testing.assert_array_equal(even.likeness(z), even.scores(z))


def test_half_precision_tensors_are_scored() -> None:
    bank = ClassBank.of([np.zeros((2, 2))], branches=1, radius=1.0)
    assert bank.scores(torch.zeros(1, 2, dtype=torch.bfloat16)).tolist() == [[2.0]]


def test_a_bank_copies_its_exemplars() -> None:
    exemplars = np.zeros((2, 2), np.float32)
    bank = ClassBank.of([exemplars], branches=1, radius=1.0)
    exemplars += 9
    frozen = ClassBank(exemplars, np.array([0, 2]), branches=1, radius=1.0)
    exemplars -= 9
    assert [each.scores([[0.0, 0.0]]).item() for each in (bank, frozen)] == [2.0, 0.0]


@pytest.mark.parametrize("method", ["contrast", "cosine"])
@pytest.mark.parametrize("given", ["float32", "float64", "tensor"])
def test_a_bank_copies_its_background(method: Literal["contrast", "cosine"], given: str) -> None:
    rng = np.random.default_rng(0)
    dtype = np.float64 if given == "float64" else np.float32
    rows, z, background = (rng.normal(size=(n, 4)).astype(dtype) for n in (6, 3, 30))
    settings = {"branches": 2, "radius": 2.0, "method": method}
    expected = ClassBank.of([rows], background=background.copy(), **settings).scores(z)
    shared = torch.from_numpy(background) if given == "tensor" else background
    bank = ClassBank.of([rows], background=shared, **settings)
    background[:] = -9
    np.testing.assert_array_equal(bank.scores(z), expected)
    updated = bank.updated([rows])
    assert updated.background is bank.background  # copied once
    np.testing.assert_array_equal(updated.scores(z), expected)


def test_read_only_points_are_scored() -> None:
    points = np.zeros((1, 2))
    points.setflags(write=False)
    assert ClassBank.of([np.zeros((2, 2))], branches=1, radius=1.0).scores(points) == 2.0


def test_no_points_give_no_rows() -> None:
    bank = ClassBank.of([np.zeros((2, 2))], branches=1, radius=1.0)
    assert bank.scores(np.zeros((0, 2))).shape == bank.p_values(np.zeros((0, 2))).shape == (0, 1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"branches": 3}, "branches is 3, which does not divide the 4 columns"),
        ({"radius": 0.0}, "radius must be finite and at least 1e-36"),
        ({"radius": 1e-38}, "radius must be finite and at least 1e-36, not 1e-38; rescale the latents"),
        ({"method": "density"}, "must be one of 'auto', 'count', 'contrast'"),
        ({"method": "contrast"}, "pass background="),
        ({"background": np.zeros((3, 2))}, "background has 2 columns but the exemplars have 4"),
        ({"background": np.full((3, 4), np.nan)}, "NaN or infinity in row 0"),
        ({"offsets": [0, 1]}, "offsets must rise from 0 to the 2 exemplars"),
        ({"exemplars": np.zeros(4)}, "must be a matrix"),
    ],
)
def test_bad_settings_are_refused_with_a_clear_error(change: dict[str, Any], sentence: str) -> None:
    good = {"exemplars": np.zeros((2, 4)), "offsets": np.array([0, 2]), "branches": 2, "radius": 1.0}
    with pytest.raises(ValueError, match=sentence):
        ClassBank(**{**good, **change})


def test_bad_points_are_refused_with_a_clear_error() -> None:
    bank = ClassBank.of([np.zeros((2, 4))], branches=2, radius=1.0)
    with pytest.raises(ValueError, match="z has 3 columns but the exemplars have 4"):
        bank.scores(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="z has NaN or infinity in row 1"):
        bank.p_values([[0.0] * 4, [np.inf] * 4])
    with pytest.raises(ValueError, match='ties must be "conservative" or "random"'):
        bank.p_values(np.zeros((1, 4)), ties="optimistic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rate must lie strictly between 0 and 1"):
        bank.thresholds(1.0)
    with pytest.raises(IndexError):
        bank.explain(np.zeros((1, 4)), index=1)
    with pytest.raises(ValueError, match="at least one class"):
        ClassBank.of([], branches=1, radius=1.0)


@pytest.mark.parametrize("method", ["count", "contrast", "cosine"])
def test_the_votes_of_all_exemplars_add_up_to_the_likeness(method: Literal["count", "contrast", "cosine"]) -> None:
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(m, 12)).astype(np.float32) for m in (9, 4, 20)]
    bank = ClassBank.of(bags, branches=3, radius=4.0, background=rng.normal(size=(40, 12)), method=method)
    z = rng.normal(size=(20, 12))
    likeness = bank.likeness(z)
    for c, bag in enumerate(bags):
        votes = bank.votes(z, c)
        assert votes.shape == (20, len(bag))
        assert (votes >= 0).all()
        np.testing.assert_allclose(votes.sum(axis=1) + bank.least_likeness, likeness[:, c])
    nearest = bank.votes(bags[0], 0)
    np.testing.assert_array_equal(np.diag(nearest), nearest.max(axis=1))  # none votes more for an exemplar than itself
