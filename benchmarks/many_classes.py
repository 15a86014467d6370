"""A gallery of 10,000 classes × 120: memory, milliseconds an image, and whether classes could be skipped exactly.

``python -m benchmarks.many_classes --data DIR`` measures banks of 100, 1,000 and 10,000 classes, and how the time grows
with classes, exemplars and dimensions. It then asks on CIFAR-100 how many classes a bound would prove to be needless,
and writes ``results/many_classes.json``. Times are those of one core. ``--quick`` takes 20 and 100 classes, shows that
everything runs and writes nothing.

The bound: unit vectors of a class lie within an angle ρ of its mean direction, so no exemplar is nearer to an image at
an angle θ from that direction than θ − ρ, and the class's score is at most that of m exemplars there. A class may be
skipped without changing the verdict if this score is below the class's threshold (its p-value is then at most the
rate) and below the best score (it is not the likeliest).
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import corel
from corel.oneclass import Calibration, ClassBank, backbone_settings, compared_rows
from corel.oneclass._cosine import PRIOR, TEMPERATURE
from measuring.record import record

EXEMPLARS, ASKED, RATE = 120, 256, 0.05
SIZES, QUICK = (100, 1_000, 10_000), (20, 100)
RESULTS = Path(__file__).parent / "results"

Floats = NDArray[np.floating[Any]]


def bank_of(backbone: corel.Backbone, classes: int) -> tuple[ClassBank, Floats]:
    """Classes around features of real images, and images near some of them."""
    random, around = np.random.default_rng(0), backbone.background_features
    assert around is not None
    spread = 0.3 * around.std(axis=0)
    rows = around[random.integers(len(around), size=classes)].repeat(EXEMPLARS, axis=0)
    for start in range(0, len(rows), 100_000):
        some = rows[start : start + 100_000]
        some += random.normal(size=some.shape).astype(np.float32) * spread
    asked = rows[random.integers(len(rows), size=ASKED)] + spread * random.normal(size=(ASKED, rows.shape[1]))
    offsets = np.arange(classes + 1) * EXEMPLARS
    return ClassBank(rows, offsets, **backbone_settings(backbone, "cosine")), asked.astype(np.float32)


def measure_size(backbone: corel.Backbone, classes: int) -> dict[str, float]:
    """Seconds until the bank is ready, what it takes of memory, and milliseconds an image."""
    process, began = psutil.Process(), time.process_time()
    before = process.memory_info().rss
    bank, asked = bank_of(backbone, classes)
    calibration = Calibration.of(bank)
    bank.assess(asked[:8])
    ready = time.process_time() - began
    began = time.process_time()
    calibration.known(bank.assess(asked).scores)
    each = 1000 * (time.process_time() - began) / len(asked)
    return {"ready, s": ready, "memory, MB": (process.memory_info().rss - before) / 1e6, "ms an image": each}


def measure_slopes(classes: int) -> dict[str, float]:
    """The power with which the time grows: 1 where four times as many take four times as long."""
    base = {"classes": classes, "exemplars": 60, "dimensions": 192}
    began = _milliseconds(**base)
    larger = {name: _milliseconds(**{**base, name: 4 * value}) for name, value in base.items()}
    return {name: math.log(each / began) / math.log(4) for name, each in larger.items()}


def _milliseconds(classes: int, exemplars: int, dimensions: int) -> float:
    """Of one core an image, on random features."""
    random = np.random.default_rng(0)
    rows, background, asked = (
        random.normal(size=(count, dimensions)).astype(np.float32) for count in (classes * exemplars, 2000, ASKED)
    )
    settings: Any = {"branches": 1, "radius": 1.0, "background": background, "method": "cosine"}
    bank = ClassBank(rows, np.arange(classes + 1) * exemplars, **settings)
    bank.assess(asked[:8])
    began = time.process_time()
    bank.assess(asked)
    return 1000 * (time.process_time() - began) / len(asked)


def measure_shortlist(backbone: corel.Backbone, root: Path | None, asked: int) -> dict[str, float]:
    """The share of classes that the bound proves needless, and the share that are: no bound can skip more."""
    settings: Any = {"root": root, "preparation": backbone.preparation, "progress": False}
    train, test = (corel.images.open("cifar100", split, **settings) for split in ("train", "test"))
    assert train.labels is not None
    chosen = np.concatenate([np.flatnonzero(train.labels == c)[:EXEMPLARS] for c in range(len(train.classes))])
    bags = compared_rows("cosine", backbone.embed(train.pixels[chosen]))
    offsets = np.arange(len(train.classes) + 1) * EXEMPLARS
    bank = ClassBank(bags, offsets, **backbone_settings(backbone, "cosine"))
    rows = compared_rows("cosine", backbone.embed(test.pixels[:asked]))
    scores = bank.assess(rows).scores
    highest = bounds(bank, rows, scores)
    limit = np.minimum(bank.thresholds(RATE), scores.max(axis=1, keepdims=True))
    return {"proved needless": float((highest < limit).mean()), "needless": float((scores < limit).mean())}


def bounds(bank: ClassBank, rows: Floats, scores: Floats) -> Floats:
    """The highest score `[n, C]` that each class can have, by its mean direction and the angle around it."""
    points, units = (_units(bank, each) for each in (rows, bank.exemplars))
    bags = units.reshape(len(bank.sizes), -1, units.shape[1])
    centers = bags.mean(axis=1)
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    around = _angles(np.einsum("cmf,cf->cm", bags, centers)).max(axis=1)
    nearest = np.cos(np.maximum(0, _angles(points @ centers.T) - around))
    masses = np.exp((points @ units.T - 1) / TEMPERATURE).reshape(len(points), len(bags), -1).sum(axis=2)
    constant = np.log(PRIOR / (bank.sizes + PRIOR))
    worth = np.expm1(scores - constant) / masses  # what a unit of mass is worth at this image
    return np.asarray(np.log1p(worth * bank.sizes * np.exp((nearest - 1) / TEMPERATURE)) + constant)


def _units(bank: ClassBank, rows: Floats) -> Floats:
    found = bank._measure.points(np.asarray(rows, np.float32))[:, 0].astype(np.float64)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def _angles(cosines: Floats) -> Floats:
    return np.asarray(np.arccos(np.clip(cosines, -1, 1)))


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="where CIFAR-100 is")
    parser.add_argument("--quick", action="store_true", help="few classes, nothing is written")
    options = parser.parse_args()
    torch.set_num_threads(1)
    backbone, began = corel.Backbone.load(), time.perf_counter()
    sizes = {classes: measure_size(backbone, classes) for classes in (QUICK if options.quick else SIZES)}
    table = Table("classes × 120", *next(iter(sizes.values())))
    for classes, row in sizes.items():
        table.add_row(f"{classes:,}", *(f"{value:,.2f}" for value in row.values()))
    slopes = measure_slopes(50 if options.quick else 500)
    console = Console()
    console.print(table, {f"time ~ {name}^": f"{power:.2f}" for name, power in slopes.items()})
    if options.quick and options.data is None:
        return
    shares = measure_shortlist(backbone, options.data, 100 if options.quick else 2000)
    console.print({name: f"{share:.1%}" for name, share in shares.items()})
    if not options.quick:
        config = {"exemplars": EXEMPLARS, "asked": ASKED, "rate": RATE, "backbone": backbone.digest[:12]}
        sized = {str(classes): row for classes, row in sizes.items()}
        results = {"sizes": sized, "slopes": slopes, "shortlist": shares}
        seconds = time.perf_counter() - began
        record("many_classes", config=config, results=results, seed=0, seconds=seconds, folder=RESULTS)


if __name__ == "__main__":
    main()
