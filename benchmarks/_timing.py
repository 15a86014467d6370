"""Fair measurement: methods take turns in one process, and memory is measured in a process of its own."""

from __future__ import annotations

import ctypes
import math
import multiprocessing
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corel._terminal import progress_bar

SHORT, WARM_UP = 0.05, 0.005  # seconds; caches are filled in about one millisecond, branches learned in a few


@dataclass
class Turns:
    """Seconds of every call of a method, and what its first call returned."""

    seconds: list[float] = field(default_factory=list)
    value: Any = None


def take_turns(
    calls: Mapping[str, Callable[[Any], Any]], inputs: Sequence[Any], description: str, *, budget: float = math.inf
) -> dict[str, Turns]:
    """Time every method on every input, in a new random order each round, so that all meet the same machine.

    A method leaves once it has used up its `budget` of seconds; every method runs at least once.
    """
    turns = {name: Turns() for name in calls}
    order = list(calls)
    shuffle = random.Random(0).shuffle
    with progress_bar(description, total=len(inputs) * len(calls)) as advance:
        for round_number, cloud in enumerate(inputs):
            shuffle(order)
            for name in order:
                if sum(turns[name].seconds) < budget:
                    value, seconds = timed_warm(calls[name], cloud, warm_on=inputs[round_number - 1])
                    turns[name].seconds.append(seconds)
                    turns[name].value = value if round_number == 0 else turns[name].value
                advance(note=name)
    return turns


def timed_warm(call: Callable[[Any], Any], argument: Any, *, warm_on: Any) -> tuple[Any, float]:
    """What the call returns, and its seconds.

    A short call is repeated on another input before it is timed, or it would pay for the caches and the branch
    predictors that the method before it filled; a long one pays for them unnoticed.
    """
    value, seconds = timed(call, argument)
    if seconds > SHORT:
        return value, seconds
    started = time.perf_counter()
    while time.perf_counter() < started + WARM_UP:
        call(warm_on)
    return timed(call, argument)


def timed(call: Callable[[Any], Any], argument: Any) -> tuple[Any, float]:
    """What the call returns, and its seconds."""
    start = time.perf_counter()
    value = call(argument)
    return value, time.perf_counter() - start


def peak_memory(call: Callable[[], Callable[[], object]]) -> float:
    """Megabytes that the function `call` returns adds at its peak, in a fresh process (Linux).

    `call` itself runs first and is not counted: it imports, warms up and makes the input.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_growth, call).result()


def _growth(call: Callable[[], Callable[[], object]]) -> float:
    measured = call()
    ctypes.CDLL(None).malloc_trim(0)  # or the call would find its memory among what others have freed
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from what is resident now
    before = process_peak()
    measured()
    return (process_peak() - before) / 1024


def process_peak() -> int:
    """Give the kilobytes of this process at its peak (Linux); `ru_maxrss` would begin with those of its parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
