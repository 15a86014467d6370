"""The baselines beyond CIFAR-10 at m = 120, each beside the published mean and ours on the same classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments import paper
from experiments._lib.baselines import ORACLE, WIDER, half_part, wider_part
from experiments._lib.names import DATASETS
from experiments._lib.parts import progress, results
from experiments._lib.paths import RESULTS
from experiments._lib.registry import EXPERIMENTS
from experiments.render.cells import M
from experiments.render.comparison import sign_flip
from experiments.render.sections import section, to_run
from experiments.render.tables import Row, markdown, signed

LEAST = 0.001  # a smaller p is called that
OURS = {"cifar10": "cifar100", "cifar20": "cifar10", "cifar100": "cifar10"}  # auxiliary data of the paper's Table 1


def wider(records: Path = RESULTS) -> str:
    """One row a method, dataset and m: its mean over the classes that were run, ours on them, and the paired test."""
    if not (records / "wider.json").exists():
        return to_run("wider")
    found = results("wider", records)
    rows: list[Row] = []
    for dataset, method, exemplars, classes in WIDER:
        own = parts_of(dataset, method, exemplars, found)
        scores = dict.fromkeys(score for row in own for score in row["auc"] if score != ORACLE) or [method]
        for score in scores:
            compared = _compared(dataset, score, own, records) if own else ["–"] * 4
            run, known = f"{len(own)} of {classes}", _published(dataset, score, exemplars)
            rows.append([score, DATASETS[dataset], f"{exemplars:,}", run, compared[0], known, *compared[1:]])
    heading = ["baseline", "classes of", "m", "classes run", "AUC", "published, all classes",
               "ours, count, m = 120, same classes", "difference", "p, sign-flip test"]  # fmt: skip
    return section("wider", records, markdown(heading, rows, text=2), *_missing(records))


def _missing(records: Path) -> list[str]:
    """How much is left to do, and the command that does it; its parts are too many to be named."""
    done, parts = progress("wider", records)
    command = EXPERIMENTS["wider"].command
    return [f"{parts - done} of {parts} trainings are not measured yet. Continue with `{command}`."] * (done < parts)


def differences(records: Path = RESULTS) -> dict[str, Any]:
    """Ours minus each baseline at m = 120, class by class, where all the classes asked for were run."""
    found, gaps = results("wider", records), {}
    for dataset, method, exemplars, classes in WIDER:
        own = parts_of(dataset, method, exemplars, found)
        ours = _ours(dataset, [row["label"] for row in own], records) if own else None
        if exemplars == M and len(own) == classes and ours is not None:
            for score in own[0]["auc"].keys() - {ORACLE}:
                gaps[f"{score} on {DATASETS[dataset]}"] = ours - [row["auc"][score] for row in own]
    return dict(sorted(gaps.items()))


def against_thousand(records: Path = RESULTS) -> dict[str, Any]:
    """Ours from 120 images minus ADT from 1,000, by score, where all the classes asked for were run."""
    found = results("wider", records)
    gaps: dict[str, Any] = {}
    for dataset, method, exemplars, classes in WIDER:
        own = parts_of(dataset, method, exemplars, found)
        ours = _ours(dataset, [row["label"] for row in own], records) if own else None
        if exemplars > M and len(own) == classes and ours is not None:
            gaps |= {score: ours - [row["auc"][score] for row in own] for score in own[0]["auc"]}
    return gaps


def half_precision(records: Path = RESULTS) -> str:
    """ADT in bfloat16 beside the same in float32, class by class."""
    if not all((records / f"{name}.json").exists() for name in ("wider", "baselines")):
        return to_run("wider")
    found, whole = results("wider", records), results("baselines", records)
    halves = {name: row["auc"] for name, row in found.items() if name.startswith(half_part(""))}
    if not halves:
        return to_run("wider")
    rows = []
    for name, half in halves.items():
        kind = name.removeprefix(half_part(""))
        rows += [[kind, score, f"{whole[f'ADT, {kind}']['auc'][score]:.3f}", f"{half[score]:.3f}"] for score in half]
    return markdown(["class of CIFAR-10, m = 120", "score", "float32", "bfloat16"], rows, text=2)


def parts_of(dataset: str, method: str, exemplars: int, found: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of one method on one dataset, a class each."""
    title = wider_part(dataset, method, exemplars, "")
    return [row for name, row in found.items() if name.startswith(title)]


def _compared(dataset: str, score: str, own: list[dict[str, Any]], records: Path) -> Row:
    """The baseline's mean AUC, ours on the same classes, the difference, and its p-value."""
    aucs = np.array([row["auc"][score] for row in own])
    ours = _ours(dataset, [row["label"] for row in own], records)
    if ours is None:
        return [f"{aucs.mean():.3f}", "–", "–", "–"]
    gap, p = float((ours - aucs).mean()), sign_flip(ours - aucs)
    return [f"{aucs.mean():.3f}", f"{ours.mean():.3f}", signed(gap), f"{p:.3f}" if p >= LEAST else f"< {LEAST}"]


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
