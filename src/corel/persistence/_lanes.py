"""Prim's algorithm on sixteen clouds at once, one in each lane of a vector: the many small clouds of a training step.

One small cloud gives a vector little to do: its rows are a few registers long, and every step ends in a search across
lanes for the shortest edge. Sixteen clouds of one size step together, no lane depends on another, and each keeps
its own order of the vertices outside. A loop over lanes in numba would go through memory at every coordinate, since the
compiler must allow for arrays that overlap; so the innermost loop is given to it as vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from corel._jit import jit, subkernel

Array = Any
LANES = 16
MOST_POINTS = 4096  # sixteen larger clouds leave the cache, where one by one each would fit
_INFINITY, _LARGEST = 0x7F800000, 0x7FFFFFFF
_FLOATS, _INTEGERS = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(ir.IntType(32), LANES)
_TRUTHS = ir.VectorType(ir.IntType(1), LANES)


def merge_edges(clouds: Array, edges: Array, lengths: Array) -> int:
    """Write the edges and L1 lengths of the first clouds of ``[n, b, D]``, in Prim's order; returns of how many.

    Clouds are taken by sixteen, while all of their values and edges are finite; the rest is left to others.
    """
    if clouds.dtype != np.float32 or len(clouds) < LANES or not 2 <= clouds.shape[1] <= MOST_POINTS:
        return 0
    done: int = _prim(clouds, edges, lengths)
    return done


@intrinsic
def _typed_offer(_: Any, coordinates: Any, joined: Any, new: Any, best: Any, parent: Any, outside: Any, chosen: Any,
                 death: Any) -> Any:  # fmt: skip
    return types.int32(coordinates, joined, new, best, parent, outside, chosen, death), _write_offer


_offer: Any = _typed_offer  # a call leaves out the first argument


@jit
def _prim(clouds: Array, edges: Array, lengths: Array) -> Any:
    n, b, dimension = clouds.shape
    # Of the vertices outside, a row a coordinate; then those of the vertices that joined last.
    places = _rows(b * dimension, np.float32).reshape(b, dimension, LANES)
    coordinates, joined = places[:-1], places[-1]
    vertex, best, parent, deaths, parents = _rows(5 * (b - 1), np.int32).reshape(5, b - 1, LANES)
    joining, (chosen,) = _rows(b, np.int32), _rows(1, np.int32)
    for first in range(0, n - LANES + 1, LANES):
        _load(clouds[first : first + LANES], coordinates, joined, vertex)
        best[:], parent[:], joining[0] = _INFINITY, 0, 0
        for step in range(b - 1):
            outside = b - 1 - step
            ties = _offer(coordinates, joined, joining[step], best, parent, outside, chosen, deaths[step])
            if ties:
                known = best.view(np.float32)
                _settle(ties, coordinates[:outside], joined, joining[step], known, parent, vertex, chosen)
            _move_into_trees(
                chosen, outside - 1, coordinates, joined, vertex, best, parent, joining[step + 1], parents[step]
            )
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
def _load(clouds: Array, coordinates: Array, joined: Array, vertex: Array) -> None:
    """Vertex 0 of every cloud is its tree, the others are outside."""
    for lane in range(LANES):
        joined[:, lane] = clouds[lane, 0]
    for v in range(len(coordinates)):
        vertex[v] = v + 1
        for lane in range(LANES):
            for d in range(len(joined)):
                coordinates[v, d, lane] = clouds[lane, v + 1, d]


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
def _move_into_trees(
    chosen: Array, last: int, coordinates: Array, joined: Array, vertex: Array, best: Array, parent: Array,
    joining: Array, parents: Array
) -> None:  # fmt: skip
    """In every lane the chosen vertex leaves the outside, and the last one takes its place."""
    for lane in range(LANES):
        v = chosen[lane]
        joining[lane], parents[lane] = vertex[v, lane], parent[v, lane]
        vertex[v, lane], best[v, lane], parent[v, lane] = vertex[last, lane], best[last, lane], parent[last, lane]
        for d in range(len(joined)):
            joined[d, lane] = coordinates[v, d, lane]
            coordinates[v, d, lane] = coordinates[last, d, lane]


@subkernel
def _store(deaths: Array, joining: Array, parents: Array, edges: Array, lengths: Array) -> None:
    for lane in range(LANES):
        bits = lengths[lane].view(np.int32)
        for step in range(len(deaths)):
            bits[step] = deaths[step, lane]
            edges[lane, step, 0] = min(joining[step, lane], parents[step, lane])
            edges[lane, step, 1] = max(joining[step, lane], parents[step, lane])


def _write_offer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Offer every vertex outside the edge to its lane's new tree vertex, and find each lane's shortest edge across.

    `best` and `parent` are, for each vertex outside, the length of its shortest edge into the tree, as the integer of
    the same bits, and where it ends. The last two arguments take where `best` is least, and what is there. Returns a
    bit for each lane, set where lengths were equal: which edge is the first then is not looked at here.
    """
    lanes = _Vectors(context, builder, signature, arguments)
    coordinates, joined = lanes.rows(0, _FLOATS), lanes.rows(1, _FLOATS)
    new, best, parent = (lanes.rows(k, _INTEGERS) for k in range(2, 5))
    outside, dimension = arguments[5], lanes.length(1)
    shortest, place, here = (lanes.variable(start) for start in (_LARGEST, 0, 0))
    ties = cgutils.alloca_once_value(builder, ir.Constant(_TRUTHS, [0] * LANES))
    tree = lanes.load(new, outside.type(0))
    with cgutils.for_range(builder, outside) as vertices:
        v = vertices.index
        distance, known = lanes.distance(coordinates, joined, v, dimension), lanes.load(best, v)
        closer, equal = builder.icmp_signed("<", distance, known), builder.icmp_signed("==", distance, known)
        known = builder.select(closer, distance, known)
        lanes.store(known, best, v)
        lanes.store(builder.select(closer, tree, lanes.load(parent, v)), parent, v)
        held, index = builder.load(shortest), builder.load(here)
        closer = builder.icmp_signed("<", known, held)
        equal = builder.or_(equal, builder.icmp_signed("==", known, held))
        builder.store(builder.select(closer, known, held), shortest)
        builder.store(builder.select(closer, index, builder.load(place)), place)
        builder.store(builder.add(index, lanes.constant(1)), here)
        builder.store(builder.or_(builder.load(ties), equal), ties)
    for k, found in ((6, place), (7, shortest)):
        lanes.store(builder.load(found), lanes.rows(k, _INTEGERS), outside.type(0))
    return builder.zext(builder.bitcast(builder.load(ties), ir.IntType(LANES)), ir.IntType(32))


class _Vectors:
    """Writes vector instructions on the arrays of a call: rows of sixteen lanes."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder, self.arguments = builder, arguments
        self.array = lambda k: context.make_array(signature.args[k])(context, builder, arguments[k])

    def rows(self, k: int, kind: Any) -> Any:
        return self.builder.bitcast(self.array(k).data, kind.as_pointer())

    def length(self, k: int) -> Any:
        return cgutils.unpack_tuple(self.builder, self.array(k).shape)[0]

    def constant(self, value: int) -> Any:
        return ir.Constant(_INTEGERS, [value] * LANES)

    def variable(self, start: int) -> Any:
        return cgutils.alloca_once_value(self.builder, self.constant(start))

    def load(self, rows: Any, k: Any) -> Any:
        return self.builder.load(self.builder.gep(rows, [k]), align=4)

    def store(self, value: Any, rows: Any, k: Any) -> None:
        self.builder.store(value, self.builder.gep(rows, [k]), align=4)

    def distance(self, coordinates: Any, joined: Any, v: Any, dimension: Any) -> Any:
        """The bits of Σ_d |x_d - y_d|, summed coordinate by coordinate as in every kernel."""
        write = self.builder
        total = cgutils.alloca_once_value(write, ir.Constant(_FLOATS, [0.0] * LANES))
        with cgutils.for_range(write, dimension) as loop:
            row = write.add(write.mul(v, dimension), loop.index)
            gap = write.fsub(self.load(coordinates, row), self.load(joined, loop.index))
            length = write.bitcast(write.and_(write.bitcast(gap, _INTEGERS), self.constant(_LARGEST)), _FLOATS)
            write.store(write.fadd(write.load(total), length), total)
        return write.bitcast(write.load(total), _INTEGERS)
