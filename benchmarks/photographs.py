"""Photographs through a wrapped encoder: milliseconds an image, and whether memory stays flat.

``python -m benchmarks.photographs --photos DIR`` times EfficientNet-Lite0 at 160 and 224 pixels beside the shipped
encoder, reading included, on a machine with nothing else to do. It then enrolls 2,000 and 8,000 links to the photos at
224 and at 518 pixels, each in a process of its own, and compares the peaks of their memory. The encoder of the second
part is one convolution: what is measured is everything around it. Writes ``benchmarks/results/photographs.json``;
``--quick`` shows that everything runs.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from corel import Gallery, images
from corel.backbone import Backbone
from corel.images import find_files
from measuring.record import record

FILES, SIZES, TIMED = (2000, 8000), (224, 518), 200
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


def peak(photos: Path, size: int, files: int) -> float:
    """Megabytes at the peak of a process that wraps a small encoder and enrolls this many files."""
    words = [sys.executable, "-m", "benchmarks.photographs", "--photos", photos, "--enroll", size, files]
    return float(subprocess.run([str(each) for each in words], check=True, capture_output=True, text=True).stdout)


def enroll(photos: Sequence[Path], size: int, files: int) -> float:
    """Enroll links to the photos; gives the megabytes at the peak."""
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 16, stride=16), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
    )
    backbone = Backbone.wrap(network, list(photos[:BACKGROUND]), size=size)
    with tempfile.TemporaryDirectory() as place:
        links = Path(place, "photos")
        links.mkdir()
        rest = photos[BACKGROUND:]
        for number in range(files):
            file = rest[number % len(rest)]
            (links / f"{number}{file.suffix}").symlink_to(file.absolute())
        backbone.save(Path(place, "x.safetensors"))
        with Gallery.open(Path(place, "x.gallery"), Path(place, "x.safetensors"), create=True) as gallery:
            gallery.enroll("photos", links)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(photos: Path, files: Sequence[int], timed: int) -> dict[str, Any]:
    """All that the record holds."""
    found = list(find_files([photos]).files)
    some = found[:BACKGROUND]
    encoders = {f"lite0, {size} pixels": Backbone.wrap("lite0", some, size=size) for size in (160, 224)}
    encoders["shipped"] = Backbone.load()
    times = {name: milliseconds(backbone, found[:timed]) for name, backbone in encoders.items()}
    peaks = {f"{size} pixels": {str(count): peak(photos, size, count) for count in files} for size in SIZES}
    return {"milliseconds an image": times, "megabytes at the peak": peaks}


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.photographs", description=__doc__)
    parser.add_argument("--photos", type=Path, required=True, help="a folder of at least 200 different photos")
    parser.add_argument("--quick", action="store_true", help="small numbers, and nothing is written")
    parser.add_argument("--enroll", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.enroll:
        print(enroll(list(find_files([arguments.photos]).files), *arguments.enroll))
        return
    started, files = time.perf_counter(), (100, 200) if arguments.quick else FILES
    results = measure(arguments.photos, files, 64 if arguments.quick else TIMED)
    for name, values in results.items():
        print(name, values)
    if not arguments.quick:
        config = {"files": files, "timed": TIMED, "threads": torch.get_num_threads()}
        seconds = time.perf_counter() - started
        record("photographs", config=config, results=results, seed=0, seconds=seconds, folder=RESULTS)


if __name__ == "__main__":
    main()
