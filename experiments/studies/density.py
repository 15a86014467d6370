"""The theory against practice: how many of m points have the m − b + 1 neighbors within β that Lemma 1 promises.

Lemma 1 speaks of sets whose b-point subsets are all connected within [α, β]; the paper reads it with the mean β̂ over
batches. Measured on the auxiliary test split, on CIFAR-10's test split and on single classes of CIFAR-10's train split,
each with its own β̂. Writes experiments/results/density.json and docs/figures/density.png.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from corel.backbone import Backbone
from corel.losses import split_branches
from corel.theory import diagnose, guaranteed_neighbors
from corel.training import TrainConfig
from experiments._lib.command import folders
from experiments._lib.encoded import Doubles, Latents
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import AUXILIARY, FULL, paper_encoder, split
from experiments.render import figures

EXEMPLARS = (100, 120, 200, 500, 1000, 2000)
DRAWS = 3
SETS = ("auxiliary, test split", "CIFAR-10, test split", "CIFAR-10, one class")


def pools(name: str, data: Path) -> Iterator[Any]:
    """The images that points are drawn from; single classes one after the other."""
    if name != SETS[2]:
        yield split(AUXILIARY if name == SETS[0] else "cifar10", "test", data)
        return
    images = split("cifar10", "train", data)
    yield from (images.take(np.flatnonzero(images.labels == label)) for label in range(len(images.classes)))


def neighbors(latents: Latents, betas: Doubles) -> Doubles:
    """How many other points lie within β of each point, per branch `[B, m]`."""
    clouds = split_branches(torch.from_numpy(latents), len(betas)).double()
    within = torch.cdist(clouds, clouds, p=1) <= torch.from_numpy(betas)[:, None, None]
    counts: Doubles = (within.sum(2) - 1).double().numpy()
    return counts


def measure(backbone: Backbone, latents: Latents) -> list[dict[str, float]]:
    """For each m the share of points, over branches and draws, that have what is promised, and what they have."""
    b, rng = backbone.batch_size, np.random.default_rng(0)
    betas = diagnose(latents, backbone.eta, backbone.branches, b).mean[:, 2]
    rows = []
    for m in EXEMPLARS:
        draws = [latents[rng.choice(len(latents), m, replace=False)] for _ in range(DRAWS)]
        counts = np.stack([neighbors(draw, betas) for draw in draws])
        promised = guaranteed_neighbors(m, b)
        rows.append({"share": float((counts >= promised).mean()), "within": float(counts.mean() / (m - 1))})
    return rows


def _measure_set(name: str, data: Path, runs: Path) -> dict[str, dict[str, float]]:
    backbone = paper_encoder(AUXILIARY, data, runs)
    found = [measure(backbone, backbone.encode(images)) for images in pools(name, data)]
    return {
        str(m): {key: float(np.mean([pool[k][key] for pool in found])) for key in found[0][k]}
        for k, m in enumerate(EXEMPLARS)
    }


def main(argv: Sequence[str]) -> None:
    """Read the command line, measure and draw."""
    arguments = folders(__name__, __doc__, argv)
    settings = {"auxiliary": AUXILIARY, "epochs": FULL, "exemplars": EXEMPLARS, "draws": DRAWS}
    parts = [Part(name, settings, partial(_measure_set, name, arguments.data, arguments.runs)) for name in SETS]
    run_parts("density", parts, {**settings, "batch_size": TrainConfig().batch_size})
    figures.save("density")
