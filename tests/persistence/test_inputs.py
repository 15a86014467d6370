"""Bad input is refused with a sentence that names the place and the fix."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from corel.persistence import barcode, death_times, merge_edges, ops, plot_barcode
from tests.persistence.clouds import gaussian


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
def test_the_first_bad_point_is_named(value: float, p: float) -> None:
    points = gaussian(3, 400, 4)
    points[1, 17, 2] = points[2, 0, 0] = value
    with pytest.raises(ValueError, match=r"cloud 1, point 17 .* NaN or infinite"):
        death_times(points, p)


def test_a_bad_distance_is_named() -> None:
    distances = torch.zeros(2, 4, 4)
    distances[1, 2, 3] = distances[1, 3, 2] = math.nan
    with pytest.raises(ValueError, match="cloud 1, point 2"):
        death_times(distances=distances)


def test_the_diagonal_is_ignored() -> None:
    distances = torch.tensor([[math.inf, 1.0, 4.0], [1.0, -7.0, 3.0], [4.0, 3.0, math.nan]])
    assert merge_edges(distances=distances).tolist() == [[0, 1], [1, 2]]
    assert death_times(distances=distances).tolist() == [1.0, 3.0]


def test_huge_distances_do_not_overflow_on_the_way() -> None:
    distances = torch.tensor([[0.0, 3e38], [3e38, 0.0]])
    assert death_times(distances=distances).item() == pytest.approx(3e38)


@pytest.mark.parametrize("p", [10.0, 30.0])
def test_a_high_power_of_a_short_distance_does_not_vanish(p: float) -> None:
    points = 1e-4 * gaussian(12, 3, dtype=torch.float32)
    expected = death_times(points.double() * 1e4, p) * 1e-4
    torch.testing.assert_close(death_times(points, p).double(), expected, rtol=1e-5, atol=0)


def test_distances_that_overflow_are_refused() -> None:
    points = torch.tensor([[[-3e38], [3e38]]])
    with pytest.raises(ValueError, match=r"cloud 0 overflow torch.float32; rescale .* torch.float64"):
        merge_edges(points)
    assert merge_edges(points.double()).tolist() == [[[0, 1]]]


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, math.inf])
def test_a_length_that_overflows_is_refused_in_every_norm(p: float) -> None:
    with pytest.raises(ValueError, match=r"cloud 1 overflow torch.float32"):
        death_times(torch.tensor([[[0.0, 0], [1, 1]], [[-3e38, -3e38], [3e38, 3e38]]]), p)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, math.inf])
def test_a_cloud_wider_than_any_float_has_finite_deaths(p: float) -> None:
    line = 6e37 * torch.arange(-5.0, 6)[:, None]
    torch.testing.assert_close(death_times(line, p), torch.full((10,), 6e37))


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_a_coordinate_that_never_changes_does_not_count_however_large(p: float) -> None:
    points = gaussian(12, 3, dtype=torch.float32)
    points[:, 1] = 0
    expected = death_times(points, p)
    points[:, 1] = -3e38
    assert torch.equal(death_times(points, p), expected)


@pytest.mark.parametrize("find", [merge_edges, lambda points, p: ops._by_torch(points[None], p)[0]])
@pytest.mark.parametrize("p", [1.0, 1.5])
def test_an_overflow_of_an_edge_that_merges_nothing_is_allowed(
    find: Callable[[Tensor, float], Tensor], p: float
) -> None:
    corner = torch.tensor([[0.0, 0], [3e38, 0], [3e38, 3e38]])
    assert find(corner, p).tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("value", [math.nan, -math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_found_among_many_clouds(value: float) -> None:
    points = gaussian(40, 7, 3, dtype=torch.float32)
    points[21, 5, 1] = value
    with pytest.raises(ValueError, match="cloud 21, point 5 has"):
        merge_edges(points)


def test_an_overflow_is_found_among_many_clouds() -> None:
    points = gaussian(40, 7, 3, dtype=torch.float32)
    points[21, :, 1] = 3e38 * points[21, :, 1].sign()
    with pytest.raises(ValueError, match="cloud 21 overflow"):
        merge_edges(points)


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"points": torch.zeros(3)}, ValueError, r"\[..., b, D\] .* not \[3\]"),
        ({"points": torch.zeros(0, 2)}, ValueError, r"b ≥ 1 points .* not \[0, 2\]"),
        ({"points": torch.zeros(2, 0)}, ValueError, r"D ≥ 1 dimensions, not \[2, 0\]"),
        ({"points": torch.zeros(2, 2, dtype=torch.int64)}, TypeError, r"use points.float\(\)"),
        ({"points": torch.zeros(2, 2, dtype=torch.complex64)}, TypeError, "must be floating point"),
        ({"points": [[0.0], [1.0]]}, TypeError, r"use torch.as_tensor"),
        ({}, TypeError, "not NoneType"),
        ({"points": torch.zeros(2, 2), "p": 0.5}, ValueError, "below 1 it is no norm"),
        ({"points": torch.zeros(2, 2), "p": math.nan}, ValueError, "from 1 to infinity, not nan"),
        (
            {"points": torch.zeros(2, 2), "distances": torch.zeros(2, 2)},
            TypeError,
            "distances must be left out where points are given",
        ),
        ({"distances": torch.zeros(2, 3)}, ValueError, r"\[..., b, b\] .* not \[2, 3\]"),
        ({"distances": torch.tensor([[0.0, -1.0], [-1.0, 0.0]])}, ValueError, "negative entry: .* similarities"),
        ({"distances": torch.tensor([[0.0, 1.0], [2.0, 0.0]])}, ValueError, r"not symmetric: pass \(d \+ d.mT\) / 2"),
    ],
)
def test_error_messages(arguments: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        merge_edges(**arguments)


@pytest.mark.parametrize("shape", [(0, 5, 2), (3, 1, 2), (0, 1, 1)])
def test_zero_size_results(shape: tuple[int, ...]) -> None:
    assert death_times(torch.zeros(shape)).shape == (*shape[:-2], shape[-2] - 1)
    assert merge_edges(torch.zeros(shape)).shape == (*shape[:-2], shape[-2] - 1, 2)


def test_layout_and_gradient_do_not_matter() -> None:
    points = gaussian(4, 3, 20)
    expected = merge_edges(points.mT.contiguous())
    assert torch.equal(merge_edges(points.mT), expected)
    assert torch.equal(merge_edges(points.mT.requires_grad_()), expected)
    assert torch.equal(merge_edges(points.mT.expand(2, 4, 20, 3))[1], expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_computed_in_float32(dtype: torch.dtype) -> None:
    points = gaussian(2, 10, 3).to(dtype)
    assert torch.equal(death_times(points), death_times(points.float()))


def test_a_barcode_is_drawn_bar_by_bar() -> None:
    points = gaussian(8, 2)
    axes = plot_barcode(points, eta=2.0)
    (bars,) = (c for c in axes.collections if len(c.get_paths()) == 7)
    assert sorted(np.asarray(path.vertices)[1, 0] for path in bars.get_paths()) == barcode(points).deaths.tolist()
    assert plot_barcode(barcode(points), ax=axes) is axes
    with pytest.raises(ValueError, match=re.escape("bars must be of one cloud, got [2, 7]")):
        plot_barcode(gaussian(2, 8, 2))


def test_a_negative_zero_is_a_zero() -> None:
    similarity = torch.tensor([[1, 0.5, 0.2, 1], [0.5, 1, 0.3, 0.5], [0.2, 0.3, 1, 0.2], [1, 0.5, 0.2, 1]])
    distances = -similarity.log()
    assert torch.equal(merge_edges(distances=distances), merge_edges(distances=distances.abs()))
    assert merge_edges(distances=distances).tolist() == [[0, 3], [0, 1], [1, 2]]


def test_symmetry_is_checked_relative_to_each_matrix() -> None:
    skew = torch.tensor([[[0.0, 1], [50, 0]], [[0, 1e6], [1e6, 0]]])
    with pytest.raises(ValueError, match="not symmetric"):
        merge_edges(distances=skew)


@pytest.mark.parametrize("p", ["1", None, 1j, 1 + 0j, torch.tensor(1.0), torch.tensor(2.0)])
def test_a_norm_is_a_number(p: Any) -> None:
    with pytest.raises(ValueError, match="p must be a real number from 1 to infinity"):
        death_times(torch.zeros(2, 2), p)


def test_sparse_tensors_are_refused() -> None:
    with pytest.raises(TypeError, match=r"use points.to_dense\(\)"):
        death_times(torch.eye(3).to_sparse())
    with pytest.raises(TypeError, match=r"use distances.to_dense\(\)"):
        death_times(distances=torch.eye(3).to_sparse())


def test_distances_rounded_to_below_zero_count_as_zero() -> None:
    """One less cosines, of which two are equal, has entries a little below zero."""
    distances = torch.tensor([[0.0, -1e-7, 1], [-1e-7, 0, 1], [1, 1, 0]])
    assert merge_edges(distances=distances).tolist() == [[0, 1], [0, 2]]
    assert death_times(distances=distances).tolist() == [0, 1]


@pytest.mark.parametrize(("dtype", "ratio"), [(torch.float32, 1e-37), (torch.float64, 1e-300)])
def test_squared_gaps_stay_distinct_within_the_documented_range(dtype: torch.dtype, ratio: float) -> None:
    largest = 1e36 if dtype == torch.float32 else 1e150
    gap = largest * ratio
    points = torch.tensor([[0.0, 0.0], [gap, 0.0], [3 * gap, 0.0], [largest, 0.0]], dtype=dtype)
    expected = torch.tensor([gap, 2 * gap, largest], dtype=dtype)
    torch.testing.assert_close(death_times(points, p=2), expected, rtol=1e-4, atol=0)
