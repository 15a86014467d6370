"""Contrastive learning (SimCLR): two views of one image belong together, those of two images do not."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, interpolate, normalize

from corel._errors import ArgumentError
from corel.encoders import ResidualNetwork, images_of
from corel.objectives._base import Objective, image_shape
from corel.objectives._views import random_views
from corel.training.config import TrainConfig

PROJECTED = 128  # units that a projection ends in
GROWING = (0.0, 0.75)  # shares of the training between which views grow to the size of the images


class Contrastive(Objective):
    """NT-Xent between two random views of each image, of their latents or of a projection that is left behind.

    With a projection the latents keep information that the loss would remove, which helps a classifier trained on them;
    distances between latents recognize classes better without one. The connectivity loss uses one view of each image:
    two views of an image are always close, and their short bars would be half of all. Small views at first are cheaper
    and teach the same. The last views must be as large as images; else latents of images lie closer than η.
    """

    loss_name = "nt_xent"
    network_type = ResidualNetwork

    def __init__(self, config: TrainConfig, item_shape: tuple[int, ...]) -> None:
        super().__init__(config, item_shape)
        shape = image_shape(item_shape)
        self.item_shape = (shape["channels"], shape["image_size"], shape["image_size"])
        side = config.image_size or shape["image_size"]
        if side > shape["image_size"]:
            raise ArgumentError(
                "image_size", f"is {side}, more than the {shape['image_size']} pixels of the images; lower it"
            )
        self.network = ResidualNetwork(
            config.branches, config.branch_dim, config.width, shape["channels"], image_size=side
        )
        self.sizes = (min(config.view_size or side, side), side)
        self.projection = projection(config.branches * config.branch_dim, config.projection)
        self.temperature, self.view_area = config.temperature, config.view_area

    def forward(self, items: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Give the NT-Xent loss of uint8 images ``[b, s, s, channels]`` and the latents of their first views."""
        images = images_of(self.item_shape, items)
        views = random_views(torch.cat([images, images]), self.view_size(), self.view_area, generator)
        latents = self.network.encoder(views)
        with torch.autocast(items.device.type, enabled=False):
            return nt_xent(self.projection(latents), self.temperature), latents[: len(items)]

    def inputs(self, items: Tensor) -> Tensor:
        """Shrink whole images to the network's side; views are cropped from the larger images."""
        if items.shape[1] == self.sizes[1]:
            return items
        pixels = items.permute(0, 3, 1, 2).float()
        shrunk = interpolate(pixels, size=(self.sizes[1], self.sizes[1]), mode="bilinear", antialias=True)
        return shrunk.round().clamp(0, 255).byte().permute(0, 2, 3, 1)

    def view_size(self) -> int:
        """The side of a view at this point of the training: growing by four pixels at a time, then the image's."""
        (first, last), (start, end) = self.sizes, GROWING
        grown = (self.progress - start) / (end - start)
        return last if grown >= 1 else first + int((last - first) * max(grown, 0.0)) // 4 * 4


def projection(inputs: int, hidden: int) -> nn.Module:
    """Give the layers between latents and what views are compared by: nothing without hidden units."""
    if not hidden:
        return nn.Identity()
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(inplace=True), nn.Linear(hidden, PROJECTED))


def nt_xent(projected: Tensor, temperature: float) -> Tensor:
    """Give the mean cross-entropy over rows ``[2b, d]`` of finding each row's other view among the 2b - 1 others.

    Rows i and b + i are views of one image; the softmax is over cosines divided by `temperature`.
    """
    directions = normalize(projected)
    similarities = directions @ directions.T / temperature
    others = similarities.masked_fill(torch.eye(len(projected), dtype=torch.bool, device=projected.device), -torch.inf)
    partners = torch.arange(len(projected), device=projected.device).roll(len(projected) // 2)
    return cross_entropy(others, partners)


OBJECTIVE = Contrastive
