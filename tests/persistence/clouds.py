"""Point clouds that come with their death times, and an independent Kruskal to compare with."""

from __future__ import annotations

import itertools
import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

Array: TypeAlias = npt.NDArray[np.floating[Any]]
NORMS = (1.0, 1.5, 2.0, 3.0, math.inf)


def line(p: float) -> tuple[Array, Array]:
    """Gaps 3, 1, 2 along one axis of the plane."""
    return np.array([[0.0, 7], [3, 7], [4, 7], [6, 7]]), np.array([1.0, 2, 3])


def grid(p: float) -> tuple[Array, Array]:
    """Every neighbor at distance one: all merges tie."""
    return np.array([*itertools.product(range(3), range(4))], float), np.ones(11)


def simplex(p: float) -> tuple[Array, Array]:
    """The unit vectors, pairwise at 2^(1/p)."""
    return np.eye(5), np.full(4, 1.0 if p == math.inf else 2 ** (1 / p))


def clusters(p: float) -> tuple[Array, Array]:
    """Two pairs, tight inside and far from each other."""
    return np.array([[0.0], [0.5], [100], [100.25]]), np.array([0.25, 0.5, 99.5])


def one_point(p: float) -> tuple[Array, Array]:
    return np.array([[3.0, 4.0]]), np.empty(0)


def two_points(p: float) -> tuple[Array, Array]:
    return np.array([[0.0, 0], [0, -2]]), np.array([2.0])


def all_equal(p: float) -> tuple[Array, Array]:
    return np.full((6, 3), 0.1), np.zeros(5)


CLOSED_FORMS = (line, grid, simplex, clusters, one_point, two_points, all_equal)

# Eighths are exact in float32, and so are their sums: ties are true ties, and rounding plays no part.
lattices = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 14), st.integers(1, 4)), elements=st.integers(-16, 16).map(lambda k: k / 8)
)


def gaussian(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Points whose pairwise distances are unique with probability one."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def pairwise(cloud: Array, p: float) -> Array:
    return np.asarray(np.linalg.norm(cloud[:, None] - cloud, ord=p, axis=-1))


def kruskal(distances: Array) -> tuple[list[tuple[int, int]], list[float]]:
    """Edges and deaths by sorting all pairs and walking parent pointers; shares no code with any kernel."""
    parent = list(range(len(distances)))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    edges, deaths = [], []
    for i, j in sorted(itertools.combinations(parent, 2), key=lambda edge: (distances[edge], edge)):
        if root(i) != root(j):
            parent[root(j)] = root(i)
            edges.append((i, j))
            deaths.append(float(distances[i, j]))
    return edges, deaths
