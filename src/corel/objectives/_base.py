"""The contract between an objective and the training loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from corel._errors import ArgumentError
from corel.encoders.base import Network
from corel.training.config import TrainConfig


class Objective(nn.Module, ABC):
    """A pretext task around a network. The loop adds λ times the connectivity of the latents to its loss.

    Attributes:
        loss_name: what the progress bar and the metrics call the loss.
        network_type: what is trained; ``network_type(**network.architecture)`` builds it again from a file.
        network: what the backbone keeps. Whatever else the objective learns is left behind.
        progress: the share of the training's steps that are done, for what changes on the way.

    """

    loss_name: ClassVar[str]
    network_type: ClassVar[type[Network]]
    network: Network
    progress: float = 0.0

    @abstractmethod
    def __init__(self, config: TrainConfig, item_shape: tuple[int, ...]) -> None:
        """Draw the first weights from torch's global random state, for items of this shape as users hold them."""
        super().__init__()

    @classmethod
    def resolved(cls, config: TrainConfig, items: Tensor) -> TrainConfig:
        """Fill in what a configuration leaves to the data; nothing, unless an objective says so."""
        return config

    def observe(self, items: Tensor) -> None:
        """See all items once before the first step, to set what gradient descent does not learn, such as a scale."""

    def inputs(self, items: Tensor) -> Tensor:
        """Turn items as they are trained on into items as the network encodes them; the same unless it says so."""
        return items

    @abstractmethod
    def forward(self, items: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Give the pretext loss of a batch, a scalar, and the latents ``[b, B·D]`` that connectivity shapes.

        `generator` is seeded for this step and process: randomness drawn from it survives a resumed training.
        """


def image_shape(item_shape: tuple[int, ...]) -> dict[str, int]:
    """Give the size and channels of square images ``[size, size, channels]``, or raise if items are something else."""
    if len(item_shape) != 3 or item_shape[0] != item_shape[1]:
        raise ArgumentError(
            "images",
            f"must be square, [n, size, size, channels], for this objective, got items of shape {list(item_shape)}; "
            "corel.images.open makes them so, and the objective features takes vectors",
        )
    return {"image_size": item_shape[0], "channels": item_shape[2]}
