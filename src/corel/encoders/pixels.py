"""Images as users hold them → the tensors that encoders take."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from corel._errors import ArgumentError, ArgumentTypeError


def images_of(shape: tuple[int, ...], items: Any) -> Tensor:
    """Turn items into images as `to_unit_tensor` does, or say that they are not of this shape."""
    images = to_unit_tensor(items)
    if images.shape[1:] != shape:
        channels, size, _ = shape
        raise ArgumentError(
            "images",
            f"must have {channels} channels and {size}×{size} pixels for this encoder, got a batch "
            f"[n, channels, height, width] = {list(images.shape)}; corel.images.open(..., size={size}) resizes",
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
        raise ArgumentError(
            "images",
            f"must be an array or tensor of 4 dimensions, got {type(images).__name__} {shape}; "
            "a single image needs a leading dimension, images[None]",
        )
    if tensor.dtype == torch.uint8:
        return tensor.permute(0, 3, 1, 2).float().div_(255)
    if not tensor.is_floating_point():
        raise ArgumentTypeError("images", f"must be uint8 in 0…255 or floating point in [0, 1], got {tensor.dtype}")
    if tensor.numel() and not (tensor.min() >= -0.5 and tensor.max() <= 1.5):
        raise ArgumentError(
            "images",
            f"in floating point must lie in [0, 1], got {tensor.min():g} to {tensor.max():g}; "
            "divide by 255 or undo a normalization, or pass uint8",
        )
    return tensor.float()
