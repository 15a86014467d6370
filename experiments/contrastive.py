"""What the contrastive objective needs, on folds of CIFAR-10's train split.

Every variant is trained on Tiny-ImageNet with about the same compute, one change away from another, and measured on
images of the train split: no test image decides anything. Beside the radius η, scores are measured at radii that hold
a given share of the distances between background latents, so that the scale of the latents plays no part. Writes
experiments/results/contrastive.json.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from corel.backbone import Backbone
from corel.oneclass import backbone_settings
from corel.training import TrainConfig
from experiments._encoded import DRAWS, Encoded
from experiments._parts import Part, run_parts
from experiments._trainings import folders, split, trained
from experiments.control import in_batch_distances

EXEMPLARS = (10, 120, 500)
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
SCORES = ("count", "contrast")
TESTED, ENROLLABLE = 5_000, 10_000
SHORT: dict[str, Any] = {"epochs": 5}
VARIANTS: dict[str, dict[str, Any]] = {
    "views that grow from 16 pixels": SHORT,
    "views of 32 pixels, 3 epochs": {"epochs": 3, "view_size": None},
}


def fold(backbone: Backbone, data: Path) -> Encoded:
    """Part of CIFAR-10's train split to test on and another to enrol from, encoded."""
    images = split("cifar10", "train", data)
    order = np.random.default_rng(0).permutation(len(images))
    tests, rest = images.take(order[:TESTED]), images.take(order[TESTED : TESTED + ENROLLABLE])
    asked, known = (backbone.encode(part, progress=True) for part in (tests, rest))
    return Encoded(rest, known, asked, np.asarray(tests.labels), backbone_settings(backbone))


def radii_of(backbone: Backbone) -> dict[str, float]:
    """η, and the radii that hold the shares of distances between background latents, all branches together."""
    distances = in_batch_distances(backbone.background, backbone.branches, backbone.batch_size)
    return {"η": backbone.eta, **{f"{share:.0%}": float(np.quantile(distances, share)) for share in SHARES}}


def measure(backbone: Backbone, data: Path) -> dict[str, Any]:
    """AUC by score, radius and m, and the death times that go with it."""
    encoded, radii = fold(backbone, data), radii_of(backbone)
    ways = {name: replace(encoded, settings={**encoded.settings, "radius": r}) for name, r in radii.items()}
    return {
        "deaths": backbone.deaths.mean(0).tolist(),
        "seconds": backbone.metadata["history"][-1]["seconds"],
        "radii": radii,
        "auc": {
            score: {name: {str(m): way.auc(m, score) for m in EXEMPLARS} for name, way in ways.items()}
            for score in SCORES
        },
    }


def _measure(config: TrainConfig, data: Path, runs: Path) -> dict[str, Any]:
    return measure(trained("tiny-imagenet", config, data, runs), data)


def main() -> None:
    """Read the command line, train and measure what is missing."""
    arguments = folders(__doc__, ("data", "runs"))
    configs = {name: TrainConfig.preset("contrastive", **changes) for name, changes in VARIANTS.items()}
    parts = [
        Part(name, asdict(config), partial(_measure, config, arguments.data, arguments.runs))
        for name, config in configs.items()
    ]
    shown = {"auxiliary": "tiny-imagenet", "evaluated": "CIFAR-10, folds of the train split"}
    run_parts("contrastive", parts, {**shown, "exemplars": EXEMPLARS, "draws": DRAWS})
