"""Matrix products use one thread inside the block, and the old number of threads after it."""

from __future__ import annotations

import threading

import pytest
from threadpoolctl import ThreadpoolController

from corel._compute.blas import one_thread_products

BLAS = ThreadpoolController().select(user_api="blas")


def numbers_of_threads() -> list[int]:
    return [each["num_threads"] for each in BLAS.info()]


BEFORE = numbers_of_threads()
pytestmark = pytest.mark.skipif(max(BEFORE, default=1) == 1, reason="numpy's products have one thread here anyway")


def test_products_use_one_thread_inside_the_block_and_the_old_number_after() -> None:
    with one_thread_products():
        assert set(numbers_of_threads()) == {1}
    assert numbers_of_threads() == BEFORE


def test_several_threads_may_enter_the_block() -> None:
    seen: list[int] = []

    def ask() -> None:
        for _ in range(50):
            with one_thread_products():
                seen.extend(numbers_of_threads())

    asking = [threading.Thread(target=ask) for _ in range(3)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert set(seen) == {1}
    assert numbers_of_threads() == BEFORE


def test_an_error_restores_the_number_of_threads() -> None:
    with pytest.raises(ValueError, match="inside"), one_thread_products():
        raise ValueError("inside")
    assert numbers_of_threads() == BEFORE
