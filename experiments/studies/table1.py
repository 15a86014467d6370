"""Ours in the paper's Table 1: every pair of auxiliary and evaluated dataset, m = 80, 120 and 500, count and contrast.

Pairs whose data does not lie under --data are left out, and said to be so; run again with the data, only they are
measured. CIFAR-100 as auxiliary data is trained first, the other encoders ship. Writes experiments/results/table1.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from corel.backbone import Backbone, shipped
from corel.evaluation import evaluate
from corel.images import ImageSet
from corel.training import TrainConfig
from experiments import paper
from experiments._lib.command import folders
from experiments._lib.names import SCORES
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import FULL, is_here, split, trained

EXEMPLARS, DRAWS = (80, 120, 500), 5
CLASSES = {"cifar10": 10, "cifar20": 20, "cifar100": 100, "tiny-imagenet": 200, "imagenet": 1000}


def enough(images: ImageSet) -> list[int]:
    """The m for which every class has images."""
    least = int(np.bincount(np.asarray(images.labels)).min())
    return [m for m in EXEMPLARS if m <= least]


def _measure(cell: paper.Cell, data: Path, runs: Path) -> dict[str, Any]:
    backbone = trained(cell.auxiliary, TrainConfig(epochs=FULL), data, runs)
    train, test = (split(cell.evaluated, part, data) for part in ("train", "test"))
    found = evaluate(
        backbone, train, test, exemplars=enough(train), draws=DRAWS, controls=False,
        expected_classes=CLASSES[cell.evaluated],
    )  # fmt: skip
    rows = found.document()["summary"]
    return {score: {str(row["exemplars"]): row for row in rows if row["method"] == score} for score in SCORES}


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what there is data for."""
    arguments = folders(__name__, __doc__, argv)
    here = [name for name in CLASSES if is_here(name, arguments.data)]
    if not here:
        raise FileNotFoundError(
            f"none of {', '.join(CLASSES)} is in {arguments.data}; run `corel data fetch cifar10 {arguments.data}`"
        )
    encoders = {name for name in CLASSES if f"{name}-16x10" in shipped()} | ({"cifar100"} & {*here})
    parts = [
        Part(f"{cell.auxiliary} → {cell.evaluated}", {"exemplars": EXEMPLARS, "draws": DRAWS, "encoder": _digest(cell)},
             partial(_measure, cell, arguments.data, arguments.runs))
        for cell in paper.CELLS
        if cell.auxiliary in encoders and cell.evaluated in here
    ]  # fmt: skip
    print("data not available:", ", ".join(name for name in CLASSES if name not in here) or "none")
    run_parts("table1", parts, {"exemplars": EXEMPLARS, "draws": DRAWS})


def _digest(cell: paper.Cell) -> str:
    name = f"{cell.auxiliary}-16x10"
    return Backbone.load(name).digest if name in shipped() else "trained here"
