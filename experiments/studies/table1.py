"""Ours in the paper's Table 1: every pair of auxiliary and evaluated dataset that the authors' notebook prints.

Count from 80, 120 and 500 images of a class, contrast and cosine from 120, all on latents; AUCs of each class are kept.
The encoders of CIFAR-10 and Tiny-ImageNet are those that ship (seed 0); on CIFAR-100 three are trained first. Pairs
whose data is not under --data are left out; run again with the data to add them. Writes
experiments/results/table1.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from corel.images import ImageSet
from experiments import paper
from experiments._lib.command import parser
from experiments._lib.encoded import DRAWS, Encoded
from experiments._lib.parts import Part, named, run_parts
from experiments._lib.trainings import FULL, SEEDS, is_here, paper_encoder

EXEMPLARS = {"count": (80, 120, 500), "contrast": (120,), "cosine": (120,)}
SOURCES = {"cifar10": SEEDS[:1], "tiny-imagenet": SEEDS[:1], "cifar100": SEEDS}  # seeds of the encoders


def enough(images: ImageSet, exemplars: Sequence[int]) -> list[int]:
    """The m for which every class has images."""
    least = int(np.bincount(np.asarray(images.labels)).min())
    return [m for m in exemplars if m <= least]


def measure(encoded: Encoded) -> dict[str, Any]:
    """By score and m the mean AUC, its deviation over draws, and the AUC of each class."""
    return {
        score: {str(m): _summary(encoded, m, score) for m in enough(encoded.images, exemplars)}
        for score, exemplars in EXEMPLARS.items()
    }


def _summary(encoded: Encoded, m: int, score: str) -> dict[str, Any]:
    aucs = encoded.class_aucs(m, score)
    return {
        "mean": float(aucs.mean()),
        "spread": float(aucs.mean(1).std(ddof=1)),
        "class spread": float(aucs.std(0, ddof=1).mean()),
        "classes": aucs.mean(0).round(5).tolist(),
    }


def _part(cell: paper.Cell, seed: int, data: Path, runs: Path) -> Part:
    def work() -> dict[str, Any]:
        return measure(Encoded.of(paper_encoder(cell.auxiliary, data, runs, seed), cell.evaluated, data))

    return Part(f"{cell.auxiliary} → {cell.evaluated}, seed {seed}", {**_settings(), "epochs": FULL}, work)


def _settings() -> dict[str, Any]:
    return {"exemplars": EXEMPLARS, "draws": DRAWS}


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what there is data for."""
    command = parser(__name__, __doc__, ("data", "runs"))
    command.add_argument("--only", nargs="+", metavar="PART", help="parts to measure now, such as those with 'seed 1'")
    arguments = command.parse_args(argv)
    here = partial(is_here, data=arguments.data)
    parts = [
        _part(cell, seed, arguments.data, arguments.runs)
        for cell in sorted(paper.CELLS, key=lambda cell: len(SOURCES[cell.auxiliary]))
        for seed in SOURCES[cell.auxiliary]
        if here(cell.evaluated) and (cell.auxiliary != "cifar100" or here(cell.auxiliary))
    ]
    if not parts:
        raise FileNotFoundError(
            f"no dataset of Table 1 is in {arguments.data}; run `corel data fetch cifar10 {arguments.data}`"
        )
    run_parts("table1", parts, {**_settings(), "seeds": SOURCES}, only=named(parts, arguments.only))
