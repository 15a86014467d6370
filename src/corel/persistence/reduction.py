"""0-dimensional persistence by matrix reduction: the paper's appendix, step for step.

Slow (a cloud of b points has b(b+1)/2 columns): tests compare the kernels with it, and it shows how the paper's
algorithms work. Indices count from 0 here and from 1 in the paper; a zero column has low −1 in both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Z2Matrix: TypeAlias = npt.NDArray[np.bool_]  # addition in Z₂ is exclusive or
Integers: TypeAlias = npt.NDArray[np.int64]


def filtered_edges(distances: npt.NDArray[np.floating[Any]]) -> Integers:
    """All edges i < j as ``[b(b−1)/2, 2]``, in the order (distance, i, j) in which they enter the complex."""
    i, j = np.triu_indices(len(distances), k=1)
    appearance = np.argsort(distances[i, j], kind="stable")  # stable: equal distances keep the order (i, j)
    return np.stack([i, j], axis=1)[appearance].astype(np.int64)


def boundary_matrix(vertices: int, edges: Integers) -> Z2Matrix:
    """∂ of the filtered 1-skeleton (Definition 1): vertices first, at value 0, then the edges in order.

    Column k holds the boundary of the k-th simplex: nothing for a vertex, its two endpoints for an edge.
    """
    simplices = vertices + len(edges)
    boundary = np.zeros((simplices, simplices), dtype=np.bool_)
    columns = np.arange(vertices, simplices)
    boundary[edges[:, 0], columns] = True
    boundary[edges[:, 1], columns] = True
    return boundary


def low(B: Z2Matrix) -> Integers:
    """Row index of the lowest 1 of every column, −1 where the column is zero.

    ``low(B)[i]`` is the paper's low(B, i). (Its conditions "B[j] ≠ 0" and "B[j] = 0" mean column i.)
    """
    from_below = np.argmax(B[::-1], axis=0)
    return np.where(B.any(axis=0), len(B) - 1 - from_below, -1).astype(np.int64)


def is_reduced(B: Z2Matrix) -> bool:
    """Whether no two non-zero columns share their lowest 1."""
    lows = low(B)
    used = lows[lows >= 0]
    return len(np.unique(used)) == len(used)


def add(B: Z2Matrix, i: int, j: int) -> None:
    """Algorithm 1: B[j] ← B[j] + B[i] over Z₂, in place."""
    B[:, j] ^= B[:, i]


def standard_reduction(boundary: Z2Matrix) -> Z2Matrix:
    """Algorithm 2, the sequential reduction. The input is left as it is.

    The paper prints the loop over i and its body with j. Both mean the column that is being reduced.
    """
    B = boundary.copy()
    for j in range(B.shape[1]):
        while (j0 := _earlier_column_with_equal_low(B, j)) is not None:
            add(B, j0, j)
    return B


def _earlier_column_with_equal_low(B: Z2Matrix, j: int) -> int | None:
    lows = low(B[:, : j + 1])
    # Two zero columns both have low −1. As printed, they match and the loop never ends, so they are left out.
    matches = np.flatnonzero((lows[:j] == lows[j]) & (lows[:j] >= 0))
    return int(matches[0]) if len(matches) else None


def independent_additions(B: Z2Matrix) -> Integers:
    """M(B), as rows (i, j) that mean "add column i to column j"; empty exactly when B is reduced.

    No column is both origin and target (i), and every target has one origin (ii), so the additions may run at
    once. The paper's union over j = 1…n has to range over the rows 1…m, as lows are row indices; zero columns
    (low −1) never match.
    """
    lows = low(B)
    pairs = []
    for row in range(len(B)):
        sharing = np.flatnonzero(lows == row)  # I(B, row); the paper's is empty where it has fewer than two members
        if len(sharing) >= 2:
            pairs += [(sharing[0], target) for target in sharing[1:]]  # μ(B, row) × the others
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def add_parallel(B: Z2Matrix, additions: Integers) -> None:
    """The parallel loop of Algorithm 3: all additions at once, in place, safe by conditions (i) and (ii)."""
    origins, targets = additions[:, 0], additions[:, 1]
    B[:, targets] ^= B[:, origins]


def parallel_reduction(boundary: Z2Matrix) -> Z2Matrix:
    """Algorithm 3, the parallel reduction. The input is left as it is."""
    B = boundary.copy()
    while len(additions := independent_additions(B)):
        add_parallel(B, additions)
    return B


def merge_edges(
    distances: npt.NDArray[np.floating[Any]], reduction: Callable[[Z2Matrix], Z2Matrix] = parallel_reduction
) -> Integers:
    """The merging edges ``[b−1, 2]`` of a cloud, i < j, in death order, read off the reduced boundary matrix.

    An edge whose column survives kills the component of the vertex at its low; one whose column became zero
    closed a loop. ``distances`` is the cloud's symmetric matrix ``[b, b]``.

    >>> line = np.array([0.0, 1.0, 4.0, 6.0])
    >>> merge_edges(abs(line[:, None] - line)).tolist()
    [[0, 1], [2, 3], [1, 2]]
    """
    vertices = len(distances)
    edges = filtered_edges(distances)
    reduced = reduction(boundary_matrix(vertices, edges))
    merges = reduced[:, vertices:].any(axis=0)
    return edges[merges]
