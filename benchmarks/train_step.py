"""A training step of `corel.train` against the plain eager float32 loop, and topology's share of it.

python -m benchmarks.train_step
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from corel._compute import bfloat16
from corel._terminal import track
from corel.encoders import Autoencoder
from corel.encoders.base import channels_last
from corel.losses import ConnectivityLoss
from corel.training import TrainConfig, train
from measuring.plain import BATCH, plain_training
from measuring.record import record

RESULTS = Path(__file__).parent / "results"
WARM_UP = 10
Pixels = NDArray[np.uint8]


def plain(pixels: Pixels) -> float:
    """Seconds of the plain loop; turning all pixels into numbers first is a hundredth of them."""
    started = time.perf_counter()
    plain_training(pixels, epochs=1)
    return time.perf_counter() - started


def ours(pixels: Pixels) -> float:
    """Seconds of the library's steps with its defaults, as its own log has them."""
    (epoch,) = train(pixels, TrainConfig(epochs=1), progress=False).metadata["history"]
    seconds: float = epoch["seconds"]
    return seconds


def topology(pixels: Pixels) -> float:
    """Seconds of the connectivity loss and its gradient, timed where they happen: after the network's forward pass."""
    model = channels_last(Autoencoder())
    connectivity = ConnectivityLoss(eta=2.0, branches=16)
    seconds = 0.0
    for batch in np.split(pixels, len(pixels) // BATCH):
        latents, reconstructed = model(model.prepare(batch))
        leaf = latents.detach().requires_grad_()
        started = time.perf_counter()
        connectivity(leaf).backward()
        seconds += time.perf_counter() - started
        reconstructed.sum().backward()
    return seconds


CALLS: dict[str, Callable[[Pixels], float]] = {
    "plain eager float32": plain,
    "corel.train": ours,
    "topology": topology,
}


def measure(steps: int, rounds: int, threads: int) -> dict[str, Any]:
    """Milliseconds a step of each, taking turns, and their ratios."""
    turns = [
        {name: _in_a_process(name, steps, threads) for name in CALLS} for _ in track(range(rounds), "training in turns")
    ]
    milliseconds = {name: statistics.median(turn[name] for turn in turns) / steps * 1000 for name in CALLS}
    ratios = [turn["plain eager float32"] / turn["corel.train"] for turn in turns]
    return {
        "milliseconds a step": {name: round(value, 3) for name, value in milliseconds.items()},
        "speed-up": round(milliseconds["plain eager float32"] / milliseconds["corel.train"], 3),
        "speed-up of each round": [round(ratio, 3) for ratio in ratios],
        "topology's share": round(milliseconds["topology"] / milliseconds["corel.train"], 4),
        "convolutions in": "bfloat16" if bfloat16.is_fast(torch.device("cpu")) else "float32",
    }


def _in_a_process(name: str, steps: int, threads: int) -> float:
    """Seconds of one turn. What our loop asks of the memory allocator must not help the plain one."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_turn, name, steps, threads).result()


def _turn(name: str, steps: int, threads: int) -> float:
    torch.set_num_threads(threads)
    pixels = np.random.default_rng(0).integers(0, 256, (steps * BATCH, 32, 32, 3), np.uint8)
    CALLS[name](pixels[: WARM_UP * BATCH])
    return CALLS[name](pixels)


def main() -> None:
    """Read the command line, print and record."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.train_step",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--steps", type=int, default=100, help="of a turn (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each loop (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="of torch (default: %(default)s)")
    arguments = parser.parse_args()
    started = time.perf_counter()
    results = measure(arguments.steps, arguments.rounds, arguments.threads)
    print("\n".join(f"{name}: {value}" for name, value in results.items()))
    seconds = time.perf_counter() - started
    record("train_step", config=vars(arguments), results=results, seed=0, seconds=seconds, folder=RESULTS)


if __name__ == "__main__":
    main()
