"""Choose how much a wrapped encoder's vectors are whitened, on folds of train splits; no test image is read.

python -m experiments encoder_folds --data DIR --runs DIR

Train images of CIFAR-10 and of the clothing photographs, as EfficientNet-Lite0 sees them, are cut into images to enroll
and images to score (experiments/_lib/encodings.py has the data and the background). The share with the highest mean
AUC of the contrast score over sets and numbers of exemplars is frozen in `corel.encoders.whitening`.
Writes experiments/results/encoder_folds.json.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from corel.encoders.whitening import SHRINKAGE, Whitening
from corel.oneclass import ClassBank
from corel.persistence import death_times
from experiments._lib.command import folders
from experiments._lib.encoded import one_vs_all
from experiments._lib.encodings import BACKGROUND, IMAGES, SIZES, background, vectors
from experiments._lib.record import record

SETS = ("cifar10", "clothing")
EXEMPLARS = (10, 30, 80)  # of clothing's smallest class no more are left than that
SCORED, DRAWS, NEIGHBORS = 60, 2, 5
SHRINKAGES = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)  # 1 centers only
PLAIN, NEAREST = "none", "5-NN cosine"

Rows = NDArray[np.float32]
Labels = NDArray[np.int64]


def spaces(others: Rows) -> Iterator[tuple[str, Any]]:
    """Name and function of each way to map the encoder's vectors, which are `others` for the background."""
    yield PLAIN, lambda rows: rows
    for shrinkage in SHRINKAGES:
        yield f"{shrinkage}", Whitening.of(others, shrinkage)


def radius(others: Rows) -> float:
    """The mean death time of a few batches, as `Backbone.wrap` reads it off."""
    rng = np.random.default_rng(0)
    batches = np.stack([others[rng.choice(len(others), 100, replace=False)] for _ in range(20)])
    return float(death_times(torch.from_numpy(batches)).mean())


def fold(labels: Labels, draw: int) -> tuple[Labels, Labels]:
    """Exemplars `[C, m]` and images to score, of each class."""
    rng, most = np.random.default_rng([1, draw]), max(EXEMPLARS)
    shuffled = [rng.permutation(np.flatnonzero(labels == label)) for label in range(int(labels.max()) + 1)]
    scored = np.concatenate([rows[most : most + SCORED] for rows in shuffled])
    return np.stack([rows[:most] for rows in shuffled]), scored


def measure(rows: Rows, labels: Labels, others: Rows) -> dict[str, dict[str, float]]:
    """Mean AUC over draws, by shrinkage and number of exemplars, beside nearest neighbors of the vectors themselves."""
    found: dict[str, dict[str, list[float]]] = {}
    for name, space in spaces(others):
        mapped, around = space(rows), space(others)
        settings = {"branches": 1, "radius": radius(around), "background": around, "method": "contrast"}
        for draw in range(DRAWS):
            chosen, scored = fold(labels, draw)
            for m in EXEMPLARS:
                scores = ClassBank.of([mapped[few[:m]] for few in chosen], **settings).scores(mapped[scored])
                found.setdefault(name, {}).setdefault(str(m), []).append(one_vs_all(scores, labels[scored]))
    for draw in range(DRAWS):
        chosen, scored = fold(labels, draw)
        cosines = rows[scored] @ rows[chosen.ravel()].T
        for m in EXEMPLARS:
            near = np.sort(cosines.reshape(len(scored), *chosen.shape)[:, :, :m], axis=2)[:, :, -NEIGHBORS:].mean(
                axis=2
            )
            found.setdefault(NEAREST, {}).setdefault(str(m), []).append(one_vs_all(near, labels[scored]))
    return {name: {m: float(np.mean(aucs)) for m, aucs in by.items()} for name, by in found.items()}


def main(argv: Sequence[str]) -> None:
    """Read the command line, compare, write what was found."""
    arguments, started = folders(__name__, __doc__, argv), time.perf_counter()
    results: dict[str, Any] = {}
    for dataset in SETS:
        rows, labels = vectors("lite0", dataset, "train", arguments.data, arguments.runs)
        results[dataset] = measure(rows, labels, background("lite0", dataset, arguments.data, arguments.runs))
    means = {
        name: float(np.mean([list(results[dataset][name].values()) for dataset in SETS])) for name in results[SETS[0]]
    }
    results["mean"] = means
    results["chosen"] = max((name for name in means if name != NEAREST), key=lambda name: means[name])
    config = {
        "exemplars": EXEMPLARS, "scored of each class": SCORED, "draws": DRAWS, "frozen": SHRINKAGE,
        "background": BACKGROUND, "images a class": {each: IMAGES[each][0] for each in SETS},
        "size": {each: SIZES[each] for each in SETS},
    }  # fmt: skip
    record("encoder_folds", config=config, results=results, seed=0, seconds=time.perf_counter() - started)
    for name, value in sorted(means.items(), key=lambda each: -each[1]):
        print(f"{value:.4f} {name}")
