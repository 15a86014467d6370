"""Prim's algorithm under L1 on float32, the case of nearly every training step, on rows of sixteen lanes.

Many small clouds of one size step together, one in each lane: a cloud alone gives a vector little to do, since every
step ends in a search across lanes. Larger clouds, and what is left of the small ones, go one by one, sixteen of their
points in a row. Loops over lanes are vector instructions (`steps`): in numba they would go through memory at every
coordinate, since the compiler must allow for arrays that overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from corel._compute.jit import jit, subkernel
from corel.persistence.simd.steps import INFINITY, offer, offer_all, take, transpose
from corel.persistence.simd.vectors import LANES

Array = Any
INSTRUCTIONS = "0f0508007e5d5147"  # digest of steps.py and vectors.py: see there
MOST_POINTS = 2048  # sixteen larger clouds leave the cache, where one by one each would fit


def merge_edges(clouds: Array, edges: Array, lengths: Array) -> int:
    """Write the edges and L1 lengths of the first clouds of ``[n, b, D]``, in Prim's order; returns of how many.

    It ends at a value or an edge that is not finite; the rest is left to others.
    """
    n, b, _ = clouds.shape
    if clouds.dtype != np.float32 or b < 2 or not clouds.flags.c_contiguous:
        return 0
    together = n // LANES * LANES if b <= MOST_POINTS else 0
    done: int = _by_sixteen(clouds[:together], edges, lengths) if together else 0
    if done < n and done == together:
        done += _one_by_one(clouds[done:], edges[done:], lengths[done:])
    return done


@jit
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
        if deaths.max() >= INFINITY:  # of an overflow, or of a value that is not finite
            return first
        _store(deaths, joining[1:], parents, edges[first : first + LANES], lengths[first : first + LANES])
    return n


@jit
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
    """Rows of lanes that begin where a line of the cache does: a vector across two of them takes twice as long."""
    memory = np.empty((count + 1) * LANES, dtype)
    start = -memory.ctypes.data % 64 // 4
    return memory[start : start + count * LANES].reshape(count, LANES)


@subkernel
def _load(cloud: Array, coordinates: Array, joined: Array, vertex: Array) -> None:
    """Vertex 0 is the tree, the others are outside. Slots without one are infinitely far."""
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
    """The vertex leaves its slot, the last one takes its place, so that the outside stays dense."""
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
    """Where the shortest edge ends outside; of equals that with the smallest (i, j), as in every kernel."""
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
