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
MOST_POINTS = 1 << 15  # both ends of an edge share the 32 bits of a lane
_HALF, _INFINITY, _LARGEST = 16, 0x7F800000, 0x7FFFFFFF
_FLOATS, _INTEGERS = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(ir.IntType(32), LANES)


def merge_edges(clouds: Array, edges: Array, lengths: Array) -> int:
    """Write the edges and L1 lengths of the first clouds of ``[n, b, D]``, in Prim's order; returns of how many.

    Clouds are taken by sixteen, while all of their values and edges are finite; the rest is left to others.
    """
    if clouds.dtype != np.float32 or len(clouds) < LANES or not 2 <= clouds.shape[1] <= MOST_POINTS:
        return 0
    done: int = _prim(clouds, edges, lengths)
    return done


@intrinsic
def _typed_offer(_: Any, coordinates: Any, joined: Any, new: Any, vertex: Any, best: Any, code: Any, outside: Any,
                 chosen: Any, death: Any, ends: Any) -> Any:  # fmt: skip
    given = (coordinates, joined, new, vertex, best, code, outside, chosen, death, ends)
    return types.void(*given), _write_offer


_offer: Any = _typed_offer  # a call leaves out the first argument


@jit
def _prim(clouds: Array, edges: Array, lengths: Array) -> Any:
    n, b, dimension = clouds.shape
    # Of the vertices outside, a row a coordinate; then those of the vertices that joined last.
    places = _rows(b * dimension, np.float32).reshape(b, dimension, LANES)
    coordinates, joined = places[:-1], places[-1]
    vertex, best, code, deaths, codes = _rows(5 * (b - 1), np.int32).reshape(5, b - 1, LANES)
    new, chosen = _rows(2, np.int32)
    for first in range(0, n - LANES + 1, LANES):
        _load(clouds[first : first + LANES], coordinates, joined, vertex)
        best[:], code[:], new[:] = _INFINITY, _LARGEST, 0
        for step in range(b - 1):
            _offer(coordinates, joined, new, vertex, best, code, b - 1 - step, chosen, deaths[step], codes[step])
            _move_into_trees(chosen, b - 2 - step, coordinates, joined, new, vertex, best, code)
        if deaths.max() >= _INFINITY:  # of an overflow, or of a value that is not finite
            return first
        _store(deaths, codes, edges[first : first + LANES], lengths[first : first + LANES])
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
def _move_into_trees(
    chosen: Array, last: int, coordinates: Array, joined: Array, new: Array, vertex: Array, best: Array, code: Array
) -> None:
    """In every lane the chosen vertex leaves the outside, and the last one takes its place."""
    for lane in range(LANES):
        v = chosen[lane]
        new[lane] = vertex[v, lane]
        vertex[v, lane], best[v, lane], code[v, lane] = vertex[last, lane], best[last, lane], code[last, lane]
        for d in range(len(joined)):
            joined[d, lane] = coordinates[v, d, lane]
            coordinates[v, d, lane] = coordinates[last, d, lane]


@subkernel
def _store(deaths: Array, codes: Array, edges: Array, lengths: Array) -> None:
    for lane in range(LANES):
        bits = lengths[lane].view(np.int32)
        for step in range(len(deaths)):
            bits[step] = deaths[step, lane]
            edges[lane, step, 0] = codes[step, lane] >> _HALF
            edges[lane, step, 1] = codes[step, lane] & ((1 << _HALF) - 1)


def _write_offer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Offer every vertex outside the edge to its lane's new tree vertex, and find each lane's shortest edge across.

    `best` and `code` are, for each vertex outside, the length of its shortest edge into the tree, as the integer of the
    same bits, and the edge's ends; the last three arguments take where they are least, and what is there.
    """
    lanes = _Vectors(context, builder, signature, arguments)
    coordinates, joined = lanes.rows(0, _FLOATS), lanes.rows(1, _FLOATS)
    new, vertex, best, code = (lanes.rows(k, _INTEGERS) for k in range(2, 6))
    outside, dimension = arguments[6], lanes.length(1)
    shortest, least, place, here = (lanes.variable(start) for start in (_LARGEST, _LARGEST, 0, 0))
    tree = lanes.load(new, outside.type(0))
    with cgutils.for_range(builder, outside) as vertices:
        v = vertices.index
        distance = lanes.distance(coordinates, joined, v, dimension)
        known = (lanes.load(best, v), lanes.load(code, v))
        known = lanes.smaller((distance, lanes.code(lanes.load(vertex, v), tree)), known)[0]
        lanes.store(known[0], best, v)
        lanes.store(known[1], code, v)
        held, index = (builder.load(shortest), builder.load(least)), builder.load(here)
        held, closer = lanes.smaller(known, held)
        builder.store(held[0], shortest)
        builder.store(held[1], least)
        builder.store(builder.select(closer, index, builder.load(place)), place)
        builder.store(builder.add(index, lanes.constant(1)), here)
    for k, found in ((7, place), (8, shortest), (9, least)):
        lanes.store(builder.load(found), lanes.rows(k, _INTEGERS), outside.type(0))
    return context.get_dummy_value()


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

    def code(self, one: Any, other: Any) -> Any:
        """Both ends of an edge in one number that orders like (i, j); for one end fixed it orders like the other."""
        write = self.builder
        ascending = write.icmp_signed("<", one, other)
        low, high = write.select(ascending, one, other), write.select(ascending, other, one)
        return write.or_(write.shl(low, self.constant(_HALF)), high)

    def smaller(self, one: Any, other: Any) -> Any:
        """The lesser of two (length, code) in each lane, and where it is the first."""
        write = self.builder
        equal, precedes = write.icmp_signed("==", one[0], other[0]), write.icmp_signed("<", one[1], other[1])
        first = write.or_(write.icmp_signed("<", one[0], other[0]), write.and_(equal, precedes))
        return tuple(write.select(first, a, b) for a, b in zip(one, other, strict=True)), first
