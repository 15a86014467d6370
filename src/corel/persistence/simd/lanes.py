"""Prim's algorithm under L1 on float32, the case of nearly every training step, on rows of sixteen lanes.

Small clouds of one size step together, one in each lane: a single cloud gives a vector little to do, since every step
ends in a search across lanes. Larger clouds, and the remainder of the small ones, go one by one with sixteen of their
points in a row. Loops over lanes are vector instructions (`steps`). numba's own loops would go through memory at every
coordinate, because its compiler must assume that arrays overlap.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from corel._compute.jit import digest, jit, subkernel
from corel.persistence.simd.steps import INFINITY, offer, offer_all, take, transpose
from corel.persistence.simd.vectors import LANES

Array = Any
MOST_POINTS = 2048  # sixteen larger clouds do not fit into the cache together, but each does by itself


def merge_edges(clouds: Array, edges: Array, lengths: Array) -> int:
    """Write the edges and L1 lengths of ``clouds [n, b, D]`` in Prim's order; returns how many clouds are done.

    It stops early at a value or a length that is not finite, and does nothing for arrays it is not made for. The caller
    gives the rest to `prim.merge_plainly`.
    """
    n, b, _ = clouds.shape
    if clouds.dtype != np.float32 or b < 2 or not clouds.flags.c_contiguous:
        return 0
    together = n // LANES * LANES if b <= MOST_POINTS else 0
    done: int = _KERNELS[0](clouds[:together], edges, lengths) if together else 0
    if done < n and done == together:
        done += _KERNELS[1](clouds[done:], edges[done:], lengths[done:])
    return done


@subkernel
def _by_sixteen(clouds: Array, edges: Array, lengths: Array) -> Any:
    n, b, dimension = clouds.shape
    places = _rows(b * dimension, np.float32).reshape(b, dimension, LANES)
    joined, coordinates = places[0], places[1:]  # of the vertices that joined last, and of those outside
    vertex, best, parent, deaths, parents = _rows(5 * (b - 1), np.int32).reshape(5, b - 1, LANES)
    joining, (chosen,) = _rows(b, np.int32), _rows(1, np.int32)
    for first in range(0, n, LANES):
        transpose(clouds[first : first + LANES], places)  # vertex 0 of every cloud is its tree
        best[:], parent[:], joining[0] = INFINITY, 0, 0
        for v in range(b - 1):
            vertex[v] = v + 1
        for step in range(b - 1):
            last = b - 2 - step
            ties = offer(coordinates, joined, joining[step], best, parent, last + 1, chosen)
            if ties:
                _settle(ties, best[: last + 1], parent[: last + 1], vertex[: last + 1], chosen)
            take(coordinates, chosen, last, joined)
            take(vertex, chosen, last, joining[step + 1])
            take(parent, chosen, last, parents[step])
            take(best, chosen, last, deaths[step])
        if deaths.max() >= INFINITY:  # an overflow, or a value that is not finite
            return first
        _store(deaths, joining[1:], parents, edges[first : first + LANES], lengths[first : first + LANES])
    return n


@subkernel
def _one_by_one(clouds: Array, edges: Array, lengths: Array) -> Any:
    n, b, dimension = clouds.shape
    rows = (b - 2) // LANES + 1
    coordinates = _rows(rows * dimension, np.float32).reshape(rows, dimension, LANES)  # of the vertices outside
    joined, (new,) = _rows(dimension, np.float32), _rows(1, np.int32)  # the vertex that joined last, in every lane
    best, parent, vertex = _rows(3 * rows, np.int32).reshape(3, rows * LANES)
    for k in range(n):
        _load(clouds[k], coordinates, joined, vertex)
        best[:], parent[:], new[:] = INFINITY, 0, 0
        deaths = lengths[k].view(np.int32)
        for step in range(b - 1):
            last = b - 2 - step
            slot = offer_all(coordinates, joined, new, best, parent, last // LANES + 1)
            if slot < 0:
                slot = _first(best[: last + 1], parent[: last + 1], vertex[: last + 1])
            if best[slot] >= INFINITY:
                return k
            deaths[step], new[:] = best[slot], vertex[slot]
            edges[k, step, 0], edges[k, step, 1] = min(vertex[slot], parent[slot]), max(vertex[slot], parent[slot])
            _move_into_tree(slot, last, coordinates, joined, best, parent, vertex)
    return n


@subkernel
def _rows(count: int, dtype: Any) -> Array:
    """Rows that start at a cache line: a vector across two lines takes twice as long to load."""
    memory = np.empty((count + 1) * LANES, dtype)
    start = -memory.ctypes.data % 64 // 4
    return memory[start : start + count * LANES].reshape(count, LANES)


@subkernel
def _load(cloud: Array, coordinates: Array, joined: Array, vertex: Array) -> None:
    """Vertex 0 is the tree, the others are outside. Empty slots are infinitely far."""
    coordinates[-1] = np.inf
    for d in range(len(joined)):
        joined[d] = cloud[0, d]
    for v in range(len(cloud) - 1):
        vertex[v] = v + 1
        for d in range(len(joined)):
            coordinates[v // LANES, d, v % LANES] = cloud[v + 1, d]


@subkernel
def _move_into_tree(
    slot: int, last: int, coordinates: Array, joined: Array, best: Array, parent: Array, vertex: Array
) -> None:
    """The vertex leaves its slot and the last one takes its place, so that the outside stays dense."""
    for d in range(len(joined)):
        joined[d] = coordinates[slot // LANES, d, slot % LANES]
        coordinates[slot // LANES, d, slot % LANES] = coordinates[last // LANES, d, last % LANES]
        coordinates[last // LANES, d, last % LANES] = np.inf
    best[slot], parent[slot], vertex[slot] = best[last], parent[last], vertex[last]
    best[last] = INFINITY


@subkernel
def _settle(ties: int, best: Array, parent: Array, vertex: Array, chosen: Array) -> None:
    for lane in range(LANES):
        if ties >> lane & 1:
            chosen[lane] = _first(best[:, lane], parent[:, lane], vertex[:, lane])


@subkernel
def _first(best: Array, parent: Array, vertex: Array) -> Any:
    """The slot with the shortest edge; among equals the smallest (i, j), as in every kernel."""
    chosen, low, high = 0, vertex[0], vertex[0]
    for v in range(len(best)):
        if best[v] <= best[chosen]:
            i, j = min(vertex[v], parent[v]), max(vertex[v], parent[v])
            if v == 0 or best[v] < best[chosen] or i < low or (i == low and j < high):
                chosen, low, high = v, i, j
    return chosen


@subkernel
def _store(deaths: Array, joining: Array, parents: Array, edges: Array, lengths: Array) -> None:
    for lane in range(LANES):
        bits = lengths[lane].view(np.int32)
        for step in range(len(deaths)):
            bits[step] = deaths[step, lane]
            edges[lane, step, 0] = min(joining[step, lane], parents[step, lane])
            edges[lane, step, 1] = max(joining[step, lane], parents[step, lane])


def _compiled(sources: int) -> tuple[Any, Any]:
    """Both kernels, with a digest of this folder in a closure cell.

    numba's cache compares a kernel's own file, bytecode and closure cells. Without the cell it would reuse old machine
    code after a change in `steps` or `vectors`.
    """

    @jit
    def by_sixteen(clouds: Array, edges: Array, lengths: Array) -> Any:
        _ = sources
        return _by_sixteen(clouds, edges, lengths)

    @jit
    def one_by_one(clouds: Array, edges: Array, lengths: Array) -> Any:
        _ = sources
        return _one_by_one(clouds, edges, lengths)

    return by_sixteen, one_by_one


_KERNELS = _compiled(digest(Path(__file__).parent))
