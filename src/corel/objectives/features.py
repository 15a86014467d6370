"""Branches for features that exist already: embeddings of a frozen encoder, sensor windows, any table of numbers."""

from __future__ import annotations

import torch
from torch import Tensor

from corel._errors import ArgumentError
from corel.encoders import FeatureHead
from corel.encoders.feature_head import rows_of
from corel.objectives._base import Objective
from corel.objectives._rank import SAMPLE, by_rank
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
            raise ArgumentError(
                "images",
                f"must be an array [n, features] for the objective features, got items of shape {list(item_shape)}; "
                "flatten them, or train with another objective",
            )
        self._eta, self._batch, embeddings = config.eta, config.batch_size, config.rows == "embeddings"
        shape = config.branches, config.branch_dim, config.width
        self.network = FeatureHead(*shape, *item_shape, embeddings=int(embeddings))

    @classmethod
    def resolved(cls, config: TrainConfig, items: Tensor) -> TrainConfig:
        """Choose what is left open by the rank of the features."""
        return by_rank(config, rows_of(items.shape[1], items)) if items.ndim == 2 else config

    def observe(self, items: Tensor) -> None:
        """Take the scale of the features from all of them, and the first maps of embeddings from a sample."""
        self.network.scale.fit(self.network.prepare(items))
        if "embeddings" in self.network.architecture:
            sample = items[torch.randperm(len(items), generator=torch.Generator().manual_seed(0))[:SAMPLE]]
            self.network.begin_with_principal_components(sample, self._eta, self._batch)

    def forward(self, items: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Give the reconstruction loss of rows ``[b, features]`` and their latents."""
        rows = self.network.prepare(items)
        with torch.autocast(rows.device.type, enabled=False):
            latents = self.network.encoder(rows)
            return (self.network.scaled(rows) - self.network.decoder(latents)).abs().mean(), latents


OBJECTIVE = VectorReconstruction
