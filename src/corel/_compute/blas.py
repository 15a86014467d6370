"""numpy's matrix products in the calling thread alone, for callers that share the rows among threads of their own.

The threads of OpenBLAS, which numpy brings along, go on spinning for a while after each product. Meanwhile they take a
core from whatever else runs: decoding images, or encoding the next batch.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread_products() -> Iterator[None]:
    """Let numpy's matrix products use one thread while the block runs, in all threads of the process.

    One block runs at a time: the number of threads is the process's, and the first of two to leave would restore it.
    """
    lock, libraries = _shared()
    with lock, libraries.limit(limits=1):
        yield


@functools.cache
def _shared() -> tuple[Any, Any]:
    return Lock(), ThreadpoolController().select(user_api="blas")


# A forked child may inherit the lock as another thread held it.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shared.cache_clear)
