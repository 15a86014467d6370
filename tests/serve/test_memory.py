"""What the server keeps in memory for a while."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from corel.serve._memory import Removed
from corel.serve._problems import Refused

EXEMPLARS: Any = [object()]


def test_undoing_many_times_leaves_no_threads_behind() -> None:
    removed, before = Removed(600.0), threading.active_count()
    for _ in range(50):
        removed.drop(removed.put(EXEMPLARS))
    assert threading.active_count() <= before + 1


def test_each_entry_expires_though_nobody_asks() -> None:
    removed = Removed(0.1)
    for _ in range(3):
        removed.put(EXEMPLARS)
        time.sleep(0.06)
    end = time.monotonic() + 30
    while removed._entries and time.monotonic() < end:
        time.sleep(0.01)
    assert not removed._entries


def test_an_entry_is_there_until_it_expires() -> None:
    removed = Removed(0.2)
    key = removed.put(EXEMPLARS)
    assert removed.get(key) == EXEMPLARS
    time.sleep(0.25)
    with pytest.raises(Refused, match="removed over"):
        removed.get(key)
