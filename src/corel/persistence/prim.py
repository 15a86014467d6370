"""Merging edges on the CPU: Prim's algorithm on the dense distance graph, which is never stored.

The merging edges of 0-dimensional Vietoris–Rips persistence are the edges of the minimum spanning tree. Prim's tree
grows by one vertex a step; only the distances from that vertex to those still outside are computed, one row of numbers
that vectorizes, so that memory is O(b·D) at any size.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from corel._compute.jit import jit, subkernel
from corel._compute.threads import run_chunks
from corel.persistence import simd

Array: TypeAlias = npt.NDArray[Any]
Scalar: TypeAlias = Any  # a number of the width that the kernel is compiled for
PRECOMPUTED = 0.0  # in place of p: the cloud is its own symmetric distance matrix
_VECTOR = 16  # loops run over whole vector registers; the slots beyond the last vertex lie at infinity
_INFINITY: dict[Any, Any] = {
    np.dtype(np.float32): np.int32(0x7F800000),
    np.dtype(np.float64): np.int64(0x7FF0000000000000),
}


def merge_edges(clouds: Array, p: float, *, in_order: bool = True) -> tuple[Array, Array, int]:
    """Edges ``[n, b-1, 2]`` in death order of ``clouds [n, b, D]``, their powers, and the first trouble met, or 0.

    The power of an edge is what the kernel orders by: its length, squared for p = 2.
    Trouble k > 0 is a value that is not finite in point k - 1, counted through all clouds; trouble k < 0 is an overflow
    of the distances in cloud -k - 1. With `in_order=False` edges stay in Prim's order, which saves the sort.
    """
    n, b, dimension = clouds.shape
    edges, powers = np.empty((n, b - 1, 2), np.int64), np.empty((n, b - 1), clouds.dtype)

    def merge(start: int, stop: int) -> Any:
        trouble = _merge(clouds[start:stop], p, start, edges[start:stop], powers[start:stop])
        if in_order and not trouble:
            _sort(edges[start:stop], powers[start:stop].view(_INFINITY[powers.dtype].dtype))
        return trouble

    troubles = run_chunks(merge, n, work=n * b * b * dimension / 2, grain=2e6)
    return edges, powers, next((trouble for trouble in troubles if trouble), 0)


def _merge(clouds: Array, p: float, first: int, edges: Array, powers: Array) -> Any:
    """Write edges and powers in Prim's order, by vector instructions for p = 1 on float32 while all is finite."""
    done = simd.merge_edges(clouds, edges, powers) if p == 1 else 0
    if done == len(clouds):
        return 0
    return merge_plainly(clouds[done:], p, first + done, edges[done:], powers[done:])


def merge_plainly(clouds: Array, p: float, first: int, edges: Array, powers: Array) -> Any:
    """Write edges and powers in Prim's order by plain numba; returns the trouble, clouds counted from `first`."""
    return _prim(clouds, p, _INFINITY[clouds.dtype], first, edges, powers)


@jit
def _prim(clouds: Array, p: float, infinity: Scalar, first: int, edges: Array, powers: Array) -> Scalar:
    n, b, dimension = clouds.shape
    slots = b + _VECTOR
    coordinates = np.empty((dimension, slots), clouds.dtype)  # of the vertices outside the tree, one row per coordinate
    joined = np.empty(dimension, clouds.dtype)  # the vertex that joined last
    row = np.empty(slots, clouds.dtype)
    # Non-negative floats order like the integers of the same bits, whose minimum vectorizes.
    best = np.full(slots, infinity)
    bits = row.view(best.dtype)
    parent = np.empty(slots, np.int32)
    vertex = np.empty(slots, np.int32)
    for k in range(n):
        bad = _load(clouds[k], coordinates, joined, vertex)
        if bad >= 0:
            return (first + k) * b + bad + 1
        best[:] = infinity
        parent[:] = 0
        deaths = powers[k].view(best.dtype)
        new: Scalar = np.int32(0)
        for step in range(b - 1):
            last = b - 2 - step
            outside = (last + _VECTOR) & -_VECTOR
            _distances(coordinates, joined, new, outside, p, row)
            death = _offer(bits, new, outside, best, parent)
            if death >= infinity:
                return -(first + k) - 1
            chosen = _closest(best, parent, vertex, outside, death)
            new = vertex[chosen]
            deaths[step] = death
            edges[k, step, 0] = min(new, parent[chosen])
            edges[k, step, 1] = max(new, parent[chosen])
            _move_into_tree(chosen, last, infinity, coordinates, joined, best, parent, vertex)
    return 0


@subkernel
def _load(cloud: Array, coordinates: Array, joined: Array, vertex: Array) -> Scalar:
    """Start with vertex 0 in the tree and the others outside. Return the first point that is not finite, or -1."""
    finite = True
    for value in cloud.ravel():
        finite &= np.isfinite(value)
    if not finite:
        return np.argmin(np.isfinite(cloud.ravel())) // cloud.shape[1]
    joined[:] = cloud[0]
    coordinates[:, cloud.shape[0] - 1 :] = np.inf
    for v in range(cloud.shape[0] - 1):
        vertex[v] = v + 1
        for d in range(cloud.shape[1]):
            coordinates[d, v] = cloud[v + 1, d]
    return -1


@subkernel
def _distances(coordinates: Array, joined: Array, new: Scalar, outside: int, p: float, row: Array) -> None:
    """‖·‖_p, squared for p = 2, summed coordinate by coordinate as in every kernel."""
    if p == PRECOMPUTED:
        for v in range(outside):
            row[v] = coordinates[new, v]
        return
    if p != 1 and p != 2 and p != np.inf:
        _norms(coordinates, joined, outside, p, row)
        return
    for v in range(outside):
        row[v] = 0
    whole = len(joined) // 5 * 5 if p == 1 else 0
    for d in range(0, whole, 5):  # five coordinates a pass: a branch has 10 or 5, and the sums stay in registers
        a, b, c, e, f = joined[d], joined[d + 1], joined[d + 2], joined[d + 3], joined[d + 4]
        for v in range(outside):
            near = row[v] + abs(coordinates[d, v] - a) + abs(coordinates[d + 1, v] - b) + abs(coordinates[d + 2, v] - c)
            row[v] = near + abs(coordinates[d + 3, v] - e) + abs(coordinates[d + 4, v] - f)
    for d in range(whole, len(joined)):
        center, coordinate = joined[d], coordinates[d]
        if p == 1:
            for v in range(outside):
                row[v] += abs(coordinate[v] - center)
        elif p == 2:
            for v in range(outside):
                row[v] += (coordinate[v] - center) * (coordinate[v] - center)
        else:
            for v in range(outside):
                row[v] = max(row[v], abs(coordinate[v] - center))


@subkernel
def _norms(coordinates: Array, joined: Array, outside: int, p: float, row: Array) -> None:
    """‖·‖_p for any p. Dividing by the largest gap first keeps powers from overflowing and from vanishing."""
    power, root = row.dtype.type(p), row.dtype.type(1 / p)
    for v in range(outside):
        largest, total = row.dtype.type(0), row.dtype.type(0)
        for d in range(len(joined)):
            largest = max(largest, abs(coordinates[d, v] - joined[d]))
        if 0 < largest < np.inf:
            for d in range(len(joined)):
                total += (abs(coordinates[d, v] - joined[d]) / largest) ** power
            largest *= total**root
        row[v] = largest


@subkernel
def _offer(distances: Array, new: Scalar, outside: int, best: Array, parent: Array) -> Scalar:
    """Update the shortest edge into the tree of every vertex outside; return the shortest of all."""
    shortest = best[0]
    for v in range(outside):
        distance, known, tree = distances[v], best[v], parent[v]
        # For a fixed v, edges of equal length order like their other endpoint.
        closer = (distance < known) | ((distance == known) & (new < tree))
        known = distance if closer else known
        best[v] = known
        parent[v] = new if closer else tree
        shortest = min(shortest, known)
    return shortest


@subkernel
def _closest(best: Array, parent: Array, vertex: Array, outside: int, shortest: Scalar) -> Scalar:
    """Find the vertex outside with the shortest edge; among equals the one whose edge has the smallest (i, j)."""
    last, equals = np.int32(-1), np.int32(0)
    for v in range(outside):
        hit = best[v] == shortest
        last = max(last, np.int32(v) if hit else np.int32(-1))
        equals += np.int32(1) if hit else np.int32(0)
    if equals == 1:
        return last
    chosen, low, high = -1, 0, 0
    for v in range(outside):
        if best[v] == shortest:
            i, j = min(vertex[v], parent[v]), max(vertex[v], parent[v])
            if chosen < 0 or i < low or (i == low and j < high):
                chosen, low, high = v, i, j
    return chosen


@subkernel
def _move_into_tree(
    chosen: int,
    last: int,
    infinity: Scalar,
    coordinates: Array,
    joined: Array,
    best: Array,
    parent: Array,
    vertex: Array,
) -> None:
    """Remove the chosen vertex from those outside; the last one moves to its slot, so that they stay contiguous."""
    for d in range(len(joined)):
        joined[d] = coordinates[d, chosen]
        coordinates[d, chosen] = coordinates[d, last]
        coordinates[d, last] = np.inf
    best[chosen], parent[chosen], vertex[chosen] = best[last], parent[last], vertex[last]
    best[last] = infinity


@jit
def _sort(edges: Array, deaths: Array) -> None:
    """Put the edges of each cloud, and their deaths as integers, into death order; equal ones by (i, j)."""
    for k in range(len(edges)):
        order = _death_order(deaths[k], edges[k])
        edges[k] = edges[k][order]
        deaths[k] = deaths[k][order]


@subkernel
def _death_order(deaths: Array, edges: Array) -> Array:
    """Sort ascending by (death, i, j); the ends (i, j) are compared only where deaths tie."""
    order = _sorted_by_bytes(deaths, np.arange(len(deaths)))
    for step in range(1, len(order)):
        if deaths[order[step]] == deaths[order[step - 1]]:
            return _sorted_by_bytes(deaths, np.argsort(edges[:, 0] << 32 | edges[:, 1]))
    return order


@subkernel
def _sorted_by_bytes(keys: Array, order: Array) -> Array:
    """Stable order of non-negative integers, equal ones as in `order`: a counting sort by each byte, lowest first.

    It makes no comparisons, so no branch is mispredicted: in a quicksort mispredictions cost half of the time.
    """
    ends, target = np.empty(256, np.int64), np.empty_like(order)
    for byte in range(keys.itemsize):
        ends[:] = 0
        for key in keys:
            ends[(key >> 8 * byte) & 255] += 1
        start = 0
        for digit in range(256):
            start, ends[digit] = start + ends[digit], start
        for item in order:
            digit = (keys[item] >> 8 * byte) & 255
            target[ends[digit]] = item
            ends[digit] += 1
        order, target = target, order
    return order
