"""The baselines beyond CIFAR-10 at m = 120, each beside the published mean and ours on the same classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments import paper
from experiments._lib.baselines import ORACLE, WIDER, wider_part
from experiments._lib.names import DATASETS
from experiments._lib.parts import results
from experiments._lib.paths import RESULTS
from experiments.render.comparison import sign_flip
from experiments.render.sections import not_measured, section, to_run
from experiments.render.tables import Row, markdown, signed

OURS = {"cifar10": "cifar100", "cifar20": "cifar10", "cifar100": "cifar10"}  # auxiliary data of the paper's Table 1


def wider(records: Path = RESULTS) -> str:
    """One row a method, dataset and m: its mean over the classes that were run, ours on them, and the paired test."""
    if not (records / "wider.json").exists():
        return to_run("wider")
    found = results("wider", records)
    rows: list[Row] = []
    for dataset, method, exemplars, _ in WIDER:
        title = wider_part(dataset, method, exemplars, "")
        own = [row for name, row in found.items() if name.startswith(title)]
        scores = dict.fromkeys(score for row in own for score in row["auc"] if score != ORACLE)
        rows += [_row(dataset, score, exemplars, own, records) for score in scores]
    heading = ["baseline", "classes of", "m", "classes run", "AUC", "published, all classes",
               "ours, count, m = 120, same classes", "difference", "p, sign-flip test"]  # fmt: skip
    return section("wider", records, markdown(heading, rows, text=2), *not_measured("wider", records))


def _row(dataset: str, score: str, exemplars: int, own: list[dict[str, Any]], records: Path) -> Row:
    aucs = np.array([row["auc"][score] for row in own])
    known = _published(dataset, score, exemplars)
    ours = _ours(dataset, [row["label"] for row in own], records)
    compared = ["–", "–", "–"]
    if ours is not None:
        compared = [f"{ours.mean():.3f}", signed(float((ours - aucs).mean())), f"{sign_flip(ours - aucs):.3f}"]
    return [score, DATASETS[dataset], f"{exemplars:,}", str(len(own)), f"{aucs.mean():.3f}", known, *compared]


def _published(dataset: str, score: str, exemplars: int) -> str:
    """The paper's mean over all classes: ADT's at this m, the others' from all images."""
    method, m = ("ADT", exemplars) if score.startswith("ADT") else (score, None)
    rows = [row for row in paper.TABLE_1 if (row.evaluated, row.method, row.exemplars) == (dataset, method, m)]
    return f"{rows[0].auc:.2f}{'' if m else ' (all images)'}" if rows else "–"


def _ours(dataset: str, labels: list[int], records: Path) -> Any:
    """AUC of these classes by the count from 120 images, mean over draws and trainings; None until it was measured."""
    title = f"{OURS[dataset]} → {dataset}, "
    found = results("table1", records) if (records / "table1.json").exists() else {}
    trained = [each["count"]["120"]["classes"] for name, each in found.items() if name.startswith(title)]
    return np.mean(trained, axis=0)[labels] if trained else None
