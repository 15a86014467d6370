"""Prim's algorithm on sixteen clouds at once, one in each lane of a vector: the many small clouds of a training step.

One small cloud gives a vector little to do: its rows are a few registers long, and every step ends in a search across
lanes for the shortest edge. Sixteen clouds of one size step together, no lane depends on another, and each keeps
its own order of the vertices outside. A loop over lanes in numba would go through memory at every coordinate, since the
compiler must allow for arrays that overlap; so the innermost loop is given to it as vector instructions.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from corel._jit import jit, subkernel
from corel.persistence._vectors import FLOATS, INTEGERS, LANES, LONGS, TRUTHS, Vectors, constant

Array = Any
MOST_POINTS = 4096  # sixteen larger clouds leave the cache, where one by one each would fit
_INFINITY, _LARGEST = 0x7F800000, 0x7FFFFFFF


def merge_edges(clouds: Array, edges: Array, lengths: Array) -> int:
    """Write the edges and L1 lengths of the first clouds of ``[n, b, D]``, in Prim's order; returns of how many.

    Clouds are taken by sixteen, while all of their values and edges are finite; the rest is left to others.
    """
    if clouds.dtype != np.float32 or len(clouds) < LANES or not 2 <= clouds.shape[1] <= MOST_POINTS:
        return 0
    done: int = _prim(clouds, edges, lengths)
    return done


@intrinsic
def _typed_transpose(_: Any, clouds: Any, places: Any) -> Any:
    return types.void(clouds, places), _write_transpose


@intrinsic
def _typed_offer(
    _: Any, coordinates: Any, joined: Any, new: Any, best: Any, parent: Any, outside: Any, chosen: Any
) -> Any:
    return types.int32(coordinates, joined, new, best, parent, outside, chosen), _write_offer


@intrinsic
def _typed_take(_: Any, rows: Any, chosen: Any, last: Any, taken: Any) -> Any:
    return types.void(rows, chosen, last, taken), _write_take


# A call leaves out the first argument.
_transpose: Any = _typed_transpose
_offer: Any = _typed_offer
_take: Any = _typed_take


@jit
def _prim(clouds: Array, edges: Array, lengths: Array) -> Any:
    n, b, dimension = clouds.shape
    places = _rows(b * dimension, np.float32).reshape(b, dimension, LANES)
    joined, coordinates = places[0], places[1:]  # of the vertices that joined last, and of those outside
    vertex, best, parent, deaths, parents = _rows(5 * (b - 1), np.int32).reshape(5, b - 1, LANES)
    joining, (chosen,) = _rows(b, np.int32), _rows(1, np.int32)
    for first in range(0, n - LANES + 1, LANES):
        _transpose(clouds[first : first + LANES], places)  # vertex 0 of every cloud is its tree
        best[:], parent[:], joining[0] = _INFINITY, 0, 0
        for v in range(b - 1):
            vertex[v] = v + 1
        for step in range(b - 1):
            outside, last = b - 1 - step, b - 2 - step
            ties = _offer(coordinates, joined, joining[step], best, parent, outside, chosen)
            if ties:
                known = best.view(np.float32)
                _settle(ties, coordinates[:outside], joined, joining[step], known, parent, vertex, chosen)
            _take(coordinates, chosen, last, joined)
            _take(vertex, chosen, last, joining[step + 1])
            _take(parent, chosen, last, parents[step])
            _take(best, chosen, last, deaths[step])
        if deaths.max() >= _INFINITY:  # of an overflow, or of a value that is not finite
            return first
        _store(deaths, joining[1:], parents, edges[first : first + LANES], lengths[first : first + LANES])
    return n // LANES * LANES


@subkernel
def _rows(count: int, dtype: Any) -> Array:
    """Rows of lanes that begin where a line of the cache does: a vector across two of them takes twice as long."""
    memory = np.empty((count + 1) * LANES, dtype)
    start = -memory.ctypes.data % 64 // 4
    return memory[start : start + count * LANES].reshape(count, LANES)


@subkernel
def _settle(
    ties: int, coordinates: Array, joined: Array, new: Array, best: Array, parent: Array, vertex: Array, chosen: Array
) -> None:
    """In lanes with edges of equal length, choose those with the smallest (i, j), as every kernel does."""
    for lane in range(LANES):
        if not ties >> lane & 1:
            continue
        shortest, low, high = best[chosen[lane], lane], np.int32(_LARGEST), np.int32(_LARGEST)
        for v in range(len(coordinates)):
            distance = np.float32(0)
            for d in range(len(joined)):
                distance += abs(coordinates[v, d, lane] - joined[d, lane])
            if distance == best[v, lane]:
                parent[v, lane] = min(parent[v, lane], new[lane])
            i, j = min(vertex[v, lane], parent[v, lane]), max(vertex[v, lane], parent[v, lane])
            if best[v, lane] == shortest and (i < low or (i == low and j < high)):
                chosen[lane], low, high = v, i, j


@subkernel
def _store(deaths: Array, joining: Array, parents: Array, edges: Array, lengths: Array) -> None:
    for lane in range(LANES):
        bits = lengths[lane].view(np.int32)
        for step in range(len(deaths)):
            bits[step] = deaths[step, lane]
            edges[lane, step, 0] = min(joining[step, lane], parents[step, lane])
            edges[lane, step, 1] = max(joining[step, lane], parents[step, lane])


def _write_transpose(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Row k of `places` takes the k-th number of every cloud."""
    lanes = Vectors(context, builder, signature, arguments)
    clouds, places = lanes.apart(lanes.data(0), lanes.times_lane(lanes.stride(0))), lanes.rows(1, FLOATS)
    b, dimension, _ = lanes.shape(1)
    with cgutils.for_range(builder, builder.mul(b, dimension)) as loop:
        number = lanes.spread(builder.mul(loop.index, loop.index.type(4)))
        lanes.store(lanes.gather(FLOATS, builder.add(clouds, number)), places, loop.index)
    return context.get_dummy_value()


def _write_take(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """In every lane the chosen vertex leaves `rows`, which go to `taken`, and the last one moves to its place."""
    lanes = Vectors(context, builder, signature, arguments)
    rows, last, taken = lanes.rows(0, INTEGERS), arguments[2], lanes.rows(3, INTEGERS)
    chosen = builder.zext(lanes.load(lanes.rows(1, INTEGERS), last.type(0)), LONGS)
    width = functools.reduce(builder.mul, lanes.shape(3)[:-1], last.type(1))  # how many rows a vertex has
    vertices = builder.mul(chosen, lanes.spread(builder.mul(width, width.type(4 * LANES))))
    places = lanes.apart(lanes.data(0), builder.add(vertices, lanes.times_lane(width.type(4))))
    with cgutils.for_range(builder, width) as loop:
        here = builder.add(places, lanes.spread(builder.mul(loop.index, width.type(4 * LANES))))
        lanes.store(lanes.gather(INTEGERS, here), taken, loop.index)
        lanes.scatter(lanes.load(rows, builder.add(builder.mul(last, width), loop.index)), here)
    return context.get_dummy_value()


def _write_offer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Offer every vertex outside the edge to its lane's new tree vertex, and find each lane's shortest edge across.

    `best` and `parent` are, for each vertex outside, the length of its shortest edge into the tree, as the integer of
    the same bits, and where it ends. The last argument takes where `best` is least. Returns a bit for each lane, set
    where lengths were equal: which edge is the first then is not looked at here.
    """
    lanes = Vectors(context, builder, signature, arguments)
    coordinates, joined = lanes.rows(0, FLOATS), lanes.rows(1, FLOATS)
    new, best, parent = (lanes.rows(k, INTEGERS) for k in range(2, 5))
    outside, dimension = arguments[5], lanes.shape(1)[0]
    shortest, place, here = (lanes.variable(constant(start)) for start in (_LARGEST, 0, 0))
    ties = lanes.variable(ir.Constant(TRUTHS, [0] * LANES))
    tree = lanes.load(new, outside.type(0))
    with cgutils.for_range(builder, outside) as vertices:
        v = vertices.index
        distance, known = _distance(lanes, coordinates, joined, v, dimension), lanes.load(best, v)
        closer, equal = builder.icmp_signed("<", distance, known), builder.icmp_signed("==", distance, known)
        known = builder.select(closer, distance, known)
        lanes.store(known, best, v)
        lanes.store(builder.select(closer, tree, lanes.load(parent, v)), parent, v)
        held, index = builder.load(shortest), builder.load(here)
        closer = builder.icmp_signed("<", known, held)
        equal = builder.or_(equal, builder.icmp_signed("==", known, held))
        builder.store(builder.select(closer, known, held), shortest)
        builder.store(builder.select(closer, index, builder.load(place)), place)
        builder.store(builder.add(index, constant(1)), here)
        builder.store(builder.or_(builder.load(ties), equal), ties)
    lanes.store(builder.load(place), lanes.rows(6, INTEGERS), outside.type(0))
    return builder.zext(builder.bitcast(builder.load(ties), ir.IntType(LANES)), ir.IntType(32))


def _distance(lanes: Vectors, coordinates: Any, joined: Any, v: Any, dimension: Any) -> Any:
    """The bits of Σ_d |x_d - y_d|, summed coordinate by coordinate as in every kernel."""
    write, total = lanes.builder, lanes.variable(ir.Constant(FLOATS, [0.0] * LANES))
    with cgutils.for_range(write, dimension) as loop:
        row = write.add(write.mul(v, dimension), loop.index)
        gap = write.fsub(lanes.load(coordinates, row), lanes.load(joined, loop.index))
        length = write.bitcast(write.and_(write.bitcast(gap, INTEGERS), constant(_LARGEST)), FLOATS)
        write.store(write.fadd(write.load(total), length), total)
    return write.bitcast(write.load(total), INTEGERS)
