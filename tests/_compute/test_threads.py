"""Work in threads: in order, none twice, and errors reach the caller."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch

from corel._compute.threads import run_chunks, run_side_by_side


@pytest.fixture(autouse=True)
def three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("items", [1, 2, 3, 7, 100])
def test_chunks_cover_the_items_once_and_come_back_in_order(items: int) -> None:
    found = run_chunks(lambda start, stop: list(range(start, stop)), items, work=1e9)
    assert [each for chunk in found for each in chunk] == list(range(items))
    assert len(found) == min(3, items)


def test_small_work_stays_in_the_callers_thread() -> None:
    seen = run_chunks(lambda start, stop: (threading.get_ident(), start, stop), 50, work=1000)
    assert seen == [(threading.get_ident(), 0, 50)]


def test_an_error_in_any_chunk_reaches_the_caller() -> None:
    def last_fails(start: int, stop: int) -> None:
        if stop == 9:
            raise ValueError("chunk")

    with pytest.raises(ValueError, match="chunk"):
        run_chunks(last_fails, 9, work=1e9)


def test_side_by_side_results_are_in_order_and_torch_has_one_thread_in_each() -> None:
    def squared(number: int) -> tuple[int, int]:
        return number * number, torch.get_num_threads()

    assert run_side_by_side(squared, range(20)) == [(number * number, 1) for number in range(20)]


def test_at_most_as_many_items_run_at_a_time_as_torch_has_threads() -> None:
    running, most, lock = 0, 0, threading.Lock()
    three = threading.Barrier(3, timeout=60)  # which passes only if three items run at the same time

    def watched(_: int) -> None:
        nonlocal running, most
        with lock:
            running, most = running + 1, max(most, running + 1)
        three.wait()
        with lock:
            running -= 1

    run_side_by_side(watched, range(9))
    assert most == 3


def test_other_threads_keep_their_number_of_torch_threads() -> None:
    run_side_by_side(abs, range(3))
    found: list[int] = []
    fresh = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
    fresh.start()
    fresh.join()
    assert [*found, torch.get_num_threads()] == [3, 3]


def test_with_one_thread_items_run_in_the_callers_thread() -> None:
    torch.set_num_threads(1)
    assert run_side_by_side(lambda _: threading.get_ident(), range(3)) == [threading.get_ident()] * 3


def test_an_error_of_an_item_reaches_the_caller() -> None:
    def failing(number: int) -> None:
        raise RuntimeError(f"item {number}")

    with pytest.raises(RuntimeError, match="item 0"):
        run_side_by_side(failing, range(3))
