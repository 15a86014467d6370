"""The paper's protocol: m items of a class are enrolled, all test items are scored, one class against all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corel._errors import ArgumentError
from corel._terminal import counted, progress_bar
from corel.backbone import Backbone
from corel.evaluation._auc import one_vs_all_auc
from corel.evaluation._labeled import LabeledItems, Source, read_labeled
from corel.evaluation._methods import Indices, Method, default_scores, main_score, methods
from corel.evaluation._records import Evaluation, Record
from corel.images import ImageSet


def evaluate(
    backbone: Backbone,
    train: Source,
    test: Source = None,
    *,
    exemplars: Sequence[int] = (120,),
    scores: Sequence[str] | None = None,
    draws: int = 5,
    seed: int = 0,
    controls: bool = True,
    expected_classes: int | None = None,
    progress: bool = True,
) -> Evaluation:
    """One-vs-all AUC of each class from a few of its train items, scored on the whole test split.

    Args:
        backbone: The encoder; it learns nothing here.
        train: Where to enroll from, at least ``max(exemplars)`` items of each class: whatever `corel.images.stream`
            takes and has labels, such as a name, a folder with one folder a class, an `ImageSet`, a dataset, or a pair
            of items and labels. For a backbone on vectors such a pair, or an .npz file.
        test: The same of the same classes; default: the test split of `train`, and where there is none 30% of each
            class.
        exemplars: Items enrolled per class; smaller draws are the beginnings of larger ones.
        scores: Any of `"count"`, `"contrast"` and, for a backbone with features of its background, `"cosine"`;
            default: all that the backbone has.
        draws: How often the exemplars are drawn anew.
        seed: Decides the draws, class by class.
        controls: Also measure the same scores on the untrained encoder, and nearest neighbors on latents (also
            less those of the background) and on pixels or standardized vectors.
        expected_classes: Refuse a dataset with another number of classes.
        progress: Show a bar, if standard error is a terminal.

    Example:
        >>> import corel
        >>> digits = [corel.images.open("digits", split) for split in ("train", "test")]
        >>> result = corel.evaluate(corel.Backbone.load(), *digits, exemplars=[10], draws=2, controls=False)
        >>> [row.method for row in result.summary()]
        ['count', 'contrast', 'cosine']

    """
    known, asked = read_labeled(backbone, train, test, seed=seed, progress=progress)
    exemplars = tuple(dict.fromkeys(exemplars))  # what is asked for twice is measured once
    scores = tuple(dict.fromkeys(default_scores(backbone) if scores is None else scores))
    _check(known, asked, exemplars, expected_classes)
    if draws < 1:
        raise ArgumentError("draws", f"must be at least 1, got {draws}")
    compared = methods(backbone, known, asked, scores, controls=controls, progress=progress)
    records: list[Record] = []
    with progress_bar("scoring", total=draws * len(exemplars) * len(compared), quiet=not progress) as advance:
        for draw in range(draws):
            chosen = draw_exemplars(known, max(exemplars), seed, draw)
            for m in exemplars:
                for method in compared:
                    records += _records(method, chosen[:, :m], draw, asked)
                    advance(note=f"{method.name}, m = {m}")
    config = _config(backbone, known, asked, exemplars, draws, seed)
    return Evaluation(config | {"score": main_score(backbone, scores)}, tuple(records))


def _records(method: Method, chosen: Indices, draw: int, test: LabeledItems) -> list[Record]:
    found = one_vs_all_auc(test.labels, method.score(chosen)).tolist()
    return [
        Record(method.name, chosen.shape[1], draw, name, auc) for name, auc in zip(test.classes, found, strict=True)
    ]


def draw_exemplars(train: ImageSet | LabeledItems, exemplars: int, seed: int, draw: int) -> Indices:
    """Draw the train items that `evaluate` enrolls: indices `[C, m]`, each class from its own random stream.

    A smaller draw of the same `seed` and number `draw` is the beginning of a larger one.
    """
    rows = [
        np.random.default_rng([seed, draw, label]).permutation(np.flatnonzero(train.labels == label))[:exemplars]
        for label in range(len(train.classes))
    ]
    return np.stack(rows)


def _check(train: LabeledItems, test: LabeledItems, exemplars: Sequence[int], expected_classes: int | None) -> None:
    """Say why the protocol cannot be run on these items, if it cannot."""
    if expected_classes is not None and len(train.classes) != expected_classes:
        raise ArgumentError(
            "expected_classes",
            f"is {expected_classes}, but {train.source} has {len(train.classes)} classes: it is another dataset, or it "
            "has other labels",
        )
    if len(train.classes) < 2:
        raise ArgumentError(
            "train",
            f"must have at least 2 classes for a one-vs-all AUC, {train.source} has {len(train.classes)}; add another",
        )
    if not exemplars or min(exemplars) < 1:
        raise ArgumentError("exemplars", f"must be at least 1 per class, got {list(exemplars)}")
    check_sizes("train", train, max(exemplars))
    check_sizes("test", test, 1)


def check_sizes(split: str, data: LabeledItems, least: int, *, empty: bool = False) -> None:
    """Refuse a class with fewer items than are needed; with `empty`, one without any is allowed."""
    sizes = np.bincount(data.labels, minlength=len(data.classes))
    sizes = np.where(sizes == 0, least, sizes) if empty else sizes
    if sizes.min() < least:
        name, found = data.classes[int(sizes.argmin())], counted(int(sizes.min()), data.kind.removesuffix("s"))
        raise ArgumentError(
            split,
            f"has {found} of class {name!r} in {data.source} but {least} are needed; add {data.kind}, or enroll fewer "
            "exemplars",
        )


def _config(
    backbone: Backbone, train: LabeledItems, test: LabeledItems, exemplars: Sequence[int], draws: int, seed: int
) -> dict[str, object]:
    return {
        "backbone": backbone.digest,
        "auxiliary": backbone.metadata.get("data", {}).get("source", "unknown"),
        "dataset": train.source,
        "classes": len(train.classes),
        "items": train.kind,
        "test_items": len(test),
        "exemplars": list(exemplars),
        "draws": draws,
        "seed": seed,
    }
