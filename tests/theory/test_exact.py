"""The tight interval, its bounds and what follows from it, against all b-point subsets of small sets."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from corel import merge_edges, theory
from corel.theory._exact import is_vertex_connected

from .test_theory import NORMS, Cloud, clouds


def by_enumeration(points: Cloud, b: int, p: float) -> tuple[float, float]:
    found = [theory.connectivity_interval(points[list(rows)], p) for rows in combinations(range(len(points)), b)]
    return min(alpha for alpha, _ in found), max(beta for _, beta in found)


@given(clouds(largest=8), st.data(), st.sampled_from(NORMS))
def test_the_interval_is_that_of_all_subsets(points: Cloud, data: st.DataObject, p: float) -> None:
    b = data.draw(st.integers(2, len(points)))
    exact = theory.exact_interval(points, b, p)
    assert exact == by_enumeration(points, b, p)
    bounds = theory.beta_bounds(points, b, p)
    assert bounds.lower <= exact.beta <= bounds.upper
    assert theory.is_dense(points, len(points) - b + 1, exact.beta, p)  # Corollary 1


@given(clouds(largest=8), st.data(), st.sampled_from(NORMS))
def test_the_diameter_is_bounded(points: Cloud, data: st.DataObject, p: float) -> None:
    b = data.draw(st.integers(2, len(points)))
    beta = theory.exact_interval(points, b, p).beta
    diameter = theory.exact_interval(points, 2, p).beta  # all pairs are connected at the diameter
    assert diameter <= theory.diameter_bound(len(points), b, beta) * (1 + 1e-12)


def test_the_diameter_bound_is_two_betas_from_2b_minus_3_on() -> None:
    assert [theory.diameter_bound(m, 20, 1.0) for m in (36, 37, 38, 200)] == [3.0, 2.0, 2.0, 2.0]


@settings(max_examples=50, deadline=None)
@given(st.integers(3, 7), st.integers(1, 6), st.integers(0, 2**31))
def test_vertex_connectivity_is_that_of_all_removals(m: int, k: int, seed: int) -> None:
    upper = np.triu(np.random.default_rng(seed).random((m, m)) < 0.7, 1)
    graph = upper | upper.T
    kept = combinations(range(m), max(m - k + 1, 0))  # removing fewer disconnects no more
    survives = k < m and all(connected_components(graph[np.ix_(rows, rows)])[0] == 1 for rows in kept)
    assert is_vertex_connected(graph, k) == survives


@given(st.integers(3, 8), st.sampled_from(["one", "all"]), st.integers(0, 2**31))
def test_the_pairing_is_stable_within_its_radius(m: int, moving: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, steps = rng.normal(size=(m, 2)), rng.normal(size=(m, 2))
    if moving == "one":
        steps[1:] = 0
    radius = theory.stability_radius(points, 2.0, moving=moving)  # type: ignore[arg-type]
    assume(radius > 1e-9)
    moved = points + 0.999 * radius * steps / np.linalg.norm(steps, axis=1).max()
    before, after = (merge_edges(torch.from_numpy(cloud), 2.0).tolist() for cloud in (points, moved))
    assert before == after


def test_equal_distances_have_no_radius_and_two_points_any() -> None:
    assert theory.stability_radius(np.array([[0.0], [1.0], [2.0]])) == 0
    assert theory.stability_radius(np.array([[0.0], [1.0]])) == math.inf


@given(st.lists(st.integers(0, 64), min_size=2, max_size=8), st.lists(st.integers(0, 64), min_size=2, max_size=8))
def test_remark_1_needs_a_density(ts: list[int], ss: list[int]) -> None:
    """Two segments, each with a distribution without atoms: under L1 all distances across are 10, so never unique."""
    first = np.array([(t / 64, 1 - t / 64) for t in ts])
    second = np.array([(5 + s / 64, 6 - s / 64) for s in ss])
    assert (np.abs(first[:, None] - second).sum(-1) == 10).all()
    assert theory.stability_radius(np.concatenate([first, second])) == 0


@pytest.mark.parametrize("b", [1, 4])
def test_a_batch_has_two_points_at_least_and_no_more_than_there_are(b: int) -> None:
    for call in (theory.exact_interval, theory.beta_bounds):
        with pytest.raises(ValueError, match=f"b must be from 2 to the number of points, which is 3, got {b}"):
            call(np.eye(3), b)
