"""The paper's objective (Algorithm 4, step 1): reconstruct the image."""

from __future__ import annotations

import torch
from torch import Tensor

from corel._errors import ArgumentError
from corel.encoders import Autoencoder
from corel.objectives._base import Objective, image_shape
from corel.training.config import TrainConfig


class ImageReconstruction(Objective):
    """The mean over the batch of ‖x − x̂‖₁, the sum of an image's absolute errors on pixels in [0, 1]."""

    loss_name = "reconstruction"
    network_type = Autoencoder

    def __init__(self, config: TrainConfig, item_shape: tuple[int, ...]) -> None:
        super().__init__(config, item_shape)
        shape = image_shape(item_shape)
        if config.image_size not in (None, shape["image_size"]):
            raise ArgumentError(
                "image_size",
                f"is {config.image_size} but an autoencoder reconstructs whole images of {shape['image_size']} pixels; "
                f"open the images at the size that the encoder should see",
            )
        if shape["image_size"] % 8:
            raise ArgumentError(
                "size", f"is {shape['image_size']}; an autoencoder needs images of a multiple of 8 pixels"
            )
        self.network = Autoencoder(config.branches, config.branch_dim, config.width, **shape)

    def forward(self, items: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Give the reconstruction loss of uint8 images ``[b, s, s, channels]`` and their latents."""
        images = self.network.prepare(items)
        latents, reconstructed = self.network(images)
        return (images - reconstructed).abs().sum(dim=(1, 2, 3)).mean(), latents


OBJECTIVE = ImageReconstruction
