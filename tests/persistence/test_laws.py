"""What persistence promises: isometry, scaling, permutation, stability, and the paper's lemmas about the pairing."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from corel.persistence import barcode, death_times, merge_edges
from tests.persistence.clouds import gaussian, pairwise

shapes = st.tuples(st.integers(2, 20), st.integers(1, 5))
seeds = st.integers(0, 2**31)
norms = st.sampled_from([1.0, 2.0, 3.0, math.inf])


@given(shapes, seeds, norms)
def test_translation_and_reflection_change_nothing(shape: tuple[int, int], seed: int, p: float) -> None:
    points = gaussian(*shape, seed=seed)
    moved = gaussian(shape[1], seed=seed + 1) - points.flip(-1)
    torch.testing.assert_close(death_times(moved, p), death_times(points, p))


@given(shapes, seeds)
def test_rotation_changes_nothing_in_the_euclidean_norm(shape: tuple[int, int], seed: int) -> None:
    points = gaussian(*shape, seed=seed)
    rotation = torch.linalg.qr(gaussian(shape[1], shape[1], seed=seed + 1))[0]
    torch.testing.assert_close(death_times(points @ rotation, p=2), death_times(points, p=2))


@given(shapes, seeds, norms, st.floats(0.01, 100))
def test_scaling_scales_the_deaths(shape: tuple[int, int], seed: int, p: float, scale: float) -> None:
    points = gaussian(*shape, seed=seed)
    torch.testing.assert_close(death_times(scale * points, p), scale * death_times(points, p))


@pytest.mark.parametrize(
    ("p", "exponent", "dtype"),
    [(2.0, -80, "float32"), (2.0, 80, "float32"), (2.0, -900, "float64"), (30.0, -40, "float32"),
     (100.0, -13, "float64"), (100.0, 13, "float64")],
)  # fmt: skip
def test_powers_neither_vanish_nor_overflow(p: float, exponent: int, dtype: str) -> None:
    points = gaussian(3, 20, 3, dtype=getattr(torch, dtype))
    scaled = points * 2.0**exponent  # exact, so that nothing but the powers can go wrong
    assert torch.equal(merge_edges(scaled, p), merge_edges(points, p))
    torch.testing.assert_close(death_times(scaled, p) * 2.0**-exponent, death_times(points, p))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_higher_norms_give_earlier_deaths_down_to_the_maximum(dtype: torch.dtype) -> None:
    points = gaussian(200, 10, dtype=dtype)
    deaths = [death_times(points, p) for p in (1.0, 1.0001, 1.5, 2.0, 3.0, 50.0, 600.0, 1e5, 1e300, math.inf)]
    for lower, higher in itertools.pairwise(deaths):
        assert (higher <= lower * (1 + 1e-5)).all()
    torch.testing.assert_close(deaths[-3], deaths[-1], rtol=1e-4, atol=0)
    torch.testing.assert_close(deaths[1], deaths[0], rtol=1e-3, atol=0)


@pytest.mark.parametrize("p", [1.0, 1.001, 1.5, 2.0, 3.0, math.inf])
def test_points_far_from_the_origin_are_as_finite_as_any(p: float) -> None:
    line = torch.tensor([0.0, 3, 1, 7], dtype=torch.float64)[:, None] * 2.0**-42
    assert torch.equal(death_times(1024 + line, p), torch.tensor([1.0, 2, 4], dtype=torch.float64) * 2.0**-42)


@given(shapes, seeds, norms)
def test_permutation_permutes_the_edges(shape: tuple[int, int], seed: int, p: float) -> None:
    points = gaussian(*shape, seed=seed)
    order = torch.randperm(shape[0], generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(death_times(points[order], p), death_times(points, p))
    renamed = order[merge_edges(points[order], p)].sort(-1).values
    assert torch.equal(renamed, merge_edges(points, p))


@given(shapes, seeds, norms, st.floats(0, 1))
def test_stability(shape: tuple[int, int], seed: int, p: float, h: float) -> None:
    """Moving every point by at most h moves no sorted death time by more than 2h."""
    points = gaussian(*shape, seed=seed)
    step = gaussian(*shape, seed=seed + 1)
    step = h * step / step.norm(p=p, dim=-1, keepdim=True)
    assert (death_times(points + step, p) - death_times(points, p)).abs().max() <= 2 * h + 1e-9


@given(st.integers(2, 8), st.integers(1, 3), seeds)
def test_the_pairing_is_locally_constant(b: int, dimension: int, seed: int) -> None:
    """The appendix's first lemma: no move of one coordinate by less than ξ = μ/2 changes the edges."""
    points = gaussian(b, dimension, seed=seed)
    distances = np.sort(pairwise(points.numpy(), 1)[np.triu_indices(b, 1)])
    mu = np.diff(distances).min() if len(distances) > 1 else 1.0
    moved = points.clone()
    moved[seed % b, seed % dimension] += 0.999 * mu / 2 * (-1) ** (seed % 2)
    assert torch.equal(merge_edges(moved), merge_edges(points))


def test_death_times_are_full_distances_and_the_barcode_halves_them() -> None:
    points = torch.tensor([[0.0, 0.0], [1.0, 2.0]])
    assert death_times(points).tolist() == [3.0]
    bars = barcode(points)
    assert (bars.births.tolist(), bars.deaths.tolist(), bars.pairs.tolist()) == ([0.0], [1.5], [[0, 1]])


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_deaths_ascend_and_belong_to_their_pairs(p: float) -> None:
    points = 1 + 1e-5 * gaussian(4, 50, 6, dtype=torch.float32)
    bars = barcode(points, p)
    assert (bars.deaths.diff(dim=-1) >= 0).all()
    ends = [torch.take_along_dim(points, bars.pairs[..., k, None], -2) for k in (0, 1)]
    torch.testing.assert_close((ends[0] - ends[1]).norm(p=p, dim=-1) / 2, bars.deaths)
