"""The appendix's claims about Algorithms 2 and 3, and agreement with an independent Kruskal."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from corel.persistence import reduction

Z2_MATRICES = hnp.arrays(np.bool_, st.tuples(st.integers(1, 10), st.integers(1, 12)))
# Small integers, so that ties and duplicate points are common and every distance is exact.
CLOUDS = hnp.arrays(np.int64, st.tuples(st.integers(1, 9), st.integers(1, 3)), elements=st.integers(-4, 4))


def l1_distances(cloud: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.asarray(np.abs(cloud[:, None] - cloud).sum(-1), dtype=np.float64)


def kruskal(distances: npt.NDArray[np.float64]) -> list[list[int]]:
    """Merging edges by union of explicit sets, in the order (distance, i, j)."""
    b = len(distances)
    component = {i: {i} for i in range(b)}
    merging = []
    for i, j in sorted(combinations(range(b), 2), key=lambda edge: (distances[edge], edge)):
        if component[i] is not component[j]:
            component[i] |= component[j]
            component.update(dict.fromkeys(component[i], component[i]))
            merging.append([i, j])
    return merging


def lowest_one(column: npt.NDArray[np.bool_]) -> int:
    return max((row for row in range(len(column)) if column[row]), default=-1)


def reduced_prefix(B: npt.NDArray[np.bool_]) -> int:
    """The largest l such that the first l columns are reduced."""
    seen: set[int] = set()
    for j, column in enumerate(B.T):
        lowest = lowest_one(column)
        if lowest in seen:
            return j
        seen |= {lowest} - {-1}
    return len(B.T)


@given(Z2_MATRICES)
def test_low_is_the_last_row_with_a_one(B: npt.NDArray[np.bool_]) -> None:
    assert reduction.low(B).tolist() == [lowest_one(column) for column in B.T]


@given(Z2_MATRICES)
def test_no_column_is_origin_and_target_and_every_target_has_one_origin(B: npt.NDArray[np.bool_]) -> None:
    origins, targets = reduction.independent_additions(B).T.tolist()
    assert not set(origins) & set(targets)  # condition (i)
    assert len(set(targets)) == len(targets)  # condition (ii)
    assert all(i < j for i, j in zip(origins, targets, strict=True))  # left to right


@given(Z2_MATRICES)
def test_no_additions_remain_exactly_when_the_matrix_is_reduced(B: npt.NDArray[np.bool_]) -> None:
    assert (len(reduction.independent_additions(B)) == 0) == reduction.is_reduced(B)
    assert reduction.is_reduced(B) == (reduced_prefix(B) == B.shape[1])


def test_additions_range_over_all_rows_of_a_tall_matrix() -> None:
    tall = np.zeros((5, 2), dtype=np.bool_)
    tall[4] = True  # row 5 lies beyond the paper's union over j = 1…n = 2
    assert reduction.independent_additions(tall).tolist() == [[0, 1]]


@given(Z2_MATRICES)
def test_parallel_additions_equal_sequential_ones_in_any_order(B: npt.NDArray[np.bool_]) -> None:
    additions = reduction.independent_additions(B)
    at_once, backwards = B.copy(), B.copy()
    reduction.add_parallel(at_once, additions)
    for i, j in additions[::-1].tolist():
        reduction.add(backwards, i, j)
    np.testing.assert_array_equal(at_once, backwards)


@given(Z2_MATRICES)
def test_termination(boundary: npt.NDArray[np.bool_]) -> None:
    """The appendix's last lemma: the reduced prefix stays and the column after it sinks, so the loop ends."""
    B = boundary.copy()
    iterations, limit = 0, (reduction.low(B) + 1).sum()  # a column can sink once per row at or above its low
    while len(additions := reduction.independent_additions(B)):
        prefix = reduced_prefix(B)
        before, lowest = B[:, :prefix].copy(), lowest_one(B[:, prefix])
        reduction.add_parallel(B, additions)
        np.testing.assert_array_equal(B[:, :prefix], before)
        assert lowest_one(B[:, prefix]) < lowest
        iterations += 1
        assert iterations <= limit
    assert reduction.is_reduced(B)


@given(Z2_MATRICES)
def test_both_algorithms_reduce_to_equal_lows(boundary: npt.NDArray[np.bool_]) -> None:
    original = boundary.copy()
    standard, parallel = reduction.standard_reduction(boundary), reduction.parallel_reduction(boundary)
    assert reduction.is_reduced(standard)
    assert reduction.is_reduced(parallel)
    assert reduction.low(standard).tolist() == reduction.low(parallel).tolist()
    np.testing.assert_array_equal(boundary, original)


@given(CLOUDS)
def test_boundary_of_a_boundary_is_zero_and_edges_are_filtered(cloud: npt.NDArray[np.int64]) -> None:
    distances = l1_distances(cloud)
    edges = reduction.filtered_edges(distances)
    boundary = reduction.boundary_matrix(len(cloud), edges).astype(np.int64)
    assert not (boundary @ boundary % 2).any()
    assert boundary.sum(axis=0).tolist() == [0] * len(cloud) + [2] * len(edges)
    keys = [(distances[i, j], i, j) for i, j in edges.tolist()]
    assert keys == sorted(keys)


@given(CLOUDS)
def test_merging_edges_equal_kruskal(cloud: npt.NDArray[np.int64]) -> None:
    distances = l1_distances(cloud)
    expected = kruskal(distances)
    assert len(expected) == len(cloud) - 1
    for algorithm in (reduction.standard_reduction, reduction.parallel_reduction):
        edges = reduction.merge_edges(distances, algorithm)
        assert edges.dtype == np.int64
        assert edges.shape == (len(cloud) - 1, 2)
        assert edges.tolist() == expected


@pytest.mark.parametrize("b", [1, 2, 20])
def test_a_line_merges_neighbors_in_order_of_their_gaps(b: int) -> None:
    gaps = np.random.default_rng(0).permutation(b - 1) + 1.0
    line = np.concatenate([[0.0], gaps.cumsum()])
    edges = reduction.merge_edges(abs(line[:, None] - line))
    assert edges.tolist() == [[i, i + 1] for i in np.argsort(gaps)]
