"""Kernels compiled once by numba and cached on disk, wherever the disk allows it."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# No fastmath: sums run in the written order, so that every kernel rounds alike and infinity stays a value.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}


def jit(function: Kernel) -> Kernel:
    """Compile `function` without the GIL on first call, from the cache if it can be read and written."""
    try:
        compiled = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # numba found no folder it may write to.
        compiled = numba.njit(**_OPTIONS)(function)

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        nonlocal compiled
        try:
            return compiled(*arguments)
        except Exception:
            # A full disk or a damaged cache can raise anything: compile for this process alone. What is wrong
            # with the call itself is raised again.
            compiled = numba.njit(**_OPTIONS)(function)
            return compiled(*arguments)

    return cast("Kernel", call)


def digest(folder: Path) -> int:
    """A number that changes with any Python file of a folder, to be captured in a kernel's closure."""
    content = b"".join(file.read_bytes() for file in sorted(folder.glob("*.py")))
    return int.from_bytes(hashlib.sha256(content).digest()[:7], "big")


def subkernel(function: Kernel) -> Kernel:
    """A function that kernels of the same file call; it compiles into them and is cached with them."""
    return cast("Kernel", numba.njit(**_OPTIONS)(function))
