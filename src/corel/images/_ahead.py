"""Items that are computed before they are asked for, so that the stages of a pipeline overlap.

The threads are daemons: an interrupted program does not wait for a read that blocks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from threading import Thread
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Compute each item in a thread while the one before it is in use."""
    coming = _begun(next, items, _END)
    while (found := coming.result()) is not _END:
        coming = _begun(next, items, _END)
        yield found


def in_turn(work: Callable[[Item], Result], items: Iterable[Item], at_once: int) -> Iterator[Result]:
    """Give ``work(item)`` for each item in order; the next `at_once` of them are computed, each in a thread."""
    coming: deque[Future[Result]] = deque()
    for item in items:
        coming.append(_begun(work, item))
        if len(coming) == at_once:
            yield coming.popleft().result()
    while coming:
        yield coming.popleft().result()


_END: Any = object()


def _begun(work: Callable[..., Result], *arguments: Any) -> Future[Result]:
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work(*arguments))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True, name="corel-ahead").start()
    return future
