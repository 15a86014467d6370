"""Do verdicts keep their promises, and how many strangers do they stop?

``python -m experiments verdicts --data DIR`` enrolls m train images of each class and asks for verdicts on test images
of the same classes and on strangers from another set, over several draws of the exemplars. Two rules stand beside it:
an oracle, the threshold on the best likeness that has exactly the rate's false alarms on these test images; and the
former rule, by which a stranger is what every class rejects. It writes experiments/results/verdicts.json.
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
from corel.oneclass import Calibration, ClassBank, backbone_settings, joining_likeness, prediction_sets
from experiments._lib import command
from experiments._lib.record import record

RATE, DRAWS = 0.05, 3
# Known set, number of its classes, strangers from, exemplars a class.
CASES = (
    ("cifar10", 10, "cifar100", (10, 30, 120)),
    ("cifar10", 10, "fashion-mnist", (10, 30, 120)),
    ("fashion-mnist", 10, "cifar10", (10, 30, 120)),
    ("cifar100", 40, "fashion-mnist", (10, 30, 60)),
    ("cifar100", 40, "tiny-imagenet", (10, 30, 60)),
    ("tiny-imagenet", 40, "cifar10", (10, 30, 60)),
)
TRAIN, TEST = 3000, 2000  # images encoded, at most


class Encoded(NamedTuple):
    """Latents of some classes of a set."""

    train: NDArray[np.float32]
    train_labels: NDArray[np.int64]
    test: NDArray[np.float32]
    test_labels: NDArray[np.int64]


def run(data: Path, name: str | None) -> None:
    """Measure every case and write down what was found."""
    start, backbone = time.perf_counter(), Backbone.load(name)
    counts = {known: classes for known, classes, _, _ in CASES}
    sets = {known: encode(backbone, data, known, classes) for known, classes in track(counts.items(), "encoding")}
    rows = []
    for known, classes, other, sizes in track(CASES, "verdicts"):
        for m in sizes:
            found = [measure(backbone, sets[known], sets[other].test[:1000], m, draw) for draw in range(DRAWS)]
            means = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
            rows.append({"known": known, "classes": classes, "strangers": other, "exemplars": m, **means})
    config = {"backbone": backbone.digest, "rate": RATE, "draws": DRAWS}
    record("verdicts", config=config, results=rows, seed=0, seconds=time.perf_counter() - start)


def encode(backbone: Backbone, data: Path, name: str, classes: int) -> Encoded:
    """Encode as many images of each of the first classes, drawn at random."""
    parts: list[Any] = []
    for split, count in (("train", TRAIN), ("test", TEST)):
        opened = corel.images.open(name, split, root=data, size=backbone.network.input_shape[-1], progress=False)
        rng, labels = np.random.default_rng(0), np.asarray(opened.labels)
        rows = [rng.permutation(np.flatnonzero(labels == c))[: count // classes] for c in range(classes)]
        chosen = np.sort(np.concatenate(rows))
        parts += [backbone.encode(opened.take(chosen), progress=False), labels[chosen]]
    return Encoded(*parts)


def measure(backbone: Backbone, data: Encoded, strangers: NDArray[np.float32], m: int, draw: int) -> dict[str, float]:
    """Shares called stranger, coverage and size of the sets, for one draw of m exemplars a class."""
    rng = np.random.default_rng([m, draw])
    rows = [np.flatnonzero(data.train_labels == c) for c in range(data.train_labels.max() + 1)]
    bags = [data.train[rng.choice(own, m, replace=False)] for own in rows]
    bank = ClassBank.of(bags, **backbone_settings(backbone), method="contrast")
    calibration, known, other = Calibration.of(bank), bank.assess(data.test), bank.assess(strangers)
    likeness, unlike = bank.likeness(data.test), bank.likeness(strangers)
    joining, joining_other = joining_likeness(bank, data.test, likeness), joining_likeness(bank, strangers, unlike)
    p_values = calibration.pooled(known.p_values, joining, RATE)
    sets = prediction_sets(likeness, p_values, RATE)
    stopped = calibration.known(likeness, joining) <= RATE
    limit = np.quantile(likeness.max(axis=1), RATE)
    equal = np.quantile(likeness.max(axis=1), stopped.mean())
    held = np.array([truth in each for truth, each in zip(data.test_labels, sets, strict=True)])
    return {
        "known called stranger": float(stopped.mean()),
        "strangers stopped": float((calibration.known(unlike, joining_other) <= RATE).mean()),
        "strangers stopped by the oracle at the rate": float((unlike.max(axis=1) < limit).mean()),
        "strangers stopped by the oracle at equal false alarms": float((unlike.max(axis=1) < equal).mean()),
        "strangers stopped by the former rule": float((other.p_values <= RATE).all(axis=1).mean()),
        "coverage": float(held.mean()),
        "coverage by the verdict": float((held & ~stopped).mean()),
        "set size": float(np.mean([len(each) for each in sets])),
        "set size without a shared category": float((known.p_values > RATE).sum(axis=1).mean()),
        "top-1": float((likeness.argmax(axis=1) == data.test_labels).mean()),
    }


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    parser = command.parser(__name__, __doc__, ("data",))
    parser.add_argument("--backbone", help="name or path; default: the best on photographs")
    arguments = parser.parse_args(argv)
    run(arguments.data, arguments.backbone)
