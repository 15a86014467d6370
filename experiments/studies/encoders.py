"""Which encoder for which images: the shipped encoder beside EfficientNet-Lite0, at the resolution of each.

python -m experiments encoders --data DIR --runs DIR

experiments/_lib/encodings.py says what DIR of the data holds, and how many images of each class are used. Encodings are
kept under --runs, so that scoring anew is cheap. Lite0 was trained with ImageNet's labels: it has seen Imagenette's
classes. Its count is that of a connectivity head, trained on the vectors of the background. Time is not measured here:
`python -m benchmarks.encoding` does that, on a machine with nothing else to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel.backbone import Backbone
from corel.oneclass import METHODS, ClassBank, backbone_settings, compared_rows
from corel.training import TrainConfig, train
from experiments._lib.command import folders
from experiments._lib.encoded import one_vs_all
from experiments._lib.encodings import BACKGROUND, ENCODERS, IMAGES, SIZES, Encoded, encode, load
from experiments._lib.parts import Part, run_parts

DRAWS, RATE, NEIGHBORS = 3, 0.05, 5
EXEMPLARS = (120, 30, 10)
NEAREST = "5-NN cosine"

Doubles = NDArray[np.float64]
Draw = list[NDArray[np.int64]]


def measure(encoder: str, dataset: str, m: int, data: Path, runs: Path) -> dict[str, Any]:
    """AUC and the share of strangers that are detected, by each method, from m exemplars a class."""
    backbone = load(encoder, dataset, data, runs)
    known, asked = (encode(backbone, encoder, dataset, part, data, runs) for part in ("train", "test"))
    draws = _draws(known, m)
    nearest = [one_vs_all(_neighbors(known, asked, chosen), asked.labels) for chosen in draws]
    rows = {NEAREST: {**_mean("auc", nearest), "bytes a class": 4 * m * known.raw.shape[1]}}
    for name, scorer, train_rows, test_rows in _methods(backbone, encoder, known, asked):
        found = [ClassBank.of([train_rows[rows] for rows in chosen], **scorer).assess(test_rows) for chosen in draws]
        aucs = [one_vs_all(scores, asked.labels) for scores, _ in found]
        rows[name] = {
            **_mean("auc", aucs),
            **_mean(f"above {NEAREST}", np.subtract(aucs, nearest)),
            **_mean("strangers detected", [_detected(p_values, asked.labels) for _, p_values in found]),
            "bytes a class": 4 * m * train_rows.shape[1],
        }
    return {"methods": rows, "test images": len(asked.labels), "classes": int(asked.labels.max()) + 1}


def _methods(backbone: Backbone, encoder: str, known: Encoded, asked: Encoded) -> Iterator[tuple[str, Any, Any, Any]]:
    """Name, settings, and the rows that are compared of images to enroll and to score."""
    for method in METHODS:
        if encoder == "shipped" or method != "count":
            settings = backbone_settings(backbone, method)
            yield method, settings, compared_rows(method, known), compared_rows(method, asked)
    if encoder != "shipped":
        head = _head(backbone)
        yield "count (head)", backbone_settings(head, "count"), head.encode(known.latents), head.encode(asked.latents)


def _head(backbone: Backbone) -> Backbone:
    """A connectivity head on the vectors of the background."""
    return train(backbone.background, TrainConfig.preset("features", batch_size=100), progress=False)


def _draws(known: Encoded, m: int) -> list[Draw]:
    """Exemplars of each class, drawn anew; fewer where a class has fewer."""
    classes = range(int(known.labels.max()) + 1)
    return [
        [
            np.random.default_rng([0, draw, label]).permutation(np.flatnonzero(known.labels == label))[:m]
            for label in classes
        ]
        for draw in range(DRAWS)
    ]


def _neighbors(known: Encoded, asked: Encoded, chosen: Draw) -> Doubles:
    """The mean cosine to the 5 nearest exemplars of each class, in the encoder's own vectors."""
    train_rows, test_rows = (_unit(each.raw) for each in (known, asked))
    nearest = [np.sort(test_rows @ train_rows[rows].T, axis=1)[:, -NEIGHBORS:].mean(axis=1) for rows in chosen]
    return np.stack(nearest, axis=1).astype(np.float64)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return unit


def _mean(name: str, values: Any) -> dict[str, float]:
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return {name: float(np.mean(values)), f"{name}, standard error": error}


def _detected(p_values: Doubles, labels: NDArray[np.int64]) -> float:
    """The share of images that every class but their own rejects: as if their own had not been enrolled."""
    others = p_values.copy()
    others[np.arange(len(labels)), labels] = 0
    return float((others.max(axis=1) <= RATE).mean())


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what is missing."""
    arguments = folders(__name__, __doc__, argv)
    data, runs = arguments.data, arguments.runs
    runs.mkdir(parents=True, exist_ok=True)
    settings = {"draws": DRAWS, "rate": RATE, "background": BACKGROUND}
    parts = [
        Part(f"{encoder} → {dataset}, m = {m}",
             {**settings, "exemplars": m, "images a class": IMAGES[dataset], "size": SIZES[dataset]},
             partial(measure, encoder, dataset, m, data, runs))
        for dataset, encoder, m in product(SIZES, ENCODERS, EXEMPLARS)
    ]  # fmt: skip
    config = {**settings, "encoders": ENCODERS, "evaluated": list(SIZES), "seen": ["lite0 → imagenette"]}
    run_parts("encoders", parts, config)
