"""What `corel train --features` makes of good embeddings: its default, the default of before, and no training.

python -m experiments embeddings --data DIR --runs DIR

The embeddings are EfficientNet-Lite0's pooled outputs for CIFAR-10's train images (experiments/_lib/encodings.py), cut
into images to enroll and images to score; no test image is read. Heads are trained on the vectors of the background.
Writes experiments/results/embeddings.json.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel.backbone import Backbone
from corel.oneclass import ClassBank, backbone_settings
from corel.training import TrainConfig, train
from experiments._lib.command import folders
from experiments._lib.encoded import one_vs_all
from experiments._lib.encodings import BACKGROUND, PLAIN, SIZES, background, mean_nearest, vectors
from experiments._lib.record import record

DATASET, ENROLLED, SCORED = "cifar10", 120, 100
BEFORE = {"branches": 4, "branch_dim": 4, "width": 128, "rows": "measurements"}

Rows = NDArray[np.float32]
Labels = NDArray[np.int64]


def main(argv: Sequence[str]) -> None:
    """Train both heads, score, record."""
    arguments, started = folders(__name__, __doc__, argv), time.perf_counter()
    rows, labels = vectors(DATASET, "train", arguments.data, arguments.runs, (PLAIN,))
    others = background(BACKGROUND[DATASET], SIZES[DATASET], arguments.data, arguments.runs, (PLAIN,))
    chosen, scored = _fold(labels)
    nearest = mean_nearest(rows, rows[scored], chosen)
    results = {"5 nearest neighbors, normalized vectors": _measured(nearest, labels[scored], rows.shape[1])}
    backbones = {
        "vectors as they are": Backbone.wrap("vectors", others),
        "trained, default": train(others, TrainConfig.preset("features"), progress=False),
        "trained, default of before": train(others, TrainConfig.preset("features", **BEFORE), progress=False),
    }
    for name, backbone in backbones.items():
        latents = backbone.encode(rows)
        for method in ("contrast", "count"):
            bank = ClassBank.of([latents[few] for few in chosen], **backbone_settings(backbone, method))
            scores = bank.scores(latents[scored])
            results[f"{name}, {method}"] = _measured(scores, labels[scored], latents.shape[1])
    for name, row in results.items():
        print(f"{name:45} AUC {row['auc']:.3f}, top-1 {row['top-1']:.3f}, {row['numbers']} numbers")
    config = {"dataset": DATASET, "enrolled": ENROLLED, "scored of each class": SCORED, "before": BEFORE}
    record("embeddings", config=config, results=results, seed=0, seconds=time.perf_counter() - started)


def _fold(labels: Labels) -> tuple[list[Labels], Labels]:
    rng = np.random.default_rng([2, 0])
    shuffled = [rng.permutation(np.flatnonzero(labels == label)) for label in range(int(labels.max()) + 1)]
    scored = np.concatenate([rows[ENROLLED : ENROLLED + SCORED] for rows in shuffled])
    return [rows[:ENROLLED] for rows in shuffled], scored


def _measured(scores: NDArray[np.float64], labels: Labels, numbers: int) -> dict[str, Any]:
    right = float((scores.argmax(axis=1) == labels).mean())
    return {"auc": one_vs_all(scores, labels), "top-1": right, "numbers": numbers}
