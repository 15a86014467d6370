"""The contrastive encoder that ships: trained on Tiny-ImageNet, then measured once on both test splits.

Writes experiments/results/stronger.json and, with card and log, src/corel/backbones/tiny-imagenet-contrastive-16x10.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from corel.backbone import Backbone
from corel.evaluation import evaluate
from corel.training import TrainConfig
from experiments._lib.command import folders
from experiments._lib.names import SCORES
from experiments._lib.paths import SHIPPED
from experiments._lib.record import record
from experiments._lib.trainings import auxiliary_images, split, train_once
from experiments.render import cards

SOURCE, NAME = "tiny-imagenet", "tiny-imagenet-contrastive-16x10"
EXEMPLARS, DRAWS, SHOWN = (10, 120), 5, 120
THREADS = 2
CONTROLLED = ("cifar10",)  # neighbors among the exemplars of 200 classes would take longer than all else


def measure(backbone: Backbone, data: Path) -> dict[str, Any]:
    """Both scores on each test split, as `corel.evaluate` sums them up, and controls on one."""
    found = {}
    for target in cards.TESTS:
        train, test = (split(target, part, data) for part in ("train", "test"))
        controls = target in CONTROLLED
        result = evaluate(backbone, train, test, exemplars=EXEMPLARS, draws=DRAWS, scores=SCORES, controls=controls)
        found[target] = result.document()["summary"]
    return found


def ship(backbone: Backbone, found: dict[str, Any]) -> None:
    """Put the encoder, its card and its log into the package."""
    backbone.metadata["auc"] = {
        f"{cards.TESTS[target]}, m = {row['exemplars']}, {row['method']}": row["mean"]
        for target, rows in found.items()
        for row in rows
        if row["exemplars"] == SHOWN and row["method"] in SCORES
    }
    backbone.save(SHIPPED / f"{NAME}.safetensors")
    log = {"digest": backbone.digest, "metadata": backbone.metadata}
    config = backbone.metadata["config"]
    seconds = sum(epoch["seconds"] for epoch in backbone.metadata["history"])
    record(NAME, config=config, results=log, seed=config["seed"], seconds=seconds, folder=SHIPPED)
    (SHIPPED / f"{NAME}.md").write_text(cards.contrastive_card(NAME, SOURCE, backbone, THREADS))


def main(argv: Sequence[str]) -> None:
    """Read the command line, train unless it was, measure and ship."""
    arguments = folders(__name__, __doc__, argv)
    config = TrainConfig.preset("contrastive")
    file = arguments.runs / f"{NAME}.safetensors"
    backbone = train_once(lambda: auxiliary_images(SOURCE, arguments.data), config, file, THREADS)
    started = time.perf_counter()
    found = measure(backbone, arguments.data)
    ship(backbone, found)
    minutes = sum(epoch["seconds"] for epoch in backbone.metadata["history"]) / 60
    deaths = [round(float(death), 4) for death in backbone.deaths.mean(axis=0)]
    settings = {
        **asdict(config), "threads": THREADS, "digest": backbone.digest, "draws": DRAWS,
        "minutes": minutes, "deaths": deaths,
    }  # fmt: skip
    record("stronger", config=settings, results=found, seed=config.seed, seconds=time.perf_counter() - started)
