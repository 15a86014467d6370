"""Several views of one image: their embeddings are averaged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from corel._errors import ArgumentError
from corel.images._convert import as_array

WHOLE = "whole"
CROPS = ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))  # corners: shares of the margin above and to the left
KEPT = 7 / 8  # of a side stays in a crop
VIEWS = {WHOLE: 1, "mirror": 2, "crops": 2 * (1 + len(CROPS))}  # how many each name stands for


def check_views(name: str) -> str:
    """Return the name of a choice of views; raise if there is no such choice."""
    if name not in VIEWS:
        raise ArgumentError("views", f"must be one of {', '.join(VIEWS)}, got {name!r}")
    return name


def views_of(images: Any, name: str) -> Iterator[NDArray[np.uint8]]:
    """Give the views of uint8 images ``[n, s, s, 3]``, of the same size: whole, mirrored, corners, mirrored corners.

    A tensor is taken too.
    """
    check_views(name)
    images = images if name == WHOLE else as_array(images)
    if name != WHOLE and (images.ndim != 4 or images.dtype != np.uint8):
        raise ArgumentError("views", f"must be {WHOLE} for anything but uint8 images, got {name!r}")
    for seen in (images, *(_corner(images, at) for at in CROPS)) if name == "crops" else (images,):
        yield seen
        if name != WHOLE:
            yield np.ascontiguousarray(seen[:, :, ::-1])


def _corner(images: NDArray[Any], at: tuple[float, float]) -> NDArray[np.uint8]:
    """Cut a corner out of each image and enlarge it to the image's size."""
    height, width = images.shape[1:3]
    sides = round(height * KEPT), round(width * KEPT)
    top, left = (round(share * (whole - side)) for share, whole, side in zip(at, (height, width), sides, strict=True))
    cut = images[:, top : top + sides[0], left : left + sides[1]]
    resized = (Image.fromarray(each).resize((width, height), Image.Resampling.BILINEAR) for each in cut)
    return np.stack([np.asarray(each) for each in resized]) if len(cut) else images
