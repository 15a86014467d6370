"""`corel train` end to end, from JPEG files to a backbone's file, against a script with the plain loop.

``python -m benchmarks.training --photos DIR`` takes the first 20,000 JPEGs below DIR and writes
``results/training.json``. Both have two threads and take turns; their time is that of the whole process, imports and
all. corel finds its kernels compiled, and no decoded images. ``--quick`` makes a few JPEGs of its own, shows that both
run and writes nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.scale import RESULTS, THREADS, make_jpegs
from measuring.record import REPOSITORY, record

IMAGES, EPOCHS, ROUNDS, QUICK = 20_000, 2, 3, 400
OURS, PLAIN = "corel train", "plain script"
# What somebody writes first: one image after the other, then the loop of `measuring.plain`.
SCRIPT = """
from pathlib import Path
from sys import argv
import numpy as np, torch
from PIL import Image
from measuring.plain import plain_training
files = sorted(Path(argv[1]).iterdir())
pixels = np.stack([np.asarray(Image.open(file).convert("RGB").resize((32, 32), Image.BILINEAR)) for file in files])
torch.save(plain_training(pixels, int(argv[2])).state_dict(), argv[3])
"""


def seconds_of(arguments: list[str], place: Path) -> float:
    """Of a Python process, with all that it does."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), str(THREADS))
    paths = os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY)])
    environment = {**os.environ, **threads, "COREL_CACHE": str(place / "cache"), "PYTHONPATH": paths}
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - began


def take_a_turn(photos: Path, place: Path, epochs: int) -> dict[str, float]:
    """Seconds of both."""
    shutil.rmtree(place / "cache" / "images", ignore_errors=True)
    out = Path(tempfile.mkdtemp(dir=place))
    train = ["train", str(photos), "--epochs", str(epochs), "--out", str(out / "ours.safetensors"), "--quiet"]
    return {
        OURS: seconds_of(["-m", "corel", *train], place),
        PLAIN: seconds_of(["-c", SCRIPT, str(photos), str(epochs), str(out / "plain.pt")], place),
    }


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, help="a folder with at least 20,000 JPEGs")
    parser.add_argument("--quick", action="store_true", help="few images, nothing is written")
    options = parser.parse_args()
    count, epochs, rounds = (QUICK, 1, 1) if options.quick else (IMAGES, EPOCHS, ROUNDS)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        place, photos, few = Path(folder), Path(folder, "photos"), Path(folder, "few")
        photos.mkdir()
        few.mkdir()
        found = sorted(options.photos.rglob("*.[jJ][pP]*[gG]"))[:count] if options.photos else []
        for i, file in enumerate(found):
            shutil.copy(file, photos / f"{i:06}.jpg")
        if len(found) < count:
            make_jpegs(photos, count)
        make_jpegs(few, 200)
        take_a_turn(few, place, 1)  # compiles what is compiled once
        turns = [take_a_turn(photos, place, epochs) for _ in range(rounds)]
    seconds = {name: statistics.median(turn[name] for turn in turns) for name in (OURS, PLAIN)}
    speeds = {name: epochs * count / each for name, each in seconds.items()}
    table = Table("", "seconds", "images a second")
    for name, each in seconds.items():
        table.add_row(name, f"{each:.1f}", f"{speeds[name]:,.0f}")
    Console().print(table)
    if not options.quick:
        config = {"images": count, "epochs": epochs, "rounds": rounds, "threads": THREADS, "photos": bool(found)}
        ratios = [turn[PLAIN] / turn[OURS] for turn in turns]
        results = {"seconds": seconds, "images a second": speeds, "speed-up": seconds[PLAIN] / seconds[OURS],
                   "speed-up of each round": ratios}  # fmt: skip
        record("training", config=config, results=results, seed=0, seconds=time.perf_counter() - began, folder=RESULTS)


if __name__ == "__main__":
    main()
