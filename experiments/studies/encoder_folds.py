"""Choose a wrapped encoder's layers, whitening, score and background on folds of train splits; no test image is read.

python -m experiments encoder_folds --data DIR --runs DIR

Train images of CIFAR-10 and of the clothing photographs, as EfficientNet-Lite0 sees them, are cut into images to enroll
and images to score (experiments/_lib/encodings.py has the data and the backgrounds). The background of CIFAR is the one
with the highest mean AUC by the default score; photographs keep one at its own resolution. The layers, the shrinkage
and the score with the highest mean AUC over sets and numbers of exemplars are what `corel backbone wrap lite0` takes:
frozen in `corel.encoders.stock`, `corel.encoders.whitening` and `corel.oneclass`. Writes
experiments/results/encoder_folds.json.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from corel.encoders.base import BACKGROUND as KEPT
from corel.encoders.whitening import SHRINKAGE, Whitening
from corel.oneclass import ClassBank
from corel.persistence import death_times
from experiments._lib.command import folders
from experiments._lib.encoded import one_vs_all
from experiments._lib.encodings import (
    BACKGROUND,
    BACKGROUNDS,
    IMAGES,
    SIZES,
    WEIGHTED,
    background,
    mean_nearest,
    vectors,
)
from experiments._lib.record import record

EXEMPLARS = {"cifar10": (10, 30, 120), "clothing": (10, 30, 80)}  # 112 are in clothing's smallest class
LAYERS = (("weighted",), ("weighted by a quarter",), ("weighted fourfold",), ("late",), ("late", "middle"))
SCORED, DRAWS = 60, 2
SHRINKAGES = (0.3, 0.5, 1.0)  # 1 centers only
METHODS = ("contrast", "cosine")
NEAREST = "5-NN cosine"

Rows = NDArray[np.float32]
Labels = NDArray[np.int64]
Fold = tuple[Labels, Labels]  # exemplars `[C, m]`, and images to score


def candidates(rows: Rows, others: Rows, only: str | None = None) -> Iterator[tuple[str, Rows, dict[str, Any]]]:
    """Name, vectors and settings of each way to score the encoder's vectors, which are `others` for the background."""
    for shrinkage in SHRINKAGES:
        space = Whitening.of(others, shrinkage)
        around = space(others)
        for method in METHODS:
            if only not in (None, f"{method}, shrinkage {shrinkage}"):
                continue
            settings = {"branches": 1, "radius": radius(around), "background": around, "method": method}
            yield f"{method}, shrinkage {shrinkage}", space(rows), settings


def radius(others: Rows) -> float:
    """The mean death time of a few batches, as `Backbone.wrap` reads it off."""
    rng = np.random.default_rng(0)
    batches = np.stack([others[rng.choice(len(others), 100, replace=False)] for _ in range(20)])
    return float(death_times(torch.from_numpy(batches)).mean())


def folds(labels: Labels, most: int) -> list[Fold]:
    """Exemplars and images to score, drawn anew for each fold."""
    drawn = []
    for draw in range(DRAWS):
        rng = np.random.default_rng([1, draw])
        shuffled = [rng.permutation(np.flatnonzero(labels == label)) for label in range(int(labels.max()) + 1)]
        scored = np.concatenate([rows[most : most + SCORED] for rows in shuffled])
        drawn.append((np.stack([rows[:most] for rows in shuffled]), scored))
    return drawn


def measure(
    dataset: str, layers: Sequence[str], around: str, data: Path, runs: Path, only: str | None = None
) -> dict[str, dict[str, float]]:
    """Mean AUC over draws, by candidate and number of exemplars, beside nearest neighbors of the vectors themselves."""
    rows, labels = vectors(dataset, "train", data, runs, layers)
    every = background(around, SIZES[dataset], data, runs, layers)
    others = every[np.random.default_rng(0).permutation(len(every))[:KEPT]]  # as `Backbone.wrap` samples it
    sizes = EXEMPLARS[dataset]
    drawn = folds(labels, max(sizes))
    found = {
        name: _by_size(sizes, [
            (ClassBank.of([mapped[few[:m]] for m in sizes for few in chosen], **settings).scores(mapped[scored]),
             labels[scored])
            for chosen, scored in drawn
        ])
        for name, mapped, settings in candidates(rows, others, only)
    }  # fmt: skip
    return found if only else found | {NEAREST: _by_size(sizes, [
        (mean_nearest(rows, rows[scored], [few[:m] for m in sizes for few in chosen]), labels[scored])
        for chosen, scored in drawn
    ])}  # fmt: skip


def by_background(data: Path, runs: Path) -> dict[str, dict[str, dict[str, float]]]:
    """AUC of the default score with each background, by set and number of exemplars."""
    default = f"contrast, shrinkage {SHRINKAGE}"
    return {
        dataset: {name: measure(dataset, (WEIGHTED,), name, data, runs, default)[default] for name in BACKGROUNDS}
        for dataset in EXEMPLARS
    }


def _by_size(sizes: Sequence[int], found: Sequence[tuple[NDArray[np.float64], Labels]]) -> dict[str, float]:
    """Mean AUC over draws, of scores whose columns are the classes at each number of exemplars in turn."""
    aucs = [[one_vs_all(part, labels) for part in np.split(scores, len(sizes), axis=1)] for scores, labels in found]
    return {str(m): float(auc) for m, auc in zip(sizes, np.mean(aucs, axis=0), strict=True)}


def main(argv: Sequence[str]) -> None:
    """Read the command line, compare, write what was found."""
    arguments, started = folders(__name__, __doc__, argv), time.perf_counter()
    results: dict[str, Any] = {}
    for dataset, layers in product(EXEMPLARS, LAYERS):
        found = measure(dataset, layers, BACKGROUND[dataset], arguments.data, arguments.runs)
        for name, aucs in found.items():
            results.setdefault(f"{' + '.join(layers)}: {name}", {})[dataset] = aucs
    means = {name: float(np.mean([[*by.values()] for by in each.values()])) for name, each in results.items()}
    ranked = sorted((name for name in means if NEAREST not in name), key=lambda name: -means[name])
    config = {
        "exemplars": EXEMPLARS, "scored of each class, at most": SCORED, "draws": DRAWS,
        "frozen": f"{WEIGHTED}, shrinkage {SHRINKAGE}", "background": BACKGROUND, "photos of a class": BACKGROUNDS,
        "images a class": {each: IMAGES[each][0] for each in EXEMPLARS},
        "size": {each: SIZES[each] for each in EXEMPLARS},
    }  # fmt: skip
    backgrounds = by_background(arguments.data, arguments.runs)
    told = {"auc": results, "mean": means, "chosen": ranked[0], "backgrounds": backgrounds}
    record("encoder_folds", config=config, results=told, seed=0, seconds=time.perf_counter() - started)
    for name in sorted(means, key=lambda name: -means[name]):
        print(f"{means[name]:.4f} {name}")
