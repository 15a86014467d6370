"""The verdicts of a gallery on labeled test images: how many are right, wrong, unsure or stranger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from corel._errors import ArgumentError
from corel.backbone import Backbone
from corel.evaluation._labeled import LabeledItems, Source, read_labeled
from corel.evaluation._protocol import check_sizes
from corel.gallery import BlankTest, Scores
from corel.oneclass import Calibration, ClassBank, backbone_settings, compared_rows, preferred_method

LEFT_OUT = 20  # classes that take their turn as strangers, at most
STRANGER, BLANK = "stranger", "not a photograph"  # verdicts that name no class

Doubles: TypeAlias = NDArray[np.float64]
Booleans: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Recognition:
    """Verdicts on test images, those of enrolled classes and strangers.

    Attributes:
        rate: the share of known images that may be called a stranger.
        method: the score that decided.
        enrolled: exemplars of each class.
        known: how many test images are of these classes.
        top_1: share of them whose likeliest class is the true one.
        called_stranger: share of them called a stranger.
        called_blank: share of them called "not a photograph"; None where that was not asked.
        coverage: share of them whose prediction set holds the true class.
        set_sizes: how many of their prediction sets have each size.
        confusion: per true class, how many were taken for each class, or called a stranger or not a photograph. Where a
            class is called "stranger" itself, that verdict is "[stranger]".
        strangers: per kind how many there were and the share that was stopped.
        auc: chance that a known image is likelier known than a stranger is.
        in_turn: whether the strangers are the enrolled classes, left out one at a time.

    """

    rate: float
    method: str
    enrolled: dict[str, int]
    known: int
    top_1: float
    called_stranger: float
    called_blank: float | None
    coverage: float
    set_sizes: dict[int, int]
    confusion: dict[str, dict[str, int]]
    strangers: dict[str, tuple[int, float]]
    auc: float | None
    in_turn: bool

    def columns(self) -> list[str]:
        """What an item may be taken for: the classes, "stranger" and, where that was asked, "not a photograph"."""
        verdicts = [STRANGER] if self.called_blank is None else [STRANGER, BLANK]
        return [*self.enrolled, *(_column(each, self.enrolled) for each in verdicts)]

    def document(self) -> dict[str, Any]:
        """Everything as JSON's types."""
        return {**asdict(self), "set_sizes": {str(size): count for size, count in self.set_sizes.items()}}


class Bag(NamedTuple):
    """Items of one class as a method compares them, and whether each is a photograph; None where that is not tested."""

    rows: NDArray[np.float32]
    photographic: Booleans | None


def recognize(
    backbone: Backbone,
    train: Source,
    test: Source = None,
    *,
    rate: float = 0.05,
    method: str | None = None,
    photographs: bool = True,
    least: int = 1,
    most: int = 120,
    seed: int = 0,
) -> Recognition:
    """Enroll `least` to `most` train items of each class and decide about all test items, as a gallery would.

    Test items of a class without train items are strangers. Where there are none, each class in turn is left out of
    the gallery and its test items are the strangers. `method` and `photographs` are those of a new gallery.
    """
    known, asked = read_labeled(backbone, train, test, seed=seed)
    check_sizes("train", known, least, empty=True)
    score = preferred_method(backbone) if method is None else method
    chosen = _chosen(known, most, seed)
    blanks = _blank_test(known, chosen) if photographs else None
    bags = {c: _bag(backbone, score, known, rows) for c, rows in chosen.items()}
    tested = {c: np.flatnonzero(asked.labels == c) for c in np.unique(asked.labels).tolist()}
    points = {c: _bag(backbone, score, asked, rows, blanks) for c, rows in tested.items()}
    if not (own := {c: points[c] for c in bags if c in points}):
        raise ArgumentError(
            "test", f"has no item of an enrolled class in {asked.source}; add some of {known.classes[0]!r}"
        )
    settings, names = backbone_settings(backbone, score), {c: known.classes[c] for c in bags}
    judged = _judged(settings, bags, names, points)
    strangers = {known.classes[c]: each for c, each in judged.items() if c not in bags}
    if in_turn := not strangers:
        strangers = _left_out(settings, bags, own, names)
    return Recognition(
        rate=rate,
        method=score,
        enrolled={names[c]: len(bag.rows) for c, bag in bags.items()},
        strangers={kind: (len(each.images), _stopped(each, rate)) for kind, each in strangers.items()},
        in_turn=in_turn,
        **_known({names[c]: judged[c] for c in own}, names.values(), rate, strangers.values()),
    )


def _known(
    judged: Mapping[str, Scores], names: Collection[str], rate: float, strangers: Iterable[Scores]
) -> dict[str, Any]:
    """What became of the test items of the enrolled classes."""
    scores = Scores.joined(list(judged.values()))
    truth = [name for name, each in judged.items() for _ in each.images]
    verdicts, sets = scores.decide(rate), scores.prediction_sets(rate)
    called: list[str] = [each.verdict for each in verdicts]
    taken = [_column(each.verdict, names) if each.is_outlier else each.best for each in verdicts]
    return {
        "known": len(truth),
        "top_1": float(np.mean([each.likeliest == name for each, name in zip(verdicts, truth, strict=True)])),
        "called_stranger": called.count(STRANGER) / len(called),
        "called_blank": None if scores.photographic is None else called.count(BLANK) / len(called),
        "coverage": float(np.mean([name in each for name, each in zip(truth, sets, strict=True)])),
        "set_sizes": dict(sorted(Counter(map(len, sets)).items())),
        "confusion": _confusion(truth, taken, names),
        "auc": _auc(scores.known, [each.known for each in strangers]),
    }


def _chosen(train: LabeledItems, most: int, seed: int) -> dict[int, Indices]:
    """Draw the exemplars of every class that has some, by its label."""
    return {
        label: np.sort(np.random.default_rng([seed, label]).permutation(np.flatnonzero(train.labels == label))[:most])
        for label in np.unique(train.labels).tolist()
    }


def _blank_test(train: LabeledItems, chosen: dict[int, Indices]) -> BlankTest | None:
    """Give the test for blank frames of a gallery with these exemplars; None for vectors."""
    rows = np.concatenate(list(chosen.values()))
    some = rows[:: -(-len(rows) // BlankTest.SAMPLE)]
    return BlankTest.of_images(train.items[some]) if train.kind == "images" else None


def _bag(backbone: Backbone, method: str, data: LabeledItems, rows: Indices, blanks: BlankTest | None = None) -> Bag:
    items = data.items[rows]
    embedded = backbone.embed(items, progress=False)
    return Bag(compared_rows(method, embedded), None if blanks is None else blanks.photographic(items))


def _judged(
    settings: dict[str, Any], bags: dict[int, Bag], names: dict[int, str], asked: dict[int, Bag]
) -> dict[int, Scores]:
    """Compare test items, class by class, with all enrolled classes."""
    bank = ClassBank.of([bag.rows for bag in bags.values()], **settings)
    calibration, classes = Calibration.of(bank), tuple(names[c] for c in bags)
    return {
        c: Scores.of(bank, calibration, bag.rows, images=[""] * len(bag.rows), classes=classes,
                     photographic=bag.photographic)
        for c, bag in asked.items()
    }  # fmt: skip


def _left_out(
    settings: dict[str, Any], bags: dict[int, Bag], own: dict[int, Bag], names: dict[int, str]
) -> dict[str, Scores]:
    """Judge the test items of each class in turn by a gallery without that class."""
    found = {}
    for label, bag in list(own.items())[:LEFT_OUT] if len(bags) > 1 else ():
        others = {c: each for c, each in bags.items() if c != label}
        found[names[label]] = _judged(settings, others, names, {label: bag})[label]
    return found


def _stopped(scores: Scores, rate: float) -> float:
    return float(np.mean([verdict.is_outlier for verdict in scores.decide(rate)]))


def _column(verdict: str, names: Collection[str]) -> str:
    """Name the confusion's column for a verdict: in brackets if a class has its name."""
    return _column(f"[{verdict}]", names) if verdict in names else verdict


def _confusion(truth: list[str], taken: list[str], names: Collection[str]) -> dict[str, dict[str, int]]:
    counts = Counter(zip(truth, taken, strict=True))
    columns = [*names, *(_column(each, names) for each in (STRANGER, BLANK))]
    return {name: {other: counts[name, other] for other in columns if counts[name, other]} for name in names}


def _auc(known: Doubles, strangers: list[Doubles]) -> float | None:
    if not strangers:
        return None
    values = np.concatenate([known, *strangers])
    return float(roc_auc_score(np.arange(len(values)) < len(known), values))
