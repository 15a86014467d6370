"""Items that are computed before they are asked for, so that the stages of a pipeline overlap.

The threads are daemons: an interrupted program does not wait for a read that blocks.
"""

from __future__ import annotations

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


def in_turn(work: Callable[[Item], Result], items: Iterable[Item], *, pairs: bool) -> Iterator[Result]:
    """Compute ``work(item)`` as `one_ahead` does; with `pairs` beside the one before it, as soon as the item is there.

    No result waits for an item that comes later: whoever types names sees each of them scored.
    """
    if not pairs:
        yield from one_ahead(map(work, items))
        return
    for coming in one_ahead(_begun(work, item) for item in items):
        yield coming.result()


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
