"""The cells of Table 1: every training that was measured, beside the authors' one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments import paper
from experiments._lib.names import pairing
from experiments._lib.parts import results
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments._lib.trainings import FULL
from experiments.render.sections import not_measured, section, to_run
from experiments.render.tables import markdown, signed

M = 120
Pair = tuple[str, str]


def trainings(pair: Pair, score: str, m: int, records: Path = RESULTS) -> list[float]:
    """The AUC of each training of a cell: those of Table 1's record, and the further seeds of the shipped encoders."""
    found = results("table1", records) if (records / "table1.json").exists() else {}
    title = " → ".join(pair)  # alone in records from before there were several seeds
    own = [each.get(score, {}).get(str(m)) for name, each in found.items() if f"{name}, ".startswith(f"{title}, ")]
    aucs = [each["mean"] for each in own if each]
    return aucs + (_shipped_recipe(pair, score, records, first=1 if aucs else 0) if m == M else [])


def _shipped_recipe(pair: Pair, score: str, records: Path, first: int) -> list[float]:
    """The trainings of the encoders that ship, from the seed `first` on: seed 0 may be in Table 1's record too."""
    cells = read("backbones", records)["results"]["cells"] if (records / "backbones.json").exists() else []
    own = [cell for cell in cells if (cell["auxiliary"], cell["evaluated"]) == pair and cell["seed"] >= first]
    return [cell[score]["auc"] for cell in own if score in cell]


def between_trainings(records: Path = RESULTS) -> float:
    """The standard deviation of the count's AUC between trainings that differ in their seed, pooled over cells."""
    groups = [trainings((cell.auxiliary, cell.evaluated), "count", M, records) for cell in paper.CELLS]
    groups = [aucs for aucs in groups if len(aucs) > 1]
    squares = sum(float(np.var(aucs, ddof=1)) * (len(aucs) - 1) for aucs in groups)
    return math.sqrt(squares / sum(len(aucs) - 1 for aucs in groups)) if groups else math.nan


def table1(records: Path = RESULTS) -> str:
    """Ours in every cell of the notebook at each m, with the standard error of the difference to the authors."""
    if not (records / "table1.json").exists():
        return to_run("table1")
    deviation = between_trainings(records)
    rows = [row for cell in paper.CELLS for row in _rows(cell, deviation, records)]
    heading = ["encoder trained on → classes of", "m", "trainings", "count", "authors (count)", "difference",
               "standard error", "contrast", "cosine"]  # fmt: skip
    return section("table1", records, markdown(heading, rows), *_shorter(records), *not_measured("table1", records))


def _shorter(records: Path) -> list[str]:
    """Which encoders had fewer epochs than the others, in a sentence; none if all had as many."""
    parts = read("table1", records)["results"]
    epochs = {name: found["settings"].get("epochs", FULL) for name, found in parts.items()}
    short = [f"{name} ({count} epochs)" for name, count in epochs.items() if count < max(epochs.values())]
    return [f"Shorter trainings: {'; '.join(short)}."] if short else []


def _rows(cell: paper.Cell, deviation: float, records: Path) -> Iterator[list[str]]:
    pair = (cell.auxiliary, cell.evaluated)
    for m, published in ((80, cell.m80), (M, cell.m120), (500, cell.m500)):
        aucs = trainings(pair, "count", m, records)
        if not aucs and m == M:
            yield [pairing(*pair), str(m), "–", "–", f"{published:.4f}", *["–"] * 4]
        if aucs:
            others = (trainings(pair, score, m, records) for score in ("contrast", "cosine"))
            # Theirs is one training: its own chance is part of the difference.
            error = deviation * math.sqrt(1 + 1 / len(aucs))
            yield [pairing(*pair), str(m), str(len(aucs)), f"{np.mean(aucs):.4f}", f"{published:.4f}",
                   flagged(float(np.mean(aucs)) - published, error), f"{error:.4f}",
                   *(f"{np.mean(each):.4f}" if each else "–" for each in others)]  # fmt: skip


def flagged(difference: float, error: float) -> str:
    """A difference, in bold where it is beyond two standard errors."""
    return f"**{signed(difference)}**" if abs(difference) > 2 * error else signed(difference)


def mini(records: Path = RESULTS) -> str:
    """The protocol on 100 of ImageNet's classes, beside the authors' on all 1,000."""
    if not (records / "mini_imagenet.json").exists():
        return to_run("mini_imagenet")
    rows = []
    for auxiliary, found in results("mini_imagenet", records).items():
        known = paper.cell(auxiliary, "imagenet")
        aucs = [found["count"][m]["mean"] for m in ("80", "120", "500")]
        rows.append([pairing(auxiliary, "mini-imagenet"), *(f"{auc:.4f}" for auc in aucs),
                     f"{found['contrast']['120']['mean']:.4f}", f"{known.m120:.4f}"])  # fmt: skip
    heading = ["encoder trained on → classes of", "count, m = 80", "count, m = 120", "count, m = 500",
               "contrast, m = 120", "authors on ImageNet, 1,000 classes, m = 120"]  # fmt: skip
    return section("mini_imagenet", records, markdown(heading, rows), *not_measured("mini_imagenet", records))


def scores(records: Path = RESULTS) -> str:
    """Both scores and all controls, one row a cell, at each m."""
    if not (records / "contrast.json").exists():
        return to_run("contrast")
    found = control_rows(records)
    sizes = sorted({m for by in found.values() for m, _ in by})
    methods = list(dict.fromkeys(method for by in found.values() for _, method in by))
    shown = [
        markdown([f"m = {m}", *methods],
                 [[pairing(*pair), *(_optional(by.get((m, method))) for method in methods)]
                  for pair, by in found.items()])
        for m in sizes
    ]  # fmt: skip
    return section("contrast", records, *shown, *not_measured("contrast", records))


def control_rows(records: Path = RESULTS) -> dict[Pair, dict[tuple[int, str], float]]:
    """By cell, m and method the mean AUC."""
    document = read("contrast", records)  # the cells were no parts at first
    found: dict[str, Any] = results("contrast", records) if "parts" in document["config"] else document["results"]
    cells = {}
    for name, rows in found.items():
        auxiliary, evaluated = name.split(" → ")
        cells[auxiliary, evaluated] = {(row["exemplars"], row["method"]): float(row["mean"]) for row in rows}
    return cells


def _optional(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
