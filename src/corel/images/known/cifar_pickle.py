"""Reads the pickles of CIFAR's python layout as data: no pickle machine runs, and numpy never sees the file's calls.

The opcodes are walked one by one against a list of those that a batch needs. A name such as ``numpy.ndarray``
is only remembered, never looked up, and an array is made at the end from bytes, a shape and the type uint8.
"""

from __future__ import annotations

import io
import math
import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corel._io.regular import read_regular
from corel.images._set import UInt8Array

# The largest official batch has 155 MB, or some 230 MB where Python 3 wrote its bytes as text, and 300,000 opcodes.
MOST_BYTES = 512 << 20
MOST_OPCODES = 4_000_000

_DTYPE, _RECONSTRUCT, _FROM_BUFFER, _ENCODE = "dtype", "_reconstruct", "_frombuffer", "encode"
_ADMITTED = {
    ("numpy", "ndarray"),
    ("numpy", _DTYPE),
    ("_codecs", _ENCODE),  # how Python 3 writes bytes where Python 2 must read them
    *((f"{core}.multiarray", _RECONSTRUCT) for core in ("numpy.core", "numpy._core")),
    *((f"{core}.numeric", _FROM_BUFFER) for core in ("numpy.core", "numpy._core")),  # protocol 5
}


def unpickle(path: Path) -> dict[bytes, Any]:
    """Read a pickled dictionary of numbers, strings, lists of them and uint8 arrays; anything else is refused."""
    data = read_regular(path, MOST_BYTES)
    try:
        content = _Machine(data).run()
    except ValueError as error:
        raise ValueError(f"{path} is not a batch of CIFAR's python version: {error}") from error
    return {key: value.array() if isinstance(value, _Array) else value for key, value in content.items()}


@dataclass(frozen=True)
class _Name:
    """A name that the pickle asks for; it is never looked up."""

    name: str


@dataclass
class _Array:
    """An array that is not built yet; numpy makes it from a checked shape and the right number of bytes."""

    shape: tuple[int, ...] = (0,)
    order: str = "C"
    data: bytes = b""

    def fill(self, shape: Any, kind: Any, order: str, data: Any) -> None:
        if not isinstance(kind, _Array.Type) or not isinstance(data, bytes) or order not in ("C", "F"):
            raise ValueError("an array in it is not described as numpy does")
        if not isinstance(shape, tuple) or len(shape) > 4 or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError("an array in it has an impossible shape")
        if math.prod(shape) != len(data):
            raise ValueError(f"an array in it has {len(data)} bytes, which is not the size of its shape")
        self.shape, self.order, self.data = shape, order, data

    def array(self) -> UInt8Array:
        return np.frombuffer(self.data, np.uint8).reshape(self.shape, order="F" if self.order == "F" else "C")

    class Type:
        """The type uint8, the only one there is."""


_SCALAR = (bytes, str, int, float, type(None))  # bool is an int
_PLAIN = ("PROTO", "FRAME")
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_NUMBERS = ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT")
_TEXTS = ("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8")
_BYTES = ("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8")
_OLD_STRINGS = ("STRING", "BINSTRING", "SHORT_BINSTRING")  # Python 2's, which are bytes
_PUTS, _GETS = ("PUT", "BINPUT", "LONG_BINPUT"), ("GET", "BINGET", "LONG_BINGET")
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class _Machine:
    """A stack and a memo of plain values; only dictionaries of lists, and tuples in tuples, may nest."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}
        self._encoded = 0
        self._handlers: dict[str, Callable[[], None]] = {
            "MARK": lambda: self._marks.append(len(self._stack)),
            "EMPTY_LIST": lambda: self._stack.append([]),
            "EMPTY_DICT": lambda: self._stack.append({}),
            "LIST": lambda: self._stack.append(self._scalars(self._above_mark())),
            "DICT": lambda: self._stack.append(self._entries({}, self._above_mark())),
            "TUPLE": lambda: self._stack.append(self._tuple(self._above_mark())),
            "APPEND": lambda: self._append([self._pop()]),
            "APPENDS": lambda: self._append(self._above_mark()),
            "SETITEM": lambda: self._set([self._pop(), self._pop()][::-1]),
            "SETITEMS": lambda: self._set(self._above_mark()),
            "MEMOIZE": lambda: self._remember(len(self._memo)),
            "STACK_GLOBAL": lambda: self._global(*[self._pop(), self._pop()][::-1]),
            "REDUCE": self._reduce,
            "BUILD": self._build,
        }

    def run(self) -> dict[bytes, Any]:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(io.BytesIO(self._data))):
            if count >= MOST_OPCODES:
                raise ValueError(f"it has more than {MOST_OPCODES:,} opcodes")
            if opcode.name == "STOP":
                break
            self._step(opcode.name, argument)
        content = self._pop()
        if not isinstance(content, dict) or self._stack or self._marks:
            raise ValueError(f"it holds a {type(content).__name__}, where one dictionary is expected")
        return content

    def _step(self, name: str, argument: Any) -> None:
        if name in self._handlers:
            self._handlers[name]()
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in _NUMBERS or name in _TEXTS:
            self._stack.append(argument)
        elif name in _BYTES:
            self._stack.append(bytes(argument))
        elif name in _OLD_STRINGS:
            self._stack.append(argument.encode("latin1"))
        elif name in _TUPLES:
            self._stack.append(self._tuple([self._pop() for _ in range(_TUPLES[name])][::-1]))
        elif name in _PUTS:
            self._remember(argument)
        elif name in _GETS:
            self._recall(argument)
        elif name == "GLOBAL":
            self._global(*argument.split(" ", 1))
        elif name not in _PLAIN:
            raise ValueError(f"it uses {name}, which no image needs")

    def _pop(self) -> Any:
        if len(self._stack) <= (self._marks[-1] if self._marks else 0):
            raise ValueError("it takes more from its stack than it put there")
        return self._stack.pop()

    def _above_mark(self) -> list[Any]:
        if not self._marks:
            raise ValueError("it goes back to a mark that it did not set")
        start = self._marks.pop()
        values = self._stack[start:]
        del self._stack[start:]
        return values

    def _remember(self, index: int) -> None:
        self._stack.append(value := self._pop())
        self._memo[index] = value

    def _recall(self, index: int) -> None:
        if index not in self._memo:
            raise ValueError(f"it recalls number {index}, which it did not store")
        self._stack.append(self._memo[index])

    def _global(self, module: Any, name: Any) -> None:
        if not (isinstance(module, str) and isinstance(name, str)) or (module, name) not in _ADMITTED:
            raise ValueError(f"it asks for {str(module)[:80]}.{str(name)[:80]}, which no image needs")
        self._stack.append(_Name(name))

    def _append(self, values: list[Any]) -> None:
        target = self._pop()
        if not isinstance(target, list):
            raise ValueError("it appends to something that is no list")
        target += self._scalars(values)
        self._stack.append(target)

    def _set(self, values: list[Any]) -> None:
        target = self._pop()
        if not isinstance(target, dict):
            raise ValueError("it sets an entry of something that is no dictionary")
        self._stack.append(self._entries(target, values))

    def _reduce(self) -> None:
        arguments, function = self._pop(), self._pop()
        match function, arguments:
            case _Name(name="dtype"), (str() | bytes() as kind, *_):
                if kind not in ("u1", b"u1"):
                    raise ValueError(f"it asks for numbers of type {kind[:20]!r}, where pixels are unsigned bytes")
                self._stack.append(_Array.Type())
            case _Name(name="encode"), (str() as text, "latin1" | b"latin1"):
                self._stack.append(self._encode(text))
            case _Name(name="_reconstruct"), (_Name(name="ndarray"), *_):
                self._stack.append(_Array())
            case _Name(name="_frombuffer"), (data, kind, shape, order):
                array = _Array()
                array.fill(shape, kind, order, data)
                self._stack.append(array)
            case _:
                raise ValueError("it makes a call that no image needs")

    def _encode(self, text: str) -> bytes:
        # A small file may refer to the same text many times.
        self._encoded += len(text)
        if self._encoded > len(self._data):
            raise ValueError("it makes more bytes than it has")
        return text.encode("latin1")

    def _build(self) -> None:
        state, target = self._pop(), self._pop()
        match target, state:
            case _Array(), (_, shape, kind, fortran, data):
                target.fill(shape, kind, "F" if fortran is True or fortran == 1 else "C", data)
            case _Array.Type(), _:  # the byte order of single bytes, which have none
                pass
            case _:
                raise ValueError("it builds something that no image needs")
        self._stack.append(target)

    @staticmethod
    def _scalars(values: list[Any]) -> list[Any]:
        if not all(isinstance(value, _SCALAR) for value in values):
            raise ValueError("a list in it holds more than numbers and strings")
        return values

    @staticmethod
    def _tuple(values: list[Any]) -> tuple[Any, ...]:
        # A shape within a state, and no deeper.
        if any(isinstance(value, tuple) and not all(isinstance(n, _SCALAR) for n in value) for value in values):
            raise ValueError("its tuples nest too deep")
        return tuple(values)

    @staticmethod
    def _entries(target: dict[bytes, Any], values: list[Any]) -> dict[bytes, Any]:
        if len(values) % 2:
            raise ValueError("its dictionary has a key without a value")
        for key, value in zip(values[::2], values[1::2], strict=True):
            if not isinstance(key, str | bytes) or not isinstance(value, (*_SCALAR, list, _Array)):
                raise ValueError("its dictionary holds more than named lists, arrays, numbers and strings")
            target[key.encode() if isinstance(key, str) else key] = value
        return target
