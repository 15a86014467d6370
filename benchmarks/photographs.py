"""Photographs through a wrapped encoder: milliseconds an image, and whether memory stays flat.

``python -m benchmarks.photographs --photos DIR`` times EfficientNet-Lite0 at 160 and 224 pixels beside the shipped
encoder, reading included, on a machine with nothing else to do. Writes ``benchmarks/results/photographs.json``.

``python -m benchmarks.photographs --photos DIR --memory`` enrolls 2,000 and 50,000 different photos at 224 and at 518
pixels, each in a process of its own, and compares the peaks of their memory. Its encoder is one convolution, wrapped
beforehand: what is measured is everything around it. Writes ``benchmarks/results/memory.json``. With ``--quick`` both
only show that everything runs.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks._timing import process_peak
from corel import Gallery, images
from corel.backbone import Backbone
from corel.images import find_files
from measuring.record import record

FILES, SIZES, TIMED = (2000, 50000), (224, 518), 400
BACKGROUND = 100  # photos, the fewest that give a backbone without much ado
RESULTS = Path(__file__).parent / "results"


def milliseconds(backbone: Backbone, photos: Sequence[Path]) -> float:
    """Mean time from a file to its latent; the first batch is not timed."""
    batches = iter(images.stream(list(photos), backbone.preparation, batch_size=32, strict=True))
    backbone.encode(next(batches).values)
    started, count = time.perf_counter(), 0
    for batch in batches:
        backbone.encode(batch.values)
        count += len(batch)
    return 1000 * (time.perf_counter() - started) / count


def times(photos: Sequence[Path], timed: int) -> dict[str, float]:
    """Milliseconds an image, by encoder."""
    encoders = {f"lite0, {size} pixels": Backbone.wrap("lite0", photos[:BACKGROUND], size=size) for size in (160, 224)}
    encoders["shipped"] = Backbone.load()
    return {name: milliseconds(backbone, photos[:timed]) for name, backbone in encoders.items()}


def peaks(folders: Sequence[Path], files: Sequence[int]) -> Iterator[dict[str, dict[str, Any]]]:
    """What processes that enroll so many files take, by size of the encoder's input; given anew after each size."""
    words = [sys.executable, "-m", "benchmarks.photographs", "--photos", *folders]

    def told(backbone: Path, count: int) -> Any:
        command = [str(each) for each in (*words, "--enroll", backbone, count)]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)

    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as place:
        for size in SIZES:
            backbone = Path(place, f"{size}.safetensors")
            one_convolution(_shuffled(folders)[:BACKGROUND], size).save(backbone)
            found[f"{size} pixels"] = {str(count): told(backbone, count) for count in files}
            yield found


def one_convolution(photos: Sequence[Path], size: int) -> Backbone:
    """Wrap an encoder that takes little time and memory of its own."""
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 16, stride=16), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
    )
    return Backbone.wrap(network, list(photos), size=size)


def enroll(photos: Sequence[Path], backbone: str, files: int) -> dict[str, float]:
    """Enroll so many of the photos; gives the megabytes at the peak, and how many exemplars there are then."""
    if len(photos) < files + BACKGROUND:
        raise SystemExit(f"{files + BACKGROUND:,} photos are needed, there are {len(photos):,}")
    with (
        tempfile.TemporaryDirectory() as place,
        Gallery.open(Path(place, "x.gallery"), backbone, create=True) as gallery,
    ):
        done = gallery.enroll("photos", photos[BACKGROUND : BACKGROUND + files])
    return {"megabytes at the peak": process_peak() / 1024, "enrolled": done.added["photos"]}


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.photographs", description=__doc__)
    parser.add_argument("--photos", type=Path, nargs="+", required=True, help="folders of different photos")
    parser.add_argument("--memory", action="store_true", help="the memory of enrolling, not the time of encoding")
    parser.add_argument("--quick", action="store_true", help="small numbers, and nothing is written")
    parser.add_argument("--enroll", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    photos, started = _shuffled(arguments.photos), time.perf_counter()
    if arguments.enroll:
        backbone, count = arguments.enroll
        print(json.dumps(enroll(photos, backbone, int(count))))
        return
    files, timed = ((100, 200), 64) if arguments.quick else (FILES, TIMED)
    found: Iterable[dict[str, Any]] = peaks(arguments.photos, files) if arguments.memory else [times(photos, timed)]
    own = {"files": files} if arguments.memory else {"timed": timed, "unit": "milliseconds an image"}
    name, config = "memory" if arguments.memory else "photographs", {**own, "threads": torch.get_num_threads()}
    for results in found:
        print(results, flush=True)
        if not arguments.quick:
            seconds = time.perf_counter() - started
            record(name, config=config, results=results, seed=0, seconds=seconds, folder=RESULTS)


def _shuffled(folders: Sequence[Path]) -> list[Path]:
    """All photos of the folders, in one random order: large and small ones come mixed."""
    files = sorted(find_files(folders).files)
    random.Random(0).shuffle(files)
    return files


if __name__ == "__main__":
    main()
