"""Random views of images: the augmentations of contrastive training."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

ASPECT = 4 / 3  # largest ratio of a crop's sides
HUE = 0.1  # largest turn of the colors, as a share of the color circle
JITTER = 0.4  # brightness, contrast and saturation change by up to this much
GRAY = 0.2  # share of the views without color


@torch.no_grad()
def random_views(images: Tensor, size: int, least: float, generator: torch.Generator) -> Tensor:
    """Crop each image ``[n, channels, s, s]`` in [0, 1] to `size` pixels, mirror and recolor it, by its own draw.

    Areas of crops are between `least` and 1, as shares of the image. Sides longer than the image's are cut to it.
    """
    # The grid that a crop is read through must not be rounded to half precision: it would move by a pixel.
    with torch.autocast(images.device.type, enabled=False):
        return _recolor(_crop(images, size, least, generator), generator).contiguous(memory_format=torch.channels_last)


def _crop(images: Tensor, size: int, least: float, generator: torch.Generator) -> Tensor:
    """Resize a random rectangle of each image, mirrored half of the time, to a square of `size` pixels."""
    area = _uniform(least, 1, images, generator)
    aspect = _uniform(-math.log(ASPECT), math.log(ASPECT), images, generator).exp()
    width, height = (area * aspect).sqrt().clamp(max=1), (area / aspect).sqrt().clamp(max=1)
    zero = torch.zeros_like(width)
    # Coordinates run from -1 to 1, so a rectangle of half-width w has its center within 1 - w of the middle.
    x, y = ((1 - side) * _uniform(-1, 1, images, generator) for side in (width, height))
    mirrored = width * _uniform(-1, 1, images, generator).sign()
    return _sample(images, torch.stack([mirrored, zero, x, zero, height, y], dim=1).reshape(-1, 2, 3), size)


def _sample(images: Tensor, theta: Tensor, size: int) -> Tensor:
    """Read `size` × `size` pixels of each image through its affine map ``[n, 2, 3]``."""
    grid = affine_grid(theta, [*images.shape[:2], size, size], align_corners=False)
    return grid_sample(images, grid, padding_mode="border", align_corners=False)


def _recolor(images: Tensor, generator: torch.Generator) -> Tensor:
    """Turn the colors, change brightness, contrast around the image's mean, and saturation around its grays."""
    images = _turn(images, _uniform(-HUE, HUE, images, generator) * 2 * math.pi) if images.shape[1] == 3 else images
    brightness, contrast, saturation = (
        _uniform(1 - JITTER, 1 + JITTER, images, generator).reshape(-1, 1, 1, 1) for _ in range(3)
    )
    gray = _uniform(0, 1, images, generator).reshape(-1, 1, 1, 1) < GRAY
    bright = images * brightness
    contrasted = torch.lerp(bright.mean(dim=(1, 2, 3), keepdim=True), bright, contrast)
    saturated = torch.lerp(contrasted.mean(dim=1, keepdim=True), contrasted, saturation.where(~gray, 0))
    return saturated.clamp(0, 1)


def _turn(images: Tensor, angle: Tensor) -> Tensor:
    """Rotate the colors ``[n, 3, s, s]`` about the axis of grays, each image by its angle."""
    grays = torch.full((3, 3), 1 / 3, device=images.device)
    across = torch.tensor([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]], device=images.device) / math.sqrt(3)
    cosine, sine = angle.cos().reshape(-1, 1, 1), angle.sin().reshape(-1, 1, 1)
    rotation = grays + cosine * (torch.eye(3, device=images.device) - grays) + sine * across
    return (rotation @ images.flatten(2)).reshape(images.shape)


def _uniform(low: float, high: float, images: Tensor, generator: torch.Generator) -> Tensor:
    return torch.empty(len(images), device=images.device).uniform_(low, high, generator=generator)
