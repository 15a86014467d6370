"""Kernels compiled once by numba and cached on disk, wherever the disk allows it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# nsz and nnan let LLVM vectorise minima; ninf stays out because infinity is a value here (an overflowed distance).
# Reassociation and contraction stay out too: sums run in the written order, so every kernel rounds alike.
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"nsz", "nnan"}, "error_model": "numpy", "boundscheck": False}


def jit(function: Kernel) -> Kernel:
    """Compile `function` without the GIL on first call, from the cache if it can be read and written."""
    cached = _cached(function)
    if cached is None:
        return cast("Kernel", numba.njit(**_OPTIONS)(function))

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        nonlocal cached
        try:
            return cached(*arguments)
        except OSError:  # The cache became unreadable or the disk full: compile for this process alone.
            cached = numba.njit(**_OPTIONS)(function)
            return cached(*arguments)

    return cast("Kernel", call)


def inline(function: Kernel) -> Kernel:
    """A helper that other kernels call; it compiles into them."""
    return cast("Kernel", numba.njit(inline="never", **_OPTIONS)(function))


def _cached(function: Callable[..., Any]) -> Any:
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # numba found no folder it may write to.
        return None
