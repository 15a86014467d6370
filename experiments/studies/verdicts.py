"""Do verdicts keep their promises, and how many strangers do they stop?

``python -m experiments verdicts --data DIR`` enrolls m train images of each class and asks for verdicts on test images
of the same classes and on strangers from another set, over several draws of the exemplars, by the score that a new
gallery takes and by the contrast. In an unequal gallery the classes have 10, 30 and 120 exemplars in turn, and known
images come with these frequencies. Two rules stand beside the verdicts: an oracle, the threshold on the best likeness
that has exactly as many false alarms on these test images, or exactly the rate's; and the former rule, by which a
stranger is what every class rejects. It writes experiments/results/verdicts.json.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import corel.images
from corel._terminal import track
from corel.backbone import Backbone
from corel.oneclass import (
    Calibration,
    ClassBank,
    backbone_settings,
    compared_rows,
    prediction_sets,
    preferred_method,
)
from experiments._lib import command
from experiments._lib.record import record

RATE, DRAWS = 0.05, 5
UNEQUAL = (10, 30, 120)
# Known set, number of its classes, strangers from, exemplars a class.
CASES = (
    ("cifar10", 10, "cifar100", (10, 30, 120, UNEQUAL)),
    ("cifar10", 10, "fashion-mnist", (10, 30, 120, UNEQUAL)),
    ("fashion-mnist", 10, "cifar10", (10, 30, 120, UNEQUAL)),
    ("cifar100", 40, "fashion-mnist", (10, 30, 60)),
    ("cifar100", 40, "tiny-imagenet", (10, 30, 60)),
    ("tiny-imagenet", 40, "cifar10", (10, 30, 60)),
)
TRAIN, TEST = 3000, 4000  # images encoded, at most
STRANGERS = 1000

Rows = NDArray[np.float32]
Labels = NDArray[np.int64]


class Split(NamedTuple):
    """Images of some classes of a set as each method compares them."""

    rows: dict[str, Rows]
    labels: Labels

    def drawn(self, sizes: Sequence[int], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw so many of each class."""
        return np.concatenate(
            [rng.permutation(np.flatnonzero(self.labels == c))[:size] for c, size in enumerate(sizes)]
        )


def run(data: Path, name: str | None) -> None:
    """Measure every case and write down what was found."""
    start, backbone = time.perf_counter(), Backbone.load(name)
    methods = tuple(dict.fromkeys((preferred_method(backbone), "contrast")))
    counts = {known: classes for known, classes, _, _ in CASES}
    sets = {
        (known, split): encode(backbone, methods, data, known, split, classes)
        for known, classes in track(counts.items(), "encoding")
        for split in ("train", "test")
    }
    rows = []
    for known, classes, other, sizes in track(CASES, "verdicts"):
        for each in sizes:
            enrolled = [each] * classes if isinstance(each, int) else [each[c % len(each)] for c in range(classes)]
            for method in methods:
                settings = backbone_settings(backbone, method)
                found = [
                    measure(settings, sets[known, "train"], sets[known, "test"], sets[other, "test"], enrolled, draw)
                    for draw in range(DRAWS)
                ]
                means = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
                rows.append({"score": method, "known": known, "classes": classes, "strangers": other,
                             "exemplars": each, **means})  # fmt: skip
    config = {"backbone": backbone.digest, "rate": RATE, "draws": DRAWS, "default": methods[0]}
    record("verdicts", config=config, results=rows, seed=0, seconds=time.perf_counter() - start)


def encode(backbone: Backbone, methods: Sequence[str], data: Path, name: str, split: str, classes: int) -> Split:
    """Embed as many images of each of the first classes, drawn at random."""
    count = TRAIN if split == "train" else TEST
    opened = corel.images.open(name, split, root=data, size=backbone.network.input_shape[-1], progress=False)
    rng, labels = np.random.default_rng(0), np.asarray(opened.labels)
    rows = [rng.permutation(np.flatnonzero(labels == c))[: count // classes] for c in range(classes)]
    chosen = np.sort(np.concatenate(rows))
    embedded = backbone.embed(opened.pixels[chosen], progress=False)
    return Split({method: compared_rows(method, embedded) for method in methods}, labels[chosen])


def measure(
    settings: dict[str, Any], train: Split, test: Split, other: Split, sizes: Sequence[int], draw: int
) -> dict[str, float]:
    """Shares called stranger, coverage and size of the sets, for one draw of so many exemplars of each class."""
    rng, method = np.random.default_rng([*sizes, draw]), settings.get("method", "contrast")
    enrolled, strangers = train.drawn(sizes, rng), other.rows[method][:: max(1, len(other.labels) // STRANGERS)]
    bank = ClassBank(train.rows[method][enrolled], np.cumsum([0, *sizes]), **settings)
    # Known images come with the class frequencies of the gallery, as the promise asks.
    per_class = np.bincount(test.labels).min()
    asked = test.drawn([per_class * size // max(sizes) for size in sizes], rng)
    rows, truth = test.rows[method][asked], test.labels[asked]
    calibration, found, unlike = Calibration.of(bank), bank.assess(rows), bank.likeness(strangers)
    likeness = bank.likeness(rows)
    best, stopped = likeness.max(axis=1), calibration.known(likeness) <= RATE
    sets = prediction_sets(likeness, calibration.pooled(found.p_values, likeness, RATE), RATE)
    held = np.array([label in each for label, each in zip(truth, sets, strict=True)])
    shares = {
        "known called stranger": stopped,
        "known called stranger, classes equally frequent": calibration.known(bank.likeness(test.rows[method])) <= RATE,
        "strangers stopped": calibration.known(unlike) <= RATE,
        "strangers stopped by the oracle at the rate": unlike.max(axis=1) < np.quantile(best, RATE),
        "strangers stopped by the oracle at equal false alarms": unlike.max(axis=1) < _threshold(best, stopped.sum()),
        "strangers stopped by the former rule": (bank.p_values(strangers) <= RATE).all(axis=1),
        "coverage": held,
        "coverage by the verdict": held & ~stopped,
        "set size": np.array([len(each) for each in sets]),
        "set size without a shared category": (found.p_values > RATE).sum(axis=1),
        "top-1": likeness.argmax(axis=1) == truth,
    }
    return {name: float(values.mean()) for name, values in shares.items()}


def _threshold(values: NDArray[np.float64], count: int) -> float:
    """The highest threshold that `count` of the values lie below."""
    return float(np.append(np.sort(values), np.inf)[count])


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    parser = command.parser(__name__, __doc__, ("data",))
    parser.add_argument("--backbone", help="name or path; default: the best on photographs")
    arguments = parser.parse_args(argv)
    run(arguments.data, arguments.backbone)
