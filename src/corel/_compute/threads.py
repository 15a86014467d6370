"""A small pool of threads for kernels that release the GIL; no threading layer of numba's is involved.

numba's own layers abort when two Python threads enter at once (workqueue) or when the process forks afterwards (omp).
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import torch

Result = TypeVar("Result")


def run_chunks(kernel: Callable[[int, int], Result], items: int, *, work: float, grain: float = 2e5) -> list[Result]:
    """Call ``kernel(start, stop)`` over ``range(items)`` cut in chunks, and return what each chunk returned, in order.

    `work` estimates the elementary operations of the whole. Below `grain` operations a thread costs more to wake
    than it saves, so small work runs in the caller's thread.
    """
    chunks = max(1, min(torch.get_num_threads(), items, int(work / grain)))
    if chunks == 1:
        return [kernel(0, items)]
    bounds = [items * k // chunks for k in range(chunks + 1)]
    others = [_submit(kernel, start, stop) for start, stop in itertools.pairwise(bounds[1:])]
    return [kernel(bounds[0], bounds[1]), *(other.result() for other in others)]


def _submit(kernel: Callable[[int, int], Result], start: int, stop: int) -> Future[Result]:
    try:
        return _pool().submit(kernel, start, stop)
    except RuntimeError:  # the main thread has ended, and with it every pool
        done: Future[Result] = Future()
        done.set_result(kernel(start, stop))
        return done


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=os.cpu_count() or 1, thread_name_prefix="corel")


# A forked child inherits the pool object but none of its threads: it must make its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
