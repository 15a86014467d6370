"""Which encoder for which images: the shipped encoder beside EfficientNet-Lite0, at the resolution of each.

python -m experiments encoders --data DIR --runs DIR

experiments/_lib/encodings.py says what DIR of the data holds, and how many images of each class are used. Encodings are
kept under --runs, so that scoring anew is cheap. Lite0 was trained with ImageNet's labels: it has seen Imagenette's
classes. Its count is that of a connectivity head, trained on the vectors of the background. A stranger is an image
whose own class is left out, and it is detected if every other class rejects it. Time is not measured here:
`python -m benchmarks.photographs` does that, on a machine with nothing else to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
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
from experiments._lib.encodings import (
    BACKGROUND,
    CHOSEN,
    ENCODERS,
    IMAGES,
    SIZES,
    Encoded,
    background,
    centered,
    encode,
    load,
    mean_nearest,
)
from experiments._lib.parts import Part, run_parts

DRAWS, RATE = 3, 0.05
EXEMPLARS = (120, 30, 10)
NEAREST = "5-NN cosine"

Doubles = NDArray[np.float64]
Draw = list[NDArray[np.int64]]


def measure(encoder: str, dataset: str, data: Path, runs: Path) -> dict[str, Any]:
    """By number of exemplars and method: AUC, and the share of strangers that are detected."""
    backbone = load(encoder, dataset, data, runs)
    known, asked = (encode(backbone, encoder, dataset, part, data, runs) for part in ("train", "test"))
    draws, head = _draws(known), partial(_head, SIZES[dataset], data, runs)
    nearest = np.array([_aucs(mean_nearest(known.raw, asked.raw, chosen), asked.labels) for chosen in draws])
    found = {NEAREST: {**_mean("auc", nearest), **_bytes(known.raw)}}
    for name, scorer, train_rows, test_rows in _methods(backbone, encoder, known, asked, head):
        banks = [ClassBank.of([train_rows[rows] for rows in chosen], **scorer) for chosen in draws]
        assessed = [bank.assess(test_rows) for bank in banks]
        aucs = np.array([_aucs(scores, asked.labels) for scores, _ in assessed])
        detected = np.array([_detected(p_values, asked.labels) for _, p_values in assessed])
        found[name] = {
            **_mean("auc", aucs), **_mean(f"above {NEAREST}", aucs - nearest),
            **_mean("strangers detected", detected), **_bytes(train_rows),
        }  # fmt: skip
    by_size = {
        str(m): {name: {what: values[i] for what, values in each.items()} for name, each in found.items()}
        for i, m in enumerate(EXEMPLARS)
    }
    return {"methods": by_size, "test images": len(asked.labels), "classes": int(asked.labels.max()) + 1}


def _methods(
    backbone: Backbone, encoder: str, known: Encoded, asked: Encoded, head: Callable[[], Backbone]
) -> Iterator[tuple[str, Any, Any, Any]]:
    """Name, settings, and the rows that are compared of images to enroll and to score."""
    for method in METHODS:
        if encoder == "shipped" or method != "count":
            settings = backbone_settings(backbone, method)
            yield method, settings, compared_rows(method, known), compared_rows(method, asked)
    if encoder != "shipped":
        trained = head()
        first, second = (trained.encode(centered(backbone, each.raw)) for each in (known, asked))
        for method in ("count", "contrast"):
            yield f"{method} (head)", backbone_settings(trained, method), first, second


@cache
def _head(size: int, data: Path, runs: Path) -> Backbone:
    """A connectivity head on the vectors of the background, as `corel.training.add_head` trains one."""
    dataset = next(name for name, pixels in SIZES.items() if pixels == size)
    backbone = load("lite0", dataset, data, runs)
    vectors = centered(backbone, background(dataset, data, runs))
    return train(vectors, TrainConfig.preset("features"), progress=False)


def _draws(known: Encoded) -> list[Draw]:
    """Exemplars of each class, drawn anew, at each number of them in turn; fewer where a class has fewer."""
    classes = range(int(known.labels.max()) + 1)
    drawn = [
        [
            np.random.default_rng([0, draw, label]).permutation(np.flatnonzero(known.labels == label))
            for label in classes
        ]
        for draw in range(DRAWS)
    ]
    return [[rows[:m] for m in EXEMPLARS for rows in shuffled] for shuffled in drawn]


def _aucs(scores: Doubles, labels: NDArray[np.int64]) -> list[float]:
    """The AUC at each number of exemplars."""
    return [one_vs_all(part, labels) for part in np.split(scores, len(EXEMPLARS), axis=1)]


def _detected(p_values: Doubles, labels: NDArray[np.int64]) -> list[float]:
    """The share of images that every class but their own rejects: as if their own had not been enrolled."""
    shares = []
    for others in np.split(p_values.copy(), len(EXEMPLARS), axis=1):
        others[np.arange(len(labels)), labels] = 0
        shares.append(float((others.max(axis=1) <= RATE).mean()))
    return shares


def _mean(name: str, values: Doubles) -> dict[str, list[float]]:
    """Mean over draws and its standard error, of values `[draws, numbers of exemplars]`."""
    errors = np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
    return {name: values.mean(axis=0).tolist(), f"{name}, standard error": errors.tolist()}


def _bytes(rows: NDArray[np.float32]) -> dict[str, list[float]]:
    return {"bytes a class": [4 * m * rows.shape[1] for m in EXEMPLARS]}


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what is missing."""
    arguments = folders(__name__, __doc__, argv)
    data, runs = arguments.data, arguments.runs
    runs.mkdir(parents=True, exist_ok=True)
    settings = {"draws": DRAWS, "exemplars": EXEMPLARS, "rate": RATE, "background": BACKGROUND, "layers": CHOSEN}
    parts = [
        Part(f"{encoder} → {dataset}", {**settings, "images a class": IMAGES[dataset], "size": SIZES[dataset]},
             partial(measure, encoder, dataset, data, runs))
        for dataset, encoder in product(SIZES, ENCODERS)
    ]  # fmt: skip
    config = {**settings, "encoders": ENCODERS, "evaluated": list(SIZES), "seen": ["lite0 → imagenette"]}
    run_parts("encoders", parts, config)
