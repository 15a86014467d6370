"""The autoencoder of the paper's experiments (Fig. 3): strided convolutions into branches, and back.

Each branch is a low-dimensional cloud of its own: few dimensions are needed for connectivity to mean anything,
many to describe an image.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import conv_transpose2d

from corel._network import Network


class BranchedLinear(nn.Module):
    """The paper's I-Linear: a linear layer with a block-diagonal matrix, stored as its blocks.

    Branch j sees the j-th part of the input alone and gives the j-th part of the output. Always computed in float32,
    also under autocast: rounding latents to half precision would move the death times.

    Example:
        >>> layer = BranchedLinear(2048, 160, branches=16)
        >>> sum(p.numel() for p in layer.parameters())  # a dense layer has 327,840
        20640

    """

    def __init__(self, in_features: int, out_features: int, branches: int) -> None:
        super().__init__()
        if branches < 1 or in_features % branches or out_features % branches:
            raise ValueError(
                f"{branches} branches cannot share {in_features} inputs and {out_features} outputs equally; "
                f"choose branches that divide both"
            )
        # The authors draw from the bound of the full fan-in, as if the zeros off the diagonal were weights.
        bound = 1 / math.sqrt(in_features)
        blocks = (branches, in_features // branches, out_features // branches)
        self.weight = nn.Parameter(torch.empty(blocks).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(branches, 1, out_features // branches).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[n, in_features]`` to ``[n, out_features]``."""
        with torch.autocast(x.device.type, enabled=False):
            branches = x.float().reshape(x.shape[0], *self.weight.shape[:2]).transpose(0, 1)
            return torch.baddbmm(self.bias, branches, self.weight).transpose(0, 1).flatten(1)


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
    """The paper's autoencoder; the defaults are its 16 branches of 10 dimensions on 32×32 colour images.

    Example:
        >>> import numpy as np
        >>> Autoencoder().encode(np.zeros((5, 32, 32, 3), np.uint8)).shape
        torch.Size([5, 160])

    """

    def __init__(
        self, branches: int = 16, branch_dim: int = 10, width: int = 32, channels: int = 3, image_size: int = 32
    ) -> None:
        super().__init__()
        if min(branches, branch_dim, width, channels) < 1:
            raise ValueError("branches, branch_dim, width and channels must be at least 1")
        if image_size < 8 or image_size % 8:
            raise ValueError(f"image_size is {image_size}; three halvings need a multiple of 8")
        self.architecture = {
            "branches": branches, "branch_dim": branch_dim, "width": width,
            "channels": channels, "image_size": image_size,
        }  # fmt: skip
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


def images_of(shape: tuple[int, ...], items: Any) -> Tensor:
    """Turn items into images as `to_unit_tensor` does, or say that they are not of this shape."""
    images = to_unit_tensor(items)
    if images.shape[1:] != shape:
        channels, size, _ = shape
        raise ValueError(
            f"the encoder takes images of {channels} channels and {size}×{size} pixels, got a batch "
            f"[n, channels, height, width] = {list(images.shape)}; corel.images.open(..., size={size}) resizes"
        )
    return images


def to_unit_tensor(images: Any) -> Tensor:
    """Turn uint8 images ``[n, height, width, channels]`` into float32 ``[n, channels, height, width]`` in [0, 1].

    Floating-point input must have that form already, up to the overshoot of a sharp resampling. The result of
    uint8 arrays lies in memory in the channels_last order that convolutions prefer.
    """
    tensor = torch.from_numpy(np.require(images, requirements=["C", "W"])) if isinstance(images, np.ndarray) else images
    if not isinstance(tensor, Tensor) or tensor.ndim != 4:
        shape = list(getattr(images, "shape", ()))
        raise ValueError(
            f"images must be an array or tensor of 4 dimensions, got {type(images).__name__} {shape}; "
            f"a single image needs a leading dimension, images[None]"
        )
    if tensor.dtype == torch.uint8:
        return tensor.permute(0, 3, 1, 2).float().div_(255)
    if not tensor.is_floating_point():
        raise TypeError(f"images must be uint8 in 0…255 or floating point in [0, 1], got {tensor.dtype}")
    if tensor.numel() and not (tensor.min() >= -0.5 and tensor.max() <= 1.5):
        raise ValueError(
            f"floating-point images must lie in [0, 1], got {tensor.min():g} to {tensor.max():g}; "
            f"divide by 255 or undo a normalisation, or pass uint8"
        )
    return tensor.float()


def _halve(inputs: int, outputs: int) -> tuple[nn.Module, nn.Module]:
    return nn.Conv2d(inputs, outputs, 3, stride=2, padding=1), nn.LeakyReLU(0.01, inplace=True)


class _Doubling(nn.ConvTranspose2d):
    """Twice the side. The bias is added apart: inside oneDNN its gradient can take as long as all the rest."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, 3, stride=2, padding=1, output_padding=1)

    def forward(self, x: Tensor, output_size: list[int] | None = None) -> Tensor:
        assert self.bias is not None  # for the type alone: torch can build this layer without
        doubled = conv_transpose2d(x, self.weight, stride=2, padding=1, output_padding=1)
        return doubled.add_(self.bias.view(-1, 1, 1))
