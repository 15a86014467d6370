"""Branches for features that exist already: embeddings of a frozen encoder, sensor windows, any table of numbers."""

from __future__ import annotations

import torch
from torch import Tensor

from corel.encoders import FeatureHead
from corel.objectives._base import Objective
from corel.training.config import TrainConfig


class VectorReconstruction(Objective):
    """The mean over batch and features of |x − x̂|, in deviations of each feature.

    Absolute errors as in the paper, whose images have no heavy tails: squared, the few largest values of a
    measured feature would decide what the latents keep. A mean over the features, not a sum, so that λ weighs the
    same for 4 of them and for 4,000.
    """

    loss_name = "reconstruction"
    network_type = FeatureHead
    network: FeatureHead

    def __init__(self, config: TrainConfig, item_shape: tuple[int, ...]) -> None:
        super().__init__(config, item_shape)
        if len(item_shape) != 1:
            raise ValueError(
                f"the objective features learns from an array [n, features], got items of shape {list(item_shape)}; "
                f"flatten them, or train on images with another objective"
            )
        self.network = FeatureHead(config.branches, config.branch_dim, config.width, *item_shape)

    def observe(self, items: Tensor) -> None:
        """Take the scale of the features from all of them."""
        self.network.scale.fit(self.network.prepare(items))

    def forward(self, items: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Give the reconstruction loss of rows ``[b, features]`` and their latents."""
        rows = self.network.prepare(items)
        with torch.autocast(rows.device.type, enabled=False):
            latents = self.network.encoder(rows)
            return (self.network.scale(rows) - self.network.decoder(latents)).abs().mean(), latents


OBJECTIVE = VectorReconstruction
