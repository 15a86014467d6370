"""Instructions on vectors of sixteen lanes, for loops that numba does not vectorize.

They are LLVM's own instructions. LLVM maps them to the vectors of the processor, or to a loop if it has none.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils

LANES = 16
BYTES = 4  # of a float32 and an int32, hence the alignment of every row
FLOATS, INTEGERS = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(ir.IntType(32), LANES)
TRUTHS, LONGS = ir.VectorType(ir.IntType(1), LANES), ir.VectorType(ir.IntType(64), LANES)
_ALL = ir.Constant(TRUTHS, [1] * LANES)
_LANE = ir.Constant(LONGS, [*range(LANES)])


class LaneBuilder:
    """Writes instructions on the arrays of an intrinsic's call, which numba gives with the four arguments."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder, self.arguments = builder, arguments
        self._array = lambda k: context.make_array(signature.args[k])(context, builder, arguments[k])

    def data(self, k: int) -> Any:
        """Where argument k begins."""
        return self._array(k).data

    def rows(self, k: int, kind: Any) -> Any:
        """Argument k as rows of one vector each."""
        return self.builder.bitcast(self.data(k), kind.as_pointer())

    def shape(self, k: int) -> Any:
        """The lengths of argument k."""
        return cgutils.unpack_tuple(self.builder, self._array(k).shape)

    def stride(self, k: int) -> Any:
        """Bytes from one item of argument k to the next."""
        return cgutils.unpack_tuple(self.builder, self._array(k).strides)[0]

    def spread(self, value: Any) -> Any:
        """A number in every lane."""
        one = self.builder.insert_element(ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined), value, _int32(0))
        return self.builder.shuffle_vector(one, one, ir.Constant(INTEGERS, [0] * LANES))

    def bits(self, truths: Any) -> Any:
        """The lanes of a condition as the bits of one integer."""
        return self.builder.bitcast(truths, ir.IntType(LANES))

    def smallest(self, integers: Any) -> Any:
        """The least of the lanes."""
        return self._call(f"vector.reduce.smin.{_name(INTEGERS)}", INTEGERS.element, [integers])

    def variable(self, value: Any) -> Any:
        """A place in registers that holds a vector, at first this one."""
        return cgutils.alloca_once_value(self.builder, value)

    def load(self, rows: Any, k: Any) -> Any:
        """Row k."""
        return self.builder.load(self.builder.gep(rows, [k]), align=BYTES)

    def store(self, value: Any, rows: Any, k: Any) -> None:
        """Write row k."""
        self.builder.store(value, self.builder.gep(rows, [k]), align=BYTES)

    def apart(self, start: Any, distances: Any) -> Any:
        """An address for each lane, so many bytes after `start`."""
        return self.builder.add(self.spread(self.builder.ptrtoint(start, LONGS.element)), distances)

    def times_lane(self, distance: Any) -> Any:
        """In lane k, k times as much."""
        return self.builder.mul(self.spread(distance), _LANE)

    def gather(self, kind: Any, addresses: Any) -> Any:
        """What lies at the address of each lane."""
        operands = [self._pointers(addresses, kind), _int32(BYTES), _ALL, ir.Constant(kind, ir.Undefined)]
        return self._call(f"masked.gather.{_name(kind)}.v{LANES}p0", kind, operands)

    def scatter(self, value: Any, addresses: Any) -> None:
        """Write each lane to its address."""
        operands = [value, self._pointers(addresses, value.type), _int32(BYTES), _ALL]
        self._call(f"masked.scatter.{_name(value.type)}.v{LANES}p0", ir.VoidType(), operands)

    def _pointers(self, addresses: Any, kind: Any) -> Any:
        return self.builder.inttoptr(addresses, ir.VectorType(kind.element.as_pointer(), LANES))

    def _call(self, name: str, result: Any, operands: Any) -> Any:
        kind = ir.FunctionType(result, [operand.type for operand in operands])
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}")
        return self.builder.call(function, operands)


def constant(value: int) -> Any:
    """An integer in every lane."""
    return ir.Constant(INTEGERS, [value] * LANES)


def _int32(value: int) -> Any:
    return ir.IntType(32)(value)


def _name(kind: Any) -> str:
    return f"v{LANES}{kind.element.intrinsic_name}"
