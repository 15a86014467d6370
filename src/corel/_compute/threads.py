"""Pools of threads for work that releases the GIL: numba's kernels, and networks in torch.

No threading layer of numba's is involved: they abort when two Python threads enter at once (workqueue) or when the
process forks afterwards (omp).
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import TypeVar

import torch

Item = TypeVar("Item")
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


def run_side_by_side(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Call ``work(item)`` for each item, as many at a time as torch has threads; inside a call torch has one thread.

    If torch's threads shared each operation instead, they would wait for each other at its end. Whoever waits spins,
    on a core that could decode an image. And the order in which a kernel sums may depend on the number of threads.
    """
    threads = torch.get_num_threads()
    if threads == 1:
        return list(map(work, items))
    try:
        return list(_workers(threads).map(work, items))
    except RuntimeError as error:
        if "schedule" not in str(error):
            raise
        return list(map(work, items))  # the main thread has ended, and with it every pool


@functools.lru_cache(maxsize=4)
def _workers(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "corel-blocks", _use_one_thread)


def _use_one_thread() -> None:
    """Give torch one thread inside this thread; threads to come get the number that they would have had."""
    others = torch.get_num_threads()
    torch.set_num_threads(1)
    restoring = Thread(target=torch.set_num_threads, args=(others,))
    restoring.start()
    restoring.join()


def _forget_pools() -> None:
    _pool.cache_clear()
    _workers.cache_clear()


# A forked child inherits the pool objects but none of their threads: it must make its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)
