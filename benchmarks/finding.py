"""Memory of `corel find` on large photographs: ``python -m benchmarks.finding``, some minutes.

A photograph that comes with scikit-learn is enlarged to 1, 25 and 100 megapixels and saved as a JPEG. The command
searches it in a process of its own, whose peak is noted: for boxes, which draw nothing, and for the overlay, which is
as large as the photograph. Nothing is timed. Writes ``benchmarks/results/finding.json``; ``--quick`` shows that
everything runs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_sample_image

from measuring.record import record

MEGAPIXELS = (1, 25, 100)
OUTPUTS = {"boxes": "found.json", "overlay": "found.png"}
RESULTS = Path(__file__).parent / "results"
BOX = (110, 160, 200, 180)  # the pagoda


def enlarge(megapixels: float, path: Path) -> str:
    """Save the photograph at this size; gives the box of the pagoda in it."""
    photo = Image.fromarray(load_sample_image("china.jpg"))
    factor = (megapixels * 1e6 / (photo.width * photo.height)) ** 0.5
    photo.resize((round(photo.width * factor), round(photo.height * factor))).save(path, quality=90)
    return ",".join(str(int(part * factor)) for part in BOX)


def peak(command: Sequence[str], folder: Path) -> float:
    """Megabytes at the peak of a process."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} failed")
    return usage.ru_maxrss / 1024


def measure(sizes: Sequence[float]) -> dict[str, dict[str, float]]:
    """Megabytes at the peak, by size and output."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as place:
        for size in sizes:
            box = enlarge(size, Path(place, "photo.jpg"))
            command = [sys.executable, "-m", "corel", "find", "photo.jpg", "--box", box, "--quiet", "--out"]
            found[f"{size:g}"] = {name: peak([*command, out], Path(place)) for name, out in OUTPUTS.items()}
            print(size, found[f"{size:g}"], flush=True)
    return found


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.finding", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small photographs, and nothing is written")
    quick, started = parser.parse_args().quick, time.perf_counter()
    results = measure((0.3, 1) if quick else MEGAPIXELS)
    if not quick:
        seconds = time.perf_counter() - started
        record("finding", config={"box": BOX}, results=results, seed=0, seconds=seconds, folder=RESULTS)


if __name__ == "__main__":
    main()
