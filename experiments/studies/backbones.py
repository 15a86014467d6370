"""Train the backbones that ship with corel, three seeds each, measure them as the authors did, ship seed 0.

python -m experiments backbones train --data DIR --runs DIR     # resumable; hours on two cores
python -m experiments backbones ship --data DIR --runs DIR      # minutes; writes results and src/corel/backbones

With neither word it does both.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import corel.images
from corel.backbone import Backbone
from corel.evaluation import evaluate
from corel.images import ImageSet
from corel.training import TrainConfig, train
from experiments import paper
from experiments._lib import command, trainings
from experiments._lib.names import SCORES
from experiments._lib.paths import SHIPPED
from experiments._lib.record import record
from experiments.render import cards

SOURCES = ("cifar10", "tiny-imagenet")
SEEDS = (0, 1, 2)
STAGES = (5, 10, 15, 20, 25, 30)  # epochs after which a backbone is kept; the last ones are measured and shipped
EXEMPLARS, DRAWS = 120, 5


def train_all(data: Path, runs: Path, sources: list[str], seeds: list[int]) -> None:
    """Train one backbone a source and seed; run again after any interruption, it continues."""
    for seed in seeds:
        for source in sources:
            images = trainings.titled(corel.images.open(source, root=data), source)
            for epochs in STAGES:
                if not _stage(runs, source, seed).exists():
                    backbone = train(images, TrainConfig(epochs=epochs, seed=seed), run_dir=runs / f"{source}-{seed}")
                    backbone.save(_stage(runs, source, seed, epochs))
                    print(f"{source}, seed {seed}: {epochs} epochs done", flush=True)


def ship(data: Path, runs: Path, seeds: list[int]) -> None:
    """Measure every backbone on both datasets, record it, and put seed 0's with card and log into the package."""
    started = time.perf_counter()
    splits = {
        source: [corel.images.open(source, split, root=data) for split in ("train", "test")] for source in SOURCES
    }
    cells = [_cell(runs, source, seed, target, *splits[target])
             for source in SOURCES for seed in seeds for target in SOURCES]  # fmt: skip
    stages = [
        {"run": path.parent.name, "epochs": int(path.stem.removeprefix("epoch-")),
         "auc": fold_auc(Backbone.load(path), splits["cifar10"][0])}
        for path in sorted(runs.glob("*/epoch-*.safetensors"))
    ]  # fmt: skip
    results = {"cells": cells, "means": _means(cells), "folds of CIFAR-10 train by epoch": stages}
    config = {"exemplars": EXEMPLARS, "draws": DRAWS, "epochs": STAGES[-1], "preset": "authors", "seeds": seeds}
    seconds = time.perf_counter() - started
    record("backbones", config=config, results=results, seed=None, seconds=seconds)
    for source in SOURCES:
        _ship_one(Backbone.load(_stage(runs, source, SEEDS[0])), source, results)


def _stage(runs: Path, source: str, seed: int, epochs: int = STAGES[-1]) -> Path:
    return runs / f"{source}-{seed}" / f"epoch-{epochs:02d}.safetensors"


def _cell(runs: Path, source: str, seed: int, target: str, images: ImageSet, tests: ImageSet) -> dict[str, Any]:
    backbone = Backbone.load(_stage(runs, source, seed))
    rows = evaluate(
        backbone, images, tests, exemplars=[EXEMPLARS], draws=DRAWS, scores=SCORES, controls=False
    ).summary()
    found = {row.method: {"auc": row.mean, "class spread": row.class_spread} for row in rows}
    print(f"{source} → {target}, seed {seed}: count {found['count']['auc']:.4f}", flush=True)
    return {"auxiliary": source, "evaluated": target, "seed": seed, "digest": backbone.digest, **found}


def _means(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    published = {(cell.auxiliary, cell.evaluated): cell.m120 for cell in paper.CELLS}
    means = []
    for source in SOURCES:
        for target in SOURCES:
            same = [cell for cell in cells if (cell["auxiliary"], cell["evaluated"]) == (source, target)]
            auc = {score: float(np.mean([cell[score]["auc"] for cell in same])) for score in SCORES}
            mean = {"auxiliary": source, "evaluated": target, "seeds": len(same), **auc}
            means.append({**mean, "published": published[source, target]})
    return means


def fold_auc(backbone: Backbone, images: ImageSet) -> float:
    """AUC of the count score within one train split, tests apart from exemplars: no test image decides anything."""
    order = np.random.default_rng(0).permutation(len(images))
    tests, rest = images.take(order[:5000]), images.take(order[5000:])
    (row,) = evaluate(
        backbone, rest, tests, exemplars=[EXEMPLARS], scores=["count"], draws=DRAWS, controls=False
    ).summary()
    return row.mean


def _ship_one(backbone: Backbone, source: str, results: dict[str, Any]) -> None:
    cells = [cell for cell in results["cells"] if (cell["auxiliary"], cell["seed"]) == (source, SEEDS[0])]
    backbone.metadata["auc"] = {
        f"{cards.TESTS[cell['evaluated']]}, m = {EXEMPLARS}, count": cell["count"]["auc"] for cell in cells
    }
    name = f"{source}-{backbone.branches}x{backbone.branch_dim}"
    backbone.save(SHIPPED / f"{name}.safetensors")
    means = [mean for mean in results["means"] if mean["auxiliary"] == source]
    log = {"digest": backbone.digest, "metadata": backbone.metadata, "cells": cells, "means": means}
    seconds = sum(epoch["seconds"] for epoch in backbone.metadata["history"])
    record(name, config=backbone.metadata["config"], results=log, seed=SEEDS[0], seconds=seconds, folder=SHIPPED)
    (SHIPPED / f"{name}.md").write_text(cards.card(name, source, backbone, cells, means))


def main(argv: Sequence[str]) -> None:
    """Read the command line."""
    parser = command.parser(__name__, __doc__, ("data", "runs"))
    parser.add_argument("what", choices=["train", "ship"], nargs="?", help="one of both; both by default")
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--threads", type=int, default=1, help="the shipped ones were trained with 1")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(arguments.threads)
    if arguments.what != "ship":
        train_all(arguments.data, arguments.runs, arguments.sources, arguments.seeds)
    if arguments.what != "train":
        ship(arguments.data, arguments.runs, arguments.seeds)
