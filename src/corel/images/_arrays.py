"""Images that are numbers already: numpy arrays, tensors, .npy and .npz files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel._terminal import track
from corel.images._convert import from_array
from corel.images._set import UInt8Array


def resize_all(images: NDArray[Any], size: int, *, progress: bool = False) -> UInt8Array:
    """Convert images ``[n, h, w]``, ``[n, h, w, 1|3|4]`` or ``[n, 1|3|4, h, w]`` to RGB of `size`."""
    if images.ndim not in (3, 4):
        raise ValueError(
            f"images must be [n, h, w], [n, h, w, 1|3|4] or [n, 1|3|4, h, w], got {list(images.shape)}"
        )
    if images.dtype == np.uint8 and images.shape[1:] == (size, size, 3):
        return images
    pixels = np.empty((len(images), size, size, 3), np.uint8)
    for i in track(range(len(images)), "resizing", quiet=not progress):
        pixels[i] = from_array(images[i], size)
    return pixels
