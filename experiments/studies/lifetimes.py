"""The paper's Figure 6 and its supplement: death times per branch, on the auxiliary test split and on other datasets.

All images are passed over once, in random batches. Writes experiments/results/lifetimes.json and
docs/figures/lifetimes.png.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from corel.backbone import Backbone
from corel.losses import split_branches
from corel.persistence import death_times
from corel.training import TrainConfig
from experiments._lib.command import folders
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import AUXILIARY, FULL, paper_encoder, split
from experiments.render import figures

# The auxiliary test split is compared with these: as in the paper, all of CIFAR-10, and Tiny-ImageNet's val split.
OTHERS = {"cifar10": ("train", "test"), "tiny-imagenet": ("test",)}


def measure(backbone: Backbone, dataset: str, splits: Sequence[str], data: Path) -> list[list[float]]:
    """Mean over batches of the smallest, average and largest death time, per branch `[B, 3]`."""
    latents = np.concatenate([backbone.encode(split(dataset, part, data), progress=True) for part in splits])
    size = backbone.batch_size
    rows = np.random.default_rng(0).permutation(len(latents))[: len(latents) // size * size]
    clouds = split_branches(torch.from_numpy(latents[rows]), backbone.branches)
    deaths = death_times(clouds.reshape(backbone.branches, -1, size, clouds.shape[-1])).double()
    means: list[list[float]] = torch.stack([deaths.amin(-1), deaths.mean(-1), deaths.amax(-1)], -1).mean(1).tolist()
    return means


def _compare(other: str, data: Path, runs: Path) -> dict[str, Any]:
    backbone = paper_encoder(AUXILIARY, data, runs)
    return {
        AUXILIARY: measure(backbone, AUXILIARY, ("test",), data),
        other: measure(backbone, other, OTHERS[other], data),
    }


def main(argv: Sequence[str]) -> None:
    """Read the command line, measure and draw."""
    arguments = folders(__name__, __doc__, argv)
    parts = [
        Part(
            f"{AUXILIARY} → {other}",
            {"splits": splits, "epochs": FULL},
            partial(_compare, other, arguments.data, arguments.runs),
        )
        for other, splits in OTHERS.items()
    ]
    run_parts("lifetimes", parts, {"auxiliary": AUXILIARY, "eta": TrainConfig().eta})
    figures.save("lifetimes")
