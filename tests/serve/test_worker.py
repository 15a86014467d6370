"""The encoder's thread: what waits together runs together, and one request's fault is its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from corel.serve._problems import Refused
from corel.serve._worker import BATCH_ITEMS, Worker


class Recorder:
    """Doubles numbers, refuses negative ones, and waits until it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.may_go = threading.Event()

    def __call__(self, groups: Sequence[Sequence[int]]) -> list[list[int]]:
        self.may_go.wait(30)
        self.batches.append([len(group) for group in groups])
        if any(number < 0 for group in groups for number in group):
            raise ValueError("a negative number")
        return [[2 * number for number in group] for group in groups]


def test_requests_that_arrive_while_a_batch_runs_are_the_next_batch() -> None:
    async def run() -> list[list[int]]:
        tasks = [asyncio.ensure_future(worker.batch([0]))]
        await asyncio.sleep(0.2)  # the first is taken, and waits
        tasks += [asyncio.ensure_future(worker.batch([i, i + 100])) for i in range(1, 8)]
        await asyncio.sleep(0.2)
        recorder.may_go.set()
        return list(await asyncio.gather(*tasks))

    recorder = Recorder()
    worker = Worker(recorder, waiting=64)
    worker.start()
    assert asyncio.run(run()) == [[0], *[[2 * i, 2 * i + 200] for i in range(1, 8)]]
    assert recorder.batches == [[1], [2] * 7]
    worker.stop(10)


def test_a_batch_has_a_size_and_calls_run_alone() -> None:
    async def run() -> str:
        first = asyncio.ensure_future(worker.batch([0]))
        await asyncio.sleep(0.2)
        large = [asyncio.ensure_future(worker.batch([1] * (BATCH_ITEMS - 10))) for _ in range(2)]
        call = asyncio.ensure_future(worker.run(lambda: f"after {len(recorder.batches)}"))
        small = asyncio.ensure_future(worker.batch([1] * 10))
        await asyncio.sleep(0.2)
        recorder.may_go.set()
        await asyncio.gather(first, *large, small)
        return await call

    recorder = Recorder()
    worker = Worker(recorder, waiting=64)
    worker.start()
    asyncio.run(run())
    assert recorder.batches == [[1], [BATCH_ITEMS - 10, 10], [BATCH_ITEMS - 10]]
    worker.stop(10)


def test_an_error_in_one_request_does_not_fail_the_others() -> None:
    async def run() -> list[list[int] | BaseException]:
        tasks = [asyncio.ensure_future(worker.batch([0]))]
        await asyncio.sleep(0.2)
        tasks += [asyncio.ensure_future(worker.batch([number])) for number in (1, -1, 3)]
        await asyncio.sleep(0.2)
        recorder.may_go.set()
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    recorder = Recorder()
    worker = Worker(recorder, waiting=64)
    worker.start()
    zero, one, negative, three = asyncio.run(run())
    assert (zero, one, three) == ([0], [2], [6])
    assert isinstance(negative, ValueError)
    worker.stop(10)


def test_requests_beyond_the_queue_limit_are_refused() -> None:
    async def run() -> None:
        waiting = [asyncio.ensure_future(worker.batch([0]))]
        await asyncio.sleep(0.2)
        waiting += [asyncio.ensure_future(worker.batch([1])) for _ in range(3)]
        await asyncio.sleep(0.2)
        with pytest.raises(Refused) as refused:
            await worker.batch([1])
        assert refused.value.status_code == 429
        recorder.may_go.set()
        await asyncio.gather(*waiting)

    recorder = Recorder()
    worker = Worker(recorder, waiting=3)
    worker.start()
    asyncio.run(run())
    worker.stop(10)
