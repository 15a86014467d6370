"""The one thread that encodes. Requests that wait at the same time are encoded together.

While a batch is encoded, requests gather; whatever has gathered is the next batch. So an idle server answers at once,
and a busy one works in large batches, without a waiting time to choose.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Generic, TypeVar

from corel.serve._problems import Refused

Item = TypeVar("Item")
Result = TypeVar("Result")
Value = TypeVar("Value")
# Larger batches encode no faster an image, and all their requests wait for the whole of them.
BATCH_ITEMS = 128


@dataclass(frozen=True, eq=False)
class _Job:
    """A call, or items for the batched function; and where its result is awaited."""

    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    call: Callable[[], Any] | None
    items: Sequence[Any] = ()

    def settle(self, result: Any, error: BaseException | None) -> None:
        self.loop.call_soon_threadsafe(self._settle, result, error)

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():  # canceled: nobody waits any more
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class Worker(Generic[Item, Result]):
    """Runs jobs in a thread of its own, in order; `batched` maps the items of several jobs to one result each.

    The thread is a daemon: a server that was told to stop does not wait for it beyond its bound.
    """

    def __init__(
        self,
        batched: Callable[[Sequence[Sequence[Item]]], Sequence[Result]],
        *,
        waiting: int,
        observe: Callable[[int, int], None] = lambda jobs, items: None,
    ) -> None:
        self._batched, self._waiting, self._observe = batched, waiting, observe
        self._jobs: deque[_Job] = deque()
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="corel encoder", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Let the thread finish its current job; wait at most this many seconds."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join(seconds)

    async def run(self, call: Callable[[], Value]) -> Value:
        """Run a call alone."""
        value: Value = await self._submit(call, ())
        return value

    async def batch(self, items: Sequence[Item]) -> Result:
        """Run items through the batched function, together with those of other requests."""
        result: Result = await self._submit(None, items)
        return result

    async def _submit(self, call: Callable[[], Any] | None, items: Sequence[Item]) -> Any:
        loop = asyncio.get_running_loop()
        job = _Job(loop, loop.create_future(), call, items)
        with self._changed:
            if len(self._jobs) >= self._waiting:
                raise Refused(
                    HTTPStatus.TOO_MANY_REQUESTS, "waiting",
                    f"{self._waiting} requests are waiting already; try again in a moment", limit=self._waiting,
                )  # fmt: skip
            self._jobs.append(job)
            self._changed.notify()
        return await job.future

    def _work(self) -> None:
        while jobs := self._next():
            if jobs[0].call is not None:
                _attempt(jobs[0], jobs[0].call)
            else:
                self._run_batch(jobs)

    def _next(self) -> list[_Job]:
        """Take the oldest job, and if it has items, all others that have and fit into the batch."""
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._stopped)
            jobs = [self._jobs.popleft()] if self._jobs else []
            if jobs and jobs[0].call is None:
                jobs += self._companions(BATCH_ITEMS - len(jobs[0].items))
            return jobs

    def _companions(self, room: int) -> list[_Job]:
        chosen = []
        for job in tuple(self._jobs):
            if job.call is None and len(job.items) <= room:
                room -= len(job.items)
                chosen.append(job)
                self._jobs.remove(job)
        return chosen

    def _run_batch(self, jobs: Sequence[_Job]) -> None:
        self._observe(len(jobs), sum(len(job.items) for job in jobs))
        try:
            results = self._batched([job.items for job in jobs])
        except Exception as error:
            if len(jobs) == 1:
                jobs[0].settle(None, error)
                return
            for job in jobs:  # one request's fault is not the others'
                self._run_batch([job])
            return
        for job, result in zip(jobs, results, strict=True):
            job.settle(result, None)


def _attempt(job: _Job, call: Callable[[], Any]) -> None:
    try:
        job.settle(call(), None)
    except Exception as error:
        job.settle(None, error)
