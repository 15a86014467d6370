"""Section 4 of the paper: every statement is tested as it is stated, with all b-point subsets enumerated."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from corel import theory
from corel.backbone import Backbone, shipped

Cloud = npt.NDArray[np.float64]
NORMS = [1.0, 2.0, math.inf]


@st.composite
def clouds(draw: st.DrawFn, smallest: int = 2, largest: int = 9, dimension: int = 3) -> Cloud:
    """Integer points, so that distances are exact; ties and equal points are common."""
    shape = (draw(st.integers(smallest, largest)), draw(st.integers(1, dimension)))
    return draw(hnp.arrays(np.int64, shape, elements=st.integers(-6, 6))).astype(np.float64)


@st.composite
def clouds_with_batch_size(draw: st.DrawFn) -> tuple[Cloud, int]:
    cloud = draw(clouds())
    return cloud, draw(st.integers(2, len(cloud)))


@st.composite
def intervals(draw: st.DrawFn) -> tuple[float, float]:
    low, high = sorted(draw(st.tuples(*[st.floats(0.0, 50.0)] * 2)))
    return low, high


def deaths(cloud: Cloud, p: float = 1.0) -> Cloud:
    """Heights of single linkage: an independent way to the death times."""
    return np.asarray(linkage(pdist(cloud, "minkowski", p=p), "single")[:, 2])


def extremes_over_batches(cloud: Cloud, b: int) -> tuple[float, float]:
    """The statements' premise: the tightest [α, β] that holds the death times of all b-point subsets."""
    found = [deaths(cloud[list(rows)]) for rows in combinations(range(len(cloud)), b)]
    return float(np.min(found)), float(np.max(found))


def largest_separated(cloud: Cloud, eps: float, p: float = 1.0) -> int:
    """Metric entropy by looking at every subset."""
    distances = squareform(pdist(cloud, "minkowski", p=p)) if len(cloud) > 1 else np.zeros((1, 1))
    return max(
        size
        for size in range(len(cloud) + 1)
        for rows in combinations(range(len(cloud)), size)
        if all(distances[pair] >= eps for pair in combinations(rows, 2))
    )


@given(clouds(), st.sampled_from(NORMS))
def test_connectivity_interval_is_tight(cloud: Cloud, p: float) -> None:
    alpha, beta = theory.connectivity_interval(cloud, p)
    assert (alpha, beta) == pytest.approx((deaths(cloud, p).min(), deaths(cloud, p).max()), abs=0)
    assert theory.is_connected_within(cloud, alpha, beta, p)
    assert not theory.is_connected_within(cloud, np.nextafter(alpha, math.inf), beta, p)
    assert not theory.is_connected_within(cloud, alpha, np.nextafter(beta, -math.inf), p)


@given(clouds())
def test_a_set_is_connected_at_radius_half_beta_and_not_before(cloud: Cloud) -> None:
    _, beta = theory.connectivity_interval(cloud)
    assume(beta > 0)
    distances = squareform(pdist(cloud, "cityblock"))
    reachable = np.linalg.matrix_power((distances / 2 <= beta / 2).astype(np.int64), len(cloud)) > 0
    before = np.linalg.matrix_power((distances / 2 < beta / 2).astype(np.int64), len(cloud)) > 0
    assert reachable.all()
    assert not before.all()


@given(clouds_with_batch_size())
def test_lemma_1_and_corollary_1(case: tuple[Cloud, int]) -> None:
    cloud, b = case
    alpha, beta = extremes_over_batches(cloud, b)
    neighbors = theory.guaranteed_neighbors(len(cloud), b)
    assert neighbors == len(cloud) - b + 1
    assert (theory.annulus_counts(cloud, alpha, beta) >= neighbors).all()
    assert theory.is_dense(cloud, neighbors, beta)


@given(clouds())
def test_lemma_1_is_attained_by_pairs(cloud: Cloud) -> None:
    alpha, beta = extremes_over_batches(cloud, 2)
    assert (theory.annulus_counts(cloud, alpha, beta) == theory.guaranteed_neighbors(len(cloud), 2)).all()


@given(clouds(), intervals())
def test_annulus_counts_and_density_count_others_in_closed_sets(cloud: Cloud, interval: tuple[float, float]) -> None:
    alpha, beta = (float(round(bound)) for bound in interval)
    rows = [[np.abs(z - y).sum() for k, y in enumerate(cloud) if k != i] for i, z in enumerate(cloud)]
    assert theory.annulus_counts(cloud, alpha, beta).tolist() == [
        sum(alpha <= distance <= beta for distance in row) for row in rows
    ]
    within_beta = min(sum(distance <= beta for distance in row) for row in rows)
    assert theory.is_dense(cloud, within_beta, beta)
    assert not theory.is_dense(cloud, within_beta + 1, beta)


@given(clouds(smallest=1), st.integers(1, 12), st.sampled_from(NORMS))
def test_metric_entropy_is_the_largest_separated_subset(cloud: Cloud, eps: int, p: float) -> None:
    expected = largest_separated(cloud, eps, p)
    assert theory.metric_entropy(cloud, eps, p) == expected
    assert theory.is_separated(cloud, eps, p) == (expected == len(cloud))


def test_metric_entropy_of_a_few_dozen_points() -> None:
    """A square grid of 8 × 8 points: no two neighbors, so every second one; all, if ε is at most their distance."""
    grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    assert [theory.metric_entropy(grid, eps) for eps in (0.0, 1.0, 1.5, 15.0)] == [64, 64, 32, 1]


@given(clouds_with_batch_size(), st.integers(1, 24))
def test_corollary_2(case: tuple[Cloud, int], eps: int) -> None:
    """More neighbors than the annulus holds ε-separated points: the set is not ε-separated."""
    cloud, b = case
    alpha, beta = extremes_over_batches(cloud, b)
    distances = np.abs(cloud - cloud[0]).sum(1)
    annulus = cloud[(alpha <= distances) & (distances <= beta)]
    if len(cloud) - b + 1 > theory.metric_entropy(annulus, eps):
        assert not theory.is_separated(cloud, eps)


@given(clouds(smallest=5, dimension=2), st.integers(2, 4), st.floats(0.2, 3.0))
def test_equation_5(cloud: Cloud, b: int, eta_over_beta: float) -> None:
    alpha, beta = extremes_over_batches(cloud, b)
    assume(beta > 0)
    eta = eta_over_beta * beta
    n = cloud.shape[1]
    if len(cloud) >= theory.separation_sample_size(alpha, beta, eta, n, b):
        assert not theory.is_separated(cloud, eta)


def test_equation_5_applies_to_some_cases() -> None:
    """Nine integers on a line: from η = 3 on the bound is below 9, so the property above is not empty."""
    line = np.arange(9.0)[:, None]
    alpha, beta = extremes_over_batches(line, 2)
    assert (alpha, beta) == (1.0, 8.0)
    assert theory.separation_sample_size(alpha, beta, 3.0, n=1, b=2) == 8  # ⌊16/3 + 1⌋ − 0 + 2


@given(clouds(dimension=2), intervals(), st.floats(0.5, 12.0), st.sampled_from(NORMS))
def test_lemma_2_bounds_the_entropy_of_points_in_the_annulus(
    cloud: Cloud, interval: tuple[float, float], eps: float, p: float
) -> None:
    norms = np.linalg.norm(cloud, ord=p, axis=1)
    annulus = cloud[(interval[0] <= norms) & (norms <= interval[1])]
    assume(len(annulus) > 0)
    bound = theory.annulus_entropy_bound(*interval, eps, cloud.shape[1])
    assert theory.metric_entropy(annulus, eps, p) <= bound


def test_lemma_2_is_attained_on_the_line() -> None:
    """{−2, −1, 1, 2} is 1-separated in the annulus from 1 to 2: (2·2 + 1) − (2·1 − 1) = 4."""
    points = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    assert theory.metric_entropy(points, 1.0) == theory.annulus_entropy_bound(1.0, 2.0, 1.0, n=1) == 4


@given(intervals(), st.floats(0.01, 100.0), st.integers(1, 12))
def test_lemma_2_as_printed_where_epsilon_is_small_and_void_beyond(
    interval: tuple[float, float], eps: float, n: int
) -> None:
    alpha, beta = interval
    bound = theory.annulus_entropy_bound(alpha, beta, eps, n)
    hole = (2 * alpha / eps - 1) ** n if eps < 2 * alpha else 0.0
    printed = (2 * beta / eps + 1) ** n - hole
    assert bound <= printed * (1 + 1e-9) + 1e-9 * hole
    assert bound + 1 >= printed * (1 - 1e-9) - 1e-9 * hole


def test_bounds_stay_exact_beyond_floating_point() -> None:
    assert theory.annulus_entropy_bound(0.0, 1.0, 1.0, n=1000) == 3**1000
    assert theory.annulus_entropy_bound(1.0, 1.0, 1.0, n=1000) == 3**1000 - 1
    assert theory.separation_sample_size(0.0, 1.0, 1.0, n=1000, b=100) == 3**1000 + 100
    assert theory.largest_batch_size(0.0, 1.0, n=3) == math.inf


@pytest.mark.parametrize(
    ("alpha", "beta", "eta", "size"),
    [(1.9, 2.0, 2.0, 59_148), (1.8, 2.2, 2.0, 112_689), (1.0, 3.0, 2.0, 1_048_676)],
)
def test_equation_5_in_ten_dimensions_as_the_docs_give_it(alpha: float, beta: float, eta: float, size: int) -> None:
    assert theory.separation_sample_size(alpha, beta, eta, n=10, b=100) == size


def test_equation_5_for_the_shipped_encoders_as_the_docs_give_it() -> None:
    for name in shipped():
        backbone = Backbone.load(name)
        for alpha, _, beta in backbone.deaths.astype(float).tolist():
            size = theory.separation_sample_size(alpha, beta, backbone.eta, n=10, b=backbone.batch_size)
            assert 360_000 < size < 560_000


@given(st.integers(2, 5), st.data())
def test_remark_2(b: int, data: st.DataObject) -> None:
    cloud = data.draw(clouds(smallest=2 * b - 1, largest=2 * b - 1))
    alpha, beta = extremes_over_batches(cloud, b)
    assert b <= theory.largest_batch_size(alpha, beta, cloud.shape[1])
    assert cloud.shape[1] >= theory.smallest_dimension(b, alpha, beta)


@pytest.mark.parametrize(("alpha", "beta", "n", "size"), [(1.0, 1.0, 1, 2), (1.0, 2.0, 2, 24), (2.0, 5.0, 3, 215)])
def test_remark_2_as_printed(alpha: float, beta: float, n: int, size: int) -> None:
    assert theory.largest_batch_size(alpha, beta, n) == size == (2 * beta / alpha + 1) ** n - 1


@given(intervals(), st.integers(2, 10**6), st.integers(1, 14))
def test_smallest_dimension_inverts_largest_batch_size(interval: tuple[float, float], b: int, n: int) -> None:
    reaches = theory.largest_batch_size(*interval, n) >= b
    assert reaches == (n >= theory.smallest_dimension(b, *interval))


def simplex(points: int, side: float) -> Cloud:
    """Multiples of unit vectors: every L1 distance equals `side`."""
    return np.eye(points) * side / 2


def test_diagnosis_of_a_simplex_is_known_in_closed_form() -> None:
    latents = np.concatenate([simplex(12, 2.0), simplex(12, 2.3)], axis=1)
    found = theory.diagnose(latents, eta=2.0, branches=2, batch_size=5, batches=7, sample_size=9)
    for summary in (found.lowest, found.mean, found.highest):
        np.testing.assert_allclose(summary, [[2.0] * 3, [2.3] * 3])
    assert found.near_eta.tolist() == [1.0, 0.0]
    assert (found.n, found.batches) == (12, 7)
    for consequences in found.heuristics:
        assert consequences.neighbors == 9 - 5 + 1
        assert consequences.separation_sample_size > 9


def test_diagnosis_of_one_batch_of_all_points_is_single_linkage() -> None:
    latents = np.random.default_rng(3).normal(size=(20, 6))
    found = theory.diagnose(latents, eta=1.0, branches=2, batch_size=20, batches=1)
    for branch, cloud in enumerate((latents[:, :3], latents[:, 3:])):
        expected = deaths(cloud)
        triple = [expected.min(), expected.mean(), expected.max()]
        for summary in (found.lowest, found.mean, found.highest):
            np.testing.assert_allclose(summary[branch], triple)
        assert found.near_eta[branch] == (abs(expected - 1.0) <= 0.1).mean()


@pytest.mark.parametrize(
    "changed",
    [lambda rows: rows[::-1], lambda rows: rows.astype(">i8"), lambda rows: rows.astype(np.int32), torch.from_numpy],
    ids=["negative strides", "byte order", "int32", "int tensor"],
)
def test_integers_and_arrays_of_any_layout_are_points(changed: Callable[[Any], Any]) -> None:
    rows = np.random.default_rng(0).integers(0, 50, (30, 4))
    given = changed(rows)
    plain = np.asarray(given).astype(np.float64, order="C")
    assert theory.connectivity_interval(given) == theory.connectivity_interval(plain)
    assert theory.stability_radius(given) == theory.stability_radius(plain)
    found, wanted = (theory.diagnose(each, branches=2, batch_size=5, sample_size=9) for each in (given, plain))
    assert str(found) == str(wanted)


def test_diagnosis_orders_extremes_and_means_and_repeats_with_its_seed() -> None:
    latents = torch.randn(300, 8, generator=torch.Generator().manual_seed(0))
    found, again = (theory.diagnose(latents, branches=2, batch_size=10, seed=4) for _ in range(2))
    other = theory.diagnose(latents.numpy(), branches=2, batch_size=10, seed=5)
    np.testing.assert_array_equal(found.mean, again.mean)
    assert (found.mean != other.mean).any()
    assert (found.lowest < found.mean).all()
    assert (found.mean < found.highest).all()


@pytest.mark.parametrize("batches", [3, 7, 200])
def test_pairs_have_one_death_time_so_all_three_means_agree(batches: int) -> None:
    latents = np.random.default_rng(2).normal(size=(50, 30))
    found = theory.diagnose(latents, branches=15, batch_size=2, batches=batches)
    for heuristic in found.heuristics:
        assert heuristic.alpha == pytest.approx(heuristic.beta)


def test_the_bounds_of_all_points_hold_their_exact_interval() -> None:
    latents = np.random.default_rng(1).normal(size=(9, 4))
    found = theory.diagnose(latents, branches=2, batch_size=6, batches=5, sample_size=9, exact=True)
    assert found.sets == 1  # there is only one set of all
    for branch, cloud in enumerate((latents[:, :2], latents[:, 2:])):
        assert found.exact_beta is not None
        assert found.exact_beta[branch] == pytest.approx(extremes_over_batches(cloud, 6)[1])
        assert found.beta_bounds[branch].tolist() == pytest.approx(list(theory.beta_bounds(cloud, 6)))
    assert theory.diagnose(latents, batch_size=6, batches=5, sample_size=10).sets == 0


def test_the_table_makes_no_promise_and_marks_bounds_that_do_not_apply() -> None:
    latents = np.random.default_rng(0).normal(size=(200, 40))
    table = str(theory.diagnose(latents, branches=4, batch_size=50, batches=5, sample_size=60))
    assert [line.split()[0] for line in table.splitlines() if line[:6].strip().isdigit()] == list("0123") * 2
    assert "They promise nothing about other sets." in table
    assert "bound all its batches;\n          not reached by m = 60\n" in table
    assert all(line == line.rstrip() for line in table.splitlines())
    small = str(theory.diagnose(latents, branches=4, batch_size=50, batches=5, sample_size=40))
    assert "says nothing, as m < b = 50" in small


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_the_table_shows_latents_of_any_scale_in_columns(scale: float) -> None:
    latents = np.random.default_rng(0).normal(size=(200, 10)) * scale
    found = theory.diagnose(latents, eta=2 * scale, branches=2, batch_size=50, batches=5)
    header, *rows = str(found).splitlines()[2:5]
    assert {len(row) for row in rows} == {len(header)}
    assert all(0.9 < float(row.split()[5]) / found.mean[k, 1] < 1.1 for k, row in enumerate(rows))


def test_the_table_says_where_a_bound_applies() -> None:
    """On the unit interval nine points cannot keep a distance of 2, and Eq. 5 says so."""
    latents = np.random.default_rng(0).uniform(size=(50, 1))
    table = str(theory.diagnose(latents, eta=2.0, batch_size=5, batches=5, sample_size=9))
    assert "reached by m = 9 in 1 of 1 branches" in table


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.connectivity_interval(np.zeros((1, 2))), "points must be at least two"),
        (lambda: theory.is_dense(np.zeros(3), 1, 1.0), r"shape \[m, n\].*\(3,\)"),
        (lambda: theory.is_separated(np.full((2, 2), np.nan), 1.0), "finite"),
        (
            lambda: theory.annulus_entropy_bound(2.0, 1.0, 1.0, 1),
            "beta must be at least alpha = 2.0 and finite, not 1.0",
        ),
        (lambda: theory.annulus_entropy_bound(1.0, 2.0, 0.0, 1), "eps must be positive"),
        (
            lambda: theory.annulus_entropy_bound(1.0, 2.0, 1.0, 0),
            "dimension and must be a whole number from 1 on, not 0",
        ),
        (lambda: theory.largest_batch_size(0.0, math.inf, 1), "beta .* not inf"),
        (lambda: theory.smallest_dimension(1, 1.0, 2.0), "b is the size of a batch and must be at least 2, not 1"),
        (
            lambda: theory.diagnose(np.zeros((5, 2)), batch_size=6),
            "latents are 5, fewer than a batch of 6; give more",
        ),
        (lambda: theory.diagnose(np.zeros((5, 2)), batch_size=3, batches=0), "batches must be at least 1, got 0"),
        (
            lambda: theory.diagnose(np.array([[0.0] * 4] * 7 + [[0, 0, math.nan, 0]]), branches=2, batch_size=3),
            "latent 7 has NaN or infinity in branch 1",
        ),
        (lambda: theory.connectivity_interval(np.zeros((3, 2)), p=0.5), "p must be a real number from 1 to infinity"),
        (lambda: theory.annulus_entropy_bound(1.0, 2.0, 1.0, 2.5), "a whole number from 1 on, not 2.5"),  # type: ignore[arg-type]
    ],
)
def test_bad_arguments_are_clear_errors(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
