"""Chunks of work in threads: in order, none twice, and errors reach the caller."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch

from corel._compute.threads import run_chunks


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
