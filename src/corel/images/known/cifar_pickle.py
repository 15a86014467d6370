"""Reads the pickles of CIFAR's python layout without running what a pickle may ask for."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np


def unpickle(path: Path) -> dict[bytes, Any]:
    """Read a pickled dictionary of numbers, strings, lists and numpy arrays; anything else is refused."""
    try:
        with path.open("rb") as file:
            content = _Unpickler(file, encoding="bytes").load()
    except OSError:
        raise
    except Exception as error:  # a damaged pickle can raise anything
        raise ValueError(f"{path} is not a batch of CIFAR's python version: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} is not a batch of CIFAR's python version: it holds a {type(content).__name__}")
    return {key.encode() if isinstance(key, str) else key: value for key, value in content.items()}


def _dtype(kind: str | bytes, _align: object = False, _copy: object = False) -> np.dtype[Any]:
    if kind not in ("u1", b"u1"):
        raise pickle.UnpicklingError(f"it asks for numbers of type {kind!r}, where pixels are unsigned bytes")
    # Not a copy: the pickle goes on to set a dtype's state, which numpy ignores for its own.
    return np.dtype(np.uint8)


def _latin1(text: str, _encoding: object) -> bytes:
    return text.encode("latin1")


_RECONSTRUCT = np.empty(0).__reduce__()[0]
_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _dtype,
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("_codecs", "encode"): _latin1,  # how Python 3 writes bytes where Python 2 must read them
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no image needs") from None
