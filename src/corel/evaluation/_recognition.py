"""What a gallery would say about new images: right, wrong, unsure or stranger, on labels of one's own."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from corel.backbone import Backbone
from corel.evaluation._labelled import Labelled, Pair, labelled
from corel.evaluation._protocol import check_sizes
from corel.images import ImageSet
from corel.oneclass import Calibration, ClassBank, backbone_settings, joining_likeness, prediction_sets

LEFT_OUT = 20  # classes that take their turn as strangers, at most
STRANGER = "stranger"

Doubles: TypeAlias = NDArray[np.float64]
Latents: TypeAlias = NDArray[np.float32]
Bags: TypeAlias = dict[int, Latents]


@dataclass(frozen=True)
class Recognition:
    """Verdicts on test images, those of enrolled classes and strangers.

    Attributes:
        rate: the share of known images that may be called a stranger.
        enrolled: exemplars of each class.
        known: how many test images are of these classes.
        top_1: share of them whose likeliest class is the true one.
        called_stranger: share of them called a stranger.
        coverage: share of them whose prediction set holds the true class.
        set_sizes: how many of their prediction sets have each size.
        confusion: per true class, how many were taken for each class or called a stranger.
        strangers: per kind how many there were and the share that was stopped.
        auc: chance that a known image is likelier known than a stranger is.
        in_turn: whether the strangers are the enrolled classes, left out one at a time.

    """

    rate: float
    enrolled: dict[str, int]
    known: int
    top_1: float
    called_stranger: float
    coverage: float
    set_sizes: dict[int, int]
    confusion: dict[str, dict[str, int]]
    strangers: dict[str, tuple[int, float]]
    auc: float | None
    in_turn: bool

    def document(self) -> dict[str, Any]:
        """Everything as JSON's types."""
        return {**asdict(self), "set_sizes": {str(size): count for size, count in self.set_sizes.items()}}


class Judged(NamedTuple):
    """Items against a bank: likeness and joining likeness `[n, C]`, and the p-value for "one of the classes" `[n]`."""

    likeness: Doubles
    joining: Doubles
    known: Doubles


def recognize(
    backbone: Backbone,
    train: ImageSet | Pair,
    test: ImageSet | Pair,
    *,
    rate: float = 0.05,
    least: int = 1,
    most: int = 120,
    seed: int = 0,
) -> Recognition:
    """Enroll `least` to `most` train items of each class and decide about all test items.

    Test items of a class without train items are strangers. Where there are none, each class in turn is left out of
    the gallery and its test items are the strangers.
    """
    known, asked = labelled(backbone, train, test)
    check_sizes("train", known, least, empty=True)
    bags = _bags(backbone, known, most, seed)
    points = {
        c: backbone.encode(asked.items[asked.labels == c], progress=False) for c in np.unique(asked.labels).tolist()
    }
    if not (own := {c: points[c] for c in bags if c in points}):
        raise ValueError(f"no test item of {asked.source} is of an enrolled class; add some of {known.classes[0]!r}")
    strangers = {known.classes[c]: each for c, each in points.items() if c not in bags}
    bank = ClassBank.of(list(bags.values()), **backbone_settings(backbone))
    names = [known.classes[c] for c in bags]
    judged = {kind: judge(bank, Calibration.of(bank), each).known for kind, each in strangers.items()}
    if in_turn := not judged:
        judged = _left_out(backbone, bags, own, known.classes)
    return Recognition(
        rate=rate,
        enrolled={name: len(bag) for name, bag in zip(names, bags.values(), strict=True)},
        strangers={kind: (len(p), float((p <= rate).mean())) for kind, p in judged.items()},
        in_turn=in_turn,
        **_known(bank, own, list(bags), names, rate, list(judged.values())),
    )


def _known(
    bank: ClassBank, own: Bags, labels: list[int], names: list[str], rate: float, strangers: list[Doubles]
) -> dict[str, Any]:
    """What became of the test items of the enrolled classes."""
    latents = np.concatenate(list(own.values()))
    truth = np.repeat([labels.index(c) for c in own], [len(each) for each in own.values()])
    calibration = Calibration.of(bank)
    found = judge(bank, calibration, latents)
    sets = prediction_sets(found.likeness, calibration.pooled(bank.p_values(latents), found.joining, rate), rate)
    best = found.likeness.argmax(axis=1)
    return {
        "known": len(truth),
        "top_1": float((best == truth).mean()),
        "called_stranger": float((found.known <= rate).mean()),
        "coverage": float(np.mean([label in each for label, each in zip(truth, sets, strict=True)])),
        "set_sizes": dict(sorted(Counter(map(len, sets)).items())),
        "confusion": _confusion(truth, np.where(found.known <= rate, len(names), best), [*names, STRANGER]),
        "auc": _auc(found.known, strangers),
    }


def _bags(backbone: Backbone, train: Labelled, most: int, seed: int) -> Bags:
    """Latents of the exemplars of every class that has some, by its label."""
    bags = {}
    for label in np.unique(train.labels).tolist():
        rows = np.random.default_rng([seed, label]).permutation(np.flatnonzero(train.labels == label))[:most]
        bags[label] = backbone.encode(train.items[np.sort(rows)], progress=False)
    return bags


def judge(bank: ClassBank, calibration: Calibration, latents: Latents) -> Judged:
    """Compare items with all classes, and with how well the exemplars fit."""
    likeness = bank.likeness(latents)
    joining = joining_likeness(bank, latents, likeness)
    return Judged(likeness, joining, calibration.known(likeness, joining))


def _left_out(backbone: Backbone, bags: Bags, points: Bags, names: tuple[str, ...]) -> dict[str, Doubles]:
    """P-values of the test items of each class in turn, by a gallery without that class."""
    found = {}
    for label, latents in list(points.items())[:LEFT_OUT] if len(bags) > 1 else ():
        others = [bag for other, bag in bags.items() if other != label]
        bank = ClassBank.of(others, **backbone_settings(backbone))
        found[names[label]] = judge(bank, Calibration.of(bank), latents).known
    return found


def _confusion(truth: NDArray[np.int64], taken: NDArray[np.int64], names: list[str]) -> dict[str, dict[str, int]]:
    counts = Counter(zip(truth.tolist(), taken.tolist(), strict=True))
    return {
        name: {other: counts[(row, column)] for column, other in enumerate(names) if counts[(row, column)]}
        for row, name in enumerate(names[:-1])
    }


def _auc(known: Doubles, strangers: list[Doubles]) -> float | None:
    if not strangers:
        return None
    values = np.concatenate([known, *strangers])
    return float(roc_auc_score(np.arange(len(values)) < len(known), values))
