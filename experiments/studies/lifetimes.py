"""The paper's Figure 6 and its supplement: death times per branch, on the auxiliary test split and on another dataset.

Writes experiments/results/lifetimes.json and docs/figures/lifetimes.png.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from corel.backbone import Backbone
from corel.theory import diagnose
from corel.training import TrainConfig
from experiments._lib.command import folders
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import FULL, auxiliary_of_figures, split, trained
from experiments.render import figures

BATCHES = 200
# By auxiliary data the pairs that are compared: its own test split, and all of CIFAR-10 or Tiny-ImageNet's val split.
# Without CIFAR-100 each of the two datasets is the auxiliary one in turn.
ORIGINAL = {"cifar100": ("cifar10", "tiny-imagenet")}
SUBSTITUTED = {"tiny-imagenet": ("cifar10",), "cifar10": ("tiny-imagenet",)}
WHOLE = "cifar10"  # the dataset that the paper takes with both splits where it is not the auxiliary one


def measure(backbone: Backbone, dataset: str, splits: tuple[str, ...], data: Path) -> list[list[float]]:
    """Mean over batches of the smallest, average and largest death time, per branch `[B, 3]`."""
    latents = np.concatenate([backbone.encode(split(dataset, part, data), progress=True) for part in splits])
    found = diagnose(latents, backbone.eta, backbone.branches, backbone.batch_size, batches=BATCHES)
    deaths: list[list[float]] = found.mean.tolist()
    return deaths


def _compare(auxiliary: str, other: str, data: Path, runs: Path) -> dict[str, Any]:
    backbone = trained(auxiliary, TrainConfig(epochs=FULL), data, runs)
    parts = ("train", "test") if other == WHOLE else ("test",)
    return {
        auxiliary: measure(backbone, auxiliary, ("test",), data),
        other: measure(backbone, other, parts, data),
    }


def main(argv: Sequence[str]) -> None:
    """Read the command line, measure and draw."""
    arguments = folders(__name__, __doc__, argv)
    figure = auxiliary_of_figures(arguments.data)
    pairs = ORIGINAL if figure in ORIGINAL else SUBSTITUTED
    settings = {"batches": BATCHES}
    parts = [
        Part(f"{auxiliary} → {other}", settings, partial(_compare, auxiliary, other, arguments.data, arguments.runs))
        for auxiliary, others in pairs.items()
        for other in others
    ]
    run_parts("lifetimes", parts, {**settings, "auxiliary": figure, "eta": TrainConfig().eta})
    figures.save("lifetimes")
