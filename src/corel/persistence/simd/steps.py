"""The steps of Prim's algorithm under L1 as vector instructions.

A lane of a float32 row holds a coordinate of another cloud, or of another point of one cloud: see `lanes`. Lengths are
kept as the integers of the same bits, which have the same order. Arrays are C-contiguous.
"""

from __future__ import annotations

import functools
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from corel.persistence.simd.vectors import BYTES, FLOATS, INTEGERS, LANES, LONGS, TRUTHS, LaneBuilder, constant

INFINITY, LARGEST = 0x7F800000, 0x7FFFFFFF


@intrinsic
def _transpose(_: Any, clouds: Any, places: Any) -> Any:
    """Store the k-th number of each of sixteen clouds in row k of `places`."""
    return types.void(clouds, places), _write_transpose


@intrinsic
def _offer(_: Any, coordinates: Any, joined: Any, new: Any, best: Any, parent: Any, rows: Any, chosen: Any) -> Any:
    """Update the shortest edges of the vertices in the first `rows` by those to `new`, which lies at `joined`.

    `best` and `parent` are, for each vertex outside, the length of its shortest edge into the tree and where that ends;
    of equals it is the smaller end. `chosen` takes the row in which `best` is least, a lane. Returns a bit for each
    lane, set where that is so in several rows.
    """
    return types.int32(coordinates, joined, new, best, parent, rows, chosen), _write_offer


@intrinsic
def _offer_all(_: Any, coordinates: Any, joined: Any, new: Any, best: Any, parent: Any, rows: Any) -> Any:
    """Update likewise. Return the slot (row and lane as one number) with the least `best`; negative if several tie."""
    return types.int64(coordinates, joined, new, best, parent, rows), _write_offer_all


@intrinsic
def _take(_: Any, rows: Any, chosen: Any, last: Any, taken: Any) -> Any:
    """In every lane, move the chosen vertex from `rows` to `taken`, and the last one to its slot."""
    return types.void(rows, chosen, last, taken), _write_take


# A call leaves out the first argument.
transpose: Any = _transpose
offer: Any = _offer
offer_all: Any = _offer_all
take: Any = _take


def _write_transpose(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    lanes = LaneBuilder(context, builder, signature, arguments)
    clouds, places = lanes.apart(lanes.data(0), lanes.times_lane(lanes.stride(0))), lanes.rows(1, FLOATS)
    b, dimension, _ = lanes.shape(1)
    with cgutils.for_range(builder, builder.mul(b, dimension)) as loop:
        number = lanes.spread(builder.mul(loop.index, loop.index.type(BYTES)))
        lanes.store(lanes.gather(FLOATS, builder.add(clouds, number)), places, loop.index)
    return context.get_dummy_value()


def _write_take(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    lanes = LaneBuilder(context, builder, signature, arguments)
    rows, last, taken = lanes.rows(0, INTEGERS), arguments[2], lanes.rows(3, INTEGERS)
    chosen = builder.zext(lanes.load(lanes.rows(1, INTEGERS), last.type(0)), LONGS)
    width = functools.reduce(builder.mul, lanes.shape(3)[:-1], last.type(1))  # how many rows a vertex has
    vertices = builder.mul(chosen, lanes.spread(builder.mul(width, width.type(BYTES * LANES))))
    places = lanes.apart(lanes.data(0), builder.add(vertices, lanes.times_lane(width.type(BYTES))))
    with cgutils.for_range(builder, width) as loop:
        here = builder.add(places, lanes.spread(builder.mul(loop.index, width.type(BYTES * LANES))))
        lanes.store(lanes.gather(INTEGERS, here), taken, loop.index)
        lanes.scatter(lanes.load(rows, builder.add(builder.mul(last, width), loop.index)), here)
    return context.get_dummy_value()


def _write_offer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    lanes = LaneBuilder(context, builder, signature, arguments)
    _, place, ties = _sweep(lanes)
    lanes.store(place, lanes.rows(6, INTEGERS), arguments[5].type(0))
    return builder.zext(lanes.bits(ties), ir.IntType(32))


def _write_offer_all(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    lanes = LaneBuilder(context, builder, signature, arguments)
    shortest, place, ties = _sweep(lanes)
    least = lanes.bits(builder.icmp_signed("==", shortest, lanes.spread(lanes.smallest(shortest))))
    lane = builder.cttz(least, ir.IntType(1)(0))
    others = builder.and_(least, builder.sub(least, least.type(1)))
    several = builder.icmp_signed("!=", builder.or_(others, builder.and_(least, lanes.bits(ties))), least.type(0))
    row = builder.zext(builder.extract_element(place, builder.zext(lane, ir.IntType(32))), ir.IntType(64))
    slot = builder.add(builder.mul(row, row.type(LANES)), builder.zext(lane, row.type))
    return builder.select(several, row.type(-1), slot)


def _sweep(lanes: LaneBuilder) -> Any:
    """Give for each lane the least `best` after the update, its row, and whether several rows have it."""
    builder, dimension, rows = lanes.builder, lanes.shape(1)[0], lanes.arguments[5]
    coordinates, joined = lanes.rows(0, FLOATS), lanes.rows(1, FLOATS)
    new, best, parent = (lanes.rows(k, INTEGERS) for k in range(2, 5))
    shortest, place, here = (lanes.variable(constant(start)) for start in (LARGEST, 0, 0))
    ties, tree = lanes.variable(ir.Constant(TRUTHS, [0] * LANES)), lanes.load(new, rows.type(0))
    with cgutils.for_range(builder, rows) as loop:
        v = loop.index
        distance = _distance(lanes, coordinates, joined, v, dimension)
        known, end = lanes.load(best, v), lanes.load(parent, v)
        closer, equal = builder.icmp_signed("<", distance, known), builder.icmp_signed("==", distance, known)
        # For a fixed vertex, edges of equal length order like their other end.
        first = builder.or_(closer, builder.and_(equal, builder.icmp_signed("<", tree, end)))
        known = builder.select(closer, distance, known)
        lanes.store(known, best, v)
        lanes.store(builder.select(first, tree, end), parent, v)
        held, row, tied = builder.load(shortest), builder.load(here), builder.load(ties)
        closer, equal = builder.icmp_signed("<", known, held), builder.icmp_signed("==", known, held)
        builder.store(builder.select(closer, known, held), shortest)
        builder.store(builder.select(closer, row, builder.load(place)), place)
        builder.store(builder.add(row, constant(1)), here)
        builder.store(builder.and_(builder.or_(tied, equal), builder.not_(closer)), ties)
    return builder.load(shortest), builder.load(place), builder.load(ties)


def _distance(lanes: LaneBuilder, coordinates: Any, joined: Any, v: Any, dimension: Any) -> Any:
    """Σ_d |x_d - y_d|, summed coordinate by coordinate as in every kernel."""
    write, total = lanes.builder, lanes.variable(ir.Constant(FLOATS, [0.0] * LANES))
    with cgutils.for_range(write, dimension) as loop:
        row = write.add(write.mul(v, dimension), loop.index)
        gap = write.fsub(lanes.load(coordinates, row), lanes.load(joined, loop.index))
        length = write.bitcast(write.and_(write.bitcast(gap, INTEGERS), constant(LARGEST)), FLOATS)
        write.store(write.fadd(write.load(total), length), total)
    return write.bitcast(write.load(total), INTEGERS)
