"""Which encoder for which images: the shipped encoder beside EfficientNet-Lite0, at the resolution of each.

python -m experiments encoders --data DIR --runs DIR

experiments/_lib/encodings.py says what DIR of the data holds, and how many images of each class are used. Encodings are
kept under --runs, so that scoring anew is cheap. Lite0 was trained with ImageNet's labels: it has seen Imagenette's
classes. Its count is that of a connectivity head, trained on the vectors of the background. A stranger is an image
whose own class is left out: a tenth of the classes is, in turn, with the first draw of the exemplars. It is detected if
the verdict of a gallery says so. Time is not measured here: `python -m benchmarks.photographs` does that, on a machine
with nothing else to do.
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
from corel.oneclass import LATENT_METHODS, METHODS, Calibration, ClassBank, backbone_settings, compared_rows
from corel.training import TrainConfig, train
from experiments._lib.command import folders
from experiments._lib.encoded import one_vs_all
from experiments._lib.encodings import (
    BACKGROUND,
    ENCODERS,
    IMAGES,
    SIZES,
    WEIGHTED,
    Encoded,
    background,
    centered,
    encode,
    load,
    mean_nearest,
)
from experiments._lib.parts import Part, run_parts

DRAWS, RATE, LEFT_OUT = 3, 0.05, 10
EXEMPLARS = (120, 30, 10)
NEAREST = "5-NN cosine"

Doubles = NDArray[np.float64]
Draw = list[NDArray[np.int64]]


def measure(encoder: str, dataset: str, data: Path, runs: Path) -> dict[str, Any]:
    """By number of exemplars and method: AUC, and the share of strangers that are detected."""
    backbone = load(encoder, dataset, data, runs)
    known, asked = (encode(backbone, encoder, dataset, part, data, runs) for part in ("train", "test"))
    draws, head = _draws(known), partial(_head, SIZES[dataset], data, runs)
    nearest, weighted = (
        np.array([_aucs(mean_nearest(*rows, chosen), asked.labels) for chosen in draws])
        for rows in ((known.plain, asked.plain), (known.raw, asked.raw))
    )
    found = {NEAREST: {**_mean("auc", nearest), **_bytes(known.plain)}}
    if encoder != "shipped":
        found[f"{NEAREST} (weighted)"] = {**_mean("auc", weighted), **_bytes(known.raw)}
    for name, scorer, train_rows, test_rows in _methods(backbone, encoder, known, asked, head):
        banks = [ClassBank.of([train_rows[rows] for rows in chosen], **scorer) for chosen in draws]
        aucs = np.array([_aucs(bank.scores(test_rows), asked.labels) for bank in banks])
        found[name] = {
            **_mean("auc", aucs), **_mean(f"above {NEAREST}", aucs - nearest),
            "strangers detected": _detected(banks[0], test_rows, asked.labels), **_bytes(train_rows),
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
        for method in LATENT_METHODS:
            yield f"{method} (head)", backbone_settings(trained, method), first, second


@cache
def _head(size: int, data: Path, runs: Path) -> Backbone:
    """A connectivity head on the vectors of the background, as `corel.training.add_head` trains one."""
    dataset = next(name for name, pixels in SIZES.items() if pixels == size)
    backbone = load("lite0", dataset, data, runs)
    vectors = centered(backbone, background(BACKGROUND[dataset], size, data, runs))
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


def _detected(bank: ClassBank, rows: NDArray[np.float32], labels: NDArray[np.int64]) -> list[float]:
    """At each number of exemplars, the share of images that a gallery without their class calls strangers."""
    parts = np.split(np.arange(len(bank.sizes)), len(EXEMPLARS))
    return [float(np.concatenate(list(_strangers(bank, part, rows, labels))).mean()) for part in parts]


def _strangers(
    bank: ClassBank, classes: NDArray[np.int64], rows: NDArray[np.float32], labels: NDArray[np.int64]
) -> Iterator[NDArray[np.bool_]]:
    """Whether the images of each tenth of the classes are strangers to the others, by a verdict's p-value."""
    turns = np.arange(len(classes)) % LEFT_OUT
    for turn in range(min(LEFT_OUT, len(classes))):
        gallery = bank.updated(classes[turns != turn].tolist())
        likeness = gallery.likeness(rows[turns[labels] == turn])
        yield Calibration.of(gallery).known(likeness) <= RATE


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
    settings = {
        "draws": DRAWS,
        "exemplars": EXEMPLARS,
        "rate": RATE,
        "layers": WEIGHTED,
        "left out in turn": f"1/{LEFT_OUT}",
    }
    parts = [
        Part(f"{encoder} → {dataset}",
             {**settings, "images a class": IMAGES[dataset], "size": SIZES[dataset], "background": BACKGROUND[dataset]},
             partial(measure, encoder, dataset, data, runs))
        for dataset, encoder in product(SIZES, ENCODERS)
    ]  # fmt: skip
    config = {**settings, "encoders": ENCODERS, "evaluated": list(SIZES), "seen": ["lite0 → imagenette"]}
    run_parts("encoders", parts, config)
