"""What Figures 4 and 5 of the paper measure of one training: its losses, and its AUC from few exemplars to all."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch

from corel.images import ImageSet
from corel.losses import ConnectivityLoss
from corel.training import TrainConfig, first_weights
from experiments import paper
from experiments._lib.encoded import DRAWS, Encoded
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import AUXILIARY, EPOCHS, split, trained

EVALUATED = "cifar10"
EXEMPLARS = tuple(paper.WEIGHT_ABLATION[20])
PROBED = 10  # batches on which the untrained encoder's connectivity is measured


def run_variants(name: str, variants: dict[str, TrainConfig], data: Path, runs: Path) -> None:
    """Train and measure every variant on the paper's auxiliary data."""
    parts = [
        Part(title, {"auxiliary": AUXILIARY, **asdict(config)}, partial(_measure, config, data, runs))
        for title, config in variants.items()
    ]
    config = {"auxiliary": AUXILIARY, "evaluated": EVALUATED, "exemplars": EXEMPLARS, "draws": DRAWS, "epochs": EPOCHS}
    run_parts(name, parts, config)


def _measure(config: TrainConfig, data: Path, runs: Path) -> dict[str, Any]:
    backbone = trained(AUXILIARY, config, data, runs)
    encoded = Encoded.of(backbone, EVALUATED, data)
    return {
        "history": backbone.metadata["history"],
        "connectivity, untrained": untrained_connectivity(config, split(AUXILIARY, "train", data)),
        "auc": {str(m): encoded.auc(m) for m in EXEMPLARS},
    }


@torch.no_grad()
def untrained_connectivity(config: TrainConfig, images: ImageSet) -> float:
    """The connectivity loss that a training begins with, mean over some batches."""
    size = config.batch_size
    network = first_weights(config, images.pixels.shape[1:]).network.eval()
    latents = network.encode(images.pixels[:: max(len(images) // (PROBED * size), 1)][: PROBED * size])
    loss = ConnectivityLoss(config.eta, config.branches, config.p, config.branch_reduction, config.zero_bars)
    return float(torch.stack([loss(batch) for batch in torch.split(latents, size) if len(batch) == size]).mean())
