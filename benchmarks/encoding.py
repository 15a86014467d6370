"""Encoding images by the shipped encoder: corel against the same network as it was run before, and onnxruntime.

``python -m benchmarks.encoding`` encodes 2,000 images in turns and writes ``benchmarks/results/encoding.json``: latents
as `Backbone.encode` gives them, the network in batches of 500 and of 100 with its batch norms apart (as corel encoded
before), and onnxruntime on the exported graph in batches of 100 and of 32. Each has a process of its own, or what corel
asks of the memory allocator would help them all. ``--quick`` shows that everything runs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks._timing import take_turns
from corel.backbone import Backbone
from measuring.record import record

BEFORE = "batch norms apart, batches of 500"  # what corel did
OURS = "corel"
TARGET, CLOSE = 1.5, 1e-5
RESULTS = Path(__file__).parent / "results"

Pixels = NDArray[np.uint8]
Latents = NDArray[np.float32]


def ways() -> dict[str, Callable[[], Callable[[Pixels], Latents]]]:
    """Every way as a function that gives one from images to latents."""
    runs = {f"onnxruntime, batches of {size}": partial(_onnx, size) for size in (32, 100)}
    plain = {f"batch norms apart, batches of {size}": partial(_plain, size) for size in (100, 500)}
    return {OURS: lambda: Backbone.load().encode, **plain, **runs}


def encode(name: str, images: int) -> Latents:
    """Encode so many images in one way: what its process does."""
    return _way(name)(_pixels(images))


@cache
def _way(name: str) -> Callable[[Pixels], Latents]:
    return ways()[name]()


@cache
def _pixels(images: int) -> Pixels:
    shape = Backbone.load().network.input_shape
    return np.random.default_rng(0).integers(0, 256, (images, *shape[1:], 3), np.uint8)


@contextmanager
def processes() -> Iterator[dict[str, Callable[[int], Latents]]]:
    """Give every way as a function of the number of images, which a process of its own runs."""
    with ExitStack() as open_ones:
        calls: dict[str, Callable[[int], Latents]] = {}
        for name in ways():
            pool = open_ones.enter_context(ProcessPoolExecutor(1, multiprocessing.get_context("spawn")))
            calls[name] = lambda images, name=name, pool=pool: pool.submit(encode, name, images).result()  # type: ignore[misc]
        yield calls


def _plain(size: int) -> Callable[[Pixels], Latents]:
    network = Backbone.load().network

    @torch.no_grad()
    def encode(pixels: Pixels) -> Latents:
        parts = [network.encoder(network.prepare(pixels[i : i + size])) for i in range(0, len(pixels), size)]
        latents: Latents = torch.cat(parts).numpy()
        return latents

    return encode


def _onnx(size: int) -> Callable[[Pixels], Latents]:
    backbone, options = Backbone.load(), onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "encoder.onnx")
        backbone.export_onnx(file)
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

    def encode(pixels: Pixels) -> Latents:
        images = backbone.network.prepare(pixels).contiguous().numpy()
        parts = [session.run(None, {"images": images[i : i + size]})[0] for i in range(0, len(images), size)]
        return np.concatenate(parts)

    return encode


def compare(images: int, rounds: int) -> dict[str, Any]:
    """Median milliseconds an image of every way, the ratios to corel's, and how far the latents agree."""
    with processes() as calls:
        for call in calls.values():
            call(images)
        turns = take_turns(calls, [images] * rounds, "encoding")
    times = {name: 1000 * statistics.median(turn.seconds) / images for name, turn in turns.items()}
    ours = np.asarray(turns[OURS].value)
    return {
        "images": images,
        "milliseconds_per_image": times,
        "ratio": {name: value / times[OURS] for name, value in times.items()},
        "largest_difference": {name: float(np.abs(turn.value - ours).max()) for name, turn in turns.items()},
        "target": {BEFORE: TARGET, "largest_difference": CLOSE},
    }


def show(results: dict[str, Any], console: Console) -> None:
    """Print the table."""
    table = Table("encoder of the default backbone", "ms an image", "× corel", "latents differ by")
    for name, value in results["milliseconds_per_image"].items():
        table.add_row(
            name, f"{value:.2f}", f"{results['ratio'][name]:.2f}", f"{results['largest_difference'][name]:.1e}"
        )
    console.print(table)


def main() -> None:
    """Measure, print, and write what a full run found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few images, no file")
    quick = parser.parse_args().quick
    started = time.perf_counter()
    results = compare(*((128, 2) if quick else (2000, 9)))
    show(results, Console(width=max(100, Console().width)))
    if not quick:
        config = {"backbone": Backbone.load().digest, "threads": torch.get_num_threads()}
        record(
            "encoding", config=config, results=results, seed=0, seconds=time.perf_counter() - started, folder=RESULTS
        )


if __name__ == "__main__":
    main()
