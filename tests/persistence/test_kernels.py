"""Every kernel finds the same edges: closed forms, an independent Kruskal, ripser and gudhi."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable

import gudhi
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from ripser import ripser
from torch import Tensor

from corel.persistence import (
    boruvka,
    death_times,
    merge_edges,
    ops,
    prim,
    reduction,
)
from corel.persistence.simd import lanes
from corel.persistence.simd.vectors import LANES
from tests.persistence.clouds import CLOSED_FORMS, NORMS, Array, gaussian, kruskal, lattices, pairwise


def by_numba(points: Tensor, p: float) -> Tensor:
    return merge_edges(points, p)


def by_lanes(points: Tensor, p: float) -> Tensor:
    """Sixteen clouds and one more: where p = 1 and floats are short, sixteen are worked on together, one by itself."""
    clouds = torch.stack([points + 3 * k for k in range(LANES + 1)])
    return merge_edges(clouds, p)[LANES // 2]


def by_torch(points: Tensor, p: float) -> Tensor:
    return ops._by_torch(points[None], p)[0]


def by_distances(points: Tensor, p: float) -> Tensor:
    return merge_edges(distances=boruvka.pairwise(points[None], p)[0])


def by_reduction(points: Tensor, p: float) -> Tensor:
    return torch.as_tensor(reduction.merge_edges(boruvka.pairwise(points[None], p)[0].double().numpy()))


KERNELS = (by_numba, by_lanes, by_torch, by_distances, by_reduction)


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("cloud", CLOSED_FORMS)
def test_closed_forms(
    cloud: Callable[[float], tuple[Array, Array]],
    kernel: Callable[[Tensor, float], Tensor],
    dtype: torch.dtype,
    p: float,
) -> None:
    points, deaths = cloud(p)
    edges = kernel(torch.as_tensor(points, dtype=dtype), p).numpy()
    assert edges.dtype == np.int64
    assert (edges[:, 0] < edges[:, 1]).all()
    lengths = pairwise(points, p)[edges[:, 0], edges[:, 1]]
    np.testing.assert_allclose(lengths, deaths, rtol=1e-6)


@given(lattices, st.sampled_from([1.0, 2.0, math.inf]), st.sampled_from([torch.float32, torch.float64]))
def test_every_kernel_breaks_ties_alike(points: Array, p: float, dtype: torch.dtype) -> None:
    cloud = torch.as_tensor(points, dtype=dtype)
    sums = pairwise(points, p) ** (2 if p == 2 else 1)
    expected = kruskal(np.round(sums, 9))[0]
    for kernel in KERNELS:
        assert [*map(tuple, kernel(cloud, p).tolist())] == expected


@given(st.integers(1, 40), st.integers(1, 6), st.sampled_from(NORMS), st.integers(0, 2**31))
def test_edges_are_kruskals_where_distances_are_unique(b: int, dimension: int, p: float, seed: int) -> None:
    points = gaussian(b, dimension, seed=seed)
    assert [*map(tuple, merge_edges(points, p).tolist())] == kruskal(pairwise(points.numpy(), p))[0]


@given(lattices)
def test_deaths_are_those_of_ripser_and_gudhi(points: Array) -> None:
    ours = death_times(torch.as_tensor(points)).numpy()
    distances = pairwise(points, 1)
    rips = gudhi.RipsComplex(distance_matrix=distances).create_simplex_tree(max_dimension=1)
    rips.compute_persistence(min_persistence=-1)
    theirs = rips.persistence_intervals_in_dimension(0)[:, 1]
    np.testing.assert_allclose(np.sort(theirs[np.isfinite(theirs)]), ours, atol=1e-6)
    if len(points) > 1:
        bars = ripser(distances, maxdim=0, distance_matrix=True)["dgms"][0][:, 1]
        with_a_length = ours[ours > 0]  # ripser drops the others
        np.testing.assert_allclose(np.sort(bars[np.isfinite(bars)]), with_a_length, atol=1e-6)


@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("clouds", [8, 2 * LANES + 8])
def test_kernels_round_alike_to_the_last_bit(clouds: int, dtype: torch.dtype, p: float) -> None:
    """Nearly tied distances: the order would differ if sums were taken in another order anywhere."""
    points = (1 + 1e-6 * gaussian(clouds, 60, 7, seed=3)).to(dtype)
    assert torch.equal(merge_edges(points, p), boruvka.merge_edges(boruvka.pairwise(points, p)))


@pytest.mark.parametrize("b", [15, 16, 17, 18, 33, 257, 1500])
def test_sizes_around_the_vector_width(b: int) -> None:
    points = gaussian(2, b, 10, seed=b, dtype=torch.float32)
    assert torch.equal(merge_edges(points), boruvka.merge_edges(boruvka.pairwise(points, 1)))


@pytest.mark.parametrize("b", [1, 2, 3, 40])
@pytest.mark.parametrize("n", [LANES - 1, LANES, LANES + 1, 2 * LANES, 3 * LANES + 5])
def test_many_clouds_are_as_each_by_itself(n: int, b: int) -> None:
    points = gaussian(n, b, 3, seed=n, dtype=torch.float32).mul(2).round()  # ties abound
    assert torch.equal(merge_edges(points), torch.stack([merge_edges(cloud) for cloud in points]))
    edges, lengths = ops.edges_and_powers(points.numpy(), 1.0, in_order=False)
    np.testing.assert_array_equal(np.sort(lengths), death_times(points).numpy())
    pairs = zip(edges.tolist(), merge_edges(points).tolist(), strict=True)
    assert all(sorted(ours) == sorted(expected) for ours, expected in pairs)


@pytest.mark.parametrize("dimension", [1, 3, 33])
@pytest.mark.parametrize("b", [2, 16, 17, 18, 32, 33, 34, 65])
def test_lanes_equal_the_kernel_without_lanes(b: int, dimension: int) -> None:
    for cloud in (gaussian(1, b, dimension), gaussian(1, b, dimension).round()):
        expected = merge_edges(cloud.float().double())  # which is not for lanes; nor is rounding at issue here
        assert torch.equal(merge_edges(cloud.float()), expected)


def test_an_array_in_another_memory_order_goes_to_the_plain_kernel() -> None:
    points = gaussian(LANES, 9, 3, dtype=torch.float32).numpy()
    edges, _, _ = prim.merge_edges(np.asfortranarray(points), 1.0)
    np.testing.assert_array_equal(edges, prim.merge_edges(points, 1.0)[0])


def test_clouds_too_large_for_a_lane_go_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    points = gaussian(LANES, 12, 3, dtype=torch.float32)
    together = merge_edges(points)
    monkeypatch.setattr(lanes, "MOST_POINTS", 11)
    monkeypatch.setattr(lanes, "_by_sixteen", None)
    assert torch.equal(merge_edges(points), together)


def test_leading_dimensions_are_clouds_of_their_own() -> None:
    points = gaussian(2, 0, 5, 3), gaussian(2, 3, 5, 3)
    assert merge_edges(points[0]).shape == (2, 0, 4, 2)
    assert torch.equal(merge_edges(points[1])[1, 2], merge_edges(points[1][1, 2]))


CAPPED = """
import pathlib, resource
import numpy, torch
from corel import merge_edges

points = torch.randn(20_000, 2)
merge_edges(points[:50])  # compile first
used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 100_000_000, resource.RLIM_INFINITY))
merge_edges(points)
try:
    numpy.empty((20_000, 20_000), numpy.float32)
except MemoryError:
    raise SystemExit("as it should be")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to its address space")
def test_memory_stays_linear_in_the_points() -> None:
    """20,000 points are worked on with 100 MB of address space to spare; their distance matrix would need 1.6 GB."""
    process = subprocess.run([sys.executable, "-c", CAPPED], capture_output=True, text=True, check=False)
    assert process.stderr == "as it should be\n"


@pytest.mark.parametrize("p", NORMS)
def test_distances_are_symmetric_to_the_last_number(p: float) -> None:
    """The 972 numbers end with some that fill no vector register, whose powers may be rounded by other code."""
    lattice = torch.from_numpy(np.random.default_rng(0).integers(-2, 3, (3, 18, 11)) / 10).float()
    distances = boruvka.pairwise(lattice, p)
    assert torch.equal(distances, distances.mT)


def test_the_dispatcher_uses_torch_where_there_is_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The meta device stands for any other one as far as the choice goes; no value is computed on it."""
    chosen: list[str] = []
    monkeypatch.setattr(ops, "refuse_non_finite", lambda clouds: None)
    monkeypatch.setattr(ops, "_by_torch", lambda clouds, p: chosen.append(str(clouds.device)))
    ops._of_points(torch.empty(1, 3, 2, device="meta"), 1.0)
    assert chosen == ["meta"]
