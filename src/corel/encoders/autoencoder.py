"""The autoencoder of the paper's experiments (Fig. 3): strided convolutions into branches, and back.

Each branch is a low-dimensional cloud of its own: few dimensions are needed for connectivity to mean anything,
many to describe an image.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn.functional import conv_transpose2d

from corel._errors import ArgumentError
from corel.encoders.base import Network
from corel.encoders.branched import BranchedLinear
from corel.encoders.pixels import images_of


class Encoder(nn.Sequential):
    """Images ``[n, channels, s, s]`` to latents ``[n, branches·branch_dim]``: three halvings, then the branches."""

    def __init__(self, branches: int, branch_dim: int, width: int, channels: int, image_size: int) -> None:
        features = 4 * width * (image_size // 8) ** 2
        super().__init__(
            *_halve(channels, width),
            *_halve(width, 2 * width),
            *_halve(2 * width, 4 * width),
            nn.Flatten(),
            BranchedLinear(features, branches * branch_dim, branches),
        )


class Decoder(nn.Sequential):
    """The encoder's mirror image: latents back to images, without a squashing at the end."""

    def __init__(self, branches: int, branch_dim: int, width: int, channels: int, image_size: int) -> None:
        side = image_size // 8
        super().__init__(
            BranchedLinear(branches * branch_dim, 4 * width * side**2, branches),
            nn.Unflatten(1, (4 * width, side, side)),
            _Doubling(4 * width, 2 * width),
            nn.ReLU(inplace=True),
            _Doubling(2 * width, width),
            nn.ReLU(inplace=True),
            _Doubling(width, channels),
        )


class Autoencoder(Network):
    """The paper's autoencoder; the defaults are its 16 branches of 10 dimensions on 32×32 color images.

    Example:
        >>> import numpy as np
        >>> Autoencoder().encode(np.zeros((5, 32, 32, 3), np.uint8)).shape
        torch.Size([5, 160])

    """

    def __init__(
        self, branches: int = 16, branch_dim: int = 10, width: int = 32, channels: int = 3, image_size: int = 32
    ) -> None:
        super().__init__()
        self.architecture = {
            "branches": branches, "branch_dim": branch_dim, "width": width,
            "channels": channels, "image_size": image_size,
        }  # fmt: skip
        for name, value in self.architecture.items():
            if value < 1:
                raise ArgumentError(name, f"must be at least 1, got {value}")
        if image_size % 8:
            raise ArgumentError("image_size", f"is {image_size}; three halvings need a multiple of 8")
        self.encoder = Encoder(**self.architecture)
        self.decoder = Decoder(**self.architecture)
        self.input_shape = (channels, image_size, image_size)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Give the latents of prepared images and the images reconstructed from them."""
        latents = self.encoder(images)
        return latents, self.decoder(latents)

    def prepare(self, items: Any) -> Tensor:
        """Images as `to_unit_tensor` takes them, of this network's channels and size."""
        return images_of(self.input_shape, items)


def _halve(inputs: int, outputs: int) -> tuple[nn.Module, nn.Module]:
    return nn.Conv2d(inputs, outputs, 3, stride=2, padding=1), nn.LeakyReLU(0.01, inplace=True)


class _Doubling(nn.ConvTranspose2d):
    """A transposed convolution that doubles the side.

    The bias is added separately: inside oneDNN its gradient can take as long as all the rest.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, 3, stride=2, padding=1, output_padding=1)

    def forward(self, x: Tensor, output_size: list[int] | None = None) -> Tensor:
        assert self.bias is not None  # for mypy: torch's own layers may have none
        doubled = conv_transpose2d(x, self.weight, stride=2, padding=1, output_padding=1)
        return doubled.add_(self.bias.view(-1, 1, 1))
