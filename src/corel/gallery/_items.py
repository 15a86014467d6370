"""What a gallery keeps of an enrolled item: its class's name, a hash, a small picture."""

from __future__ import annotations

import io
from typing import Any

from numpy.typing import NDArray
from PIL import Image, features

from corel.gallery._names import check_name
from corel.images import Batch

LARGEST = 96  # pixels: as large as anybody looks at an exemplar
# A JPEG's tables alone take more than a whole WebP of 32 × 32 pixels.
FORMAT = "WEBP" if features.check("webp") else "JPEG"


def class_names(batch: Batch, name: str | None) -> list[str]:
    """Give the class of each item: the one that is named, or its label."""
    if name is not None:
        return [name] * len(batch)
    if batch.labels is None and len(batch):
        raise ValueError("these items have no labels; name the class, or give images in one folder a class")
    # Names hold no slash, but datasets' labels do: Fashion-MNIST's T-shirt/top becomes T-shirt-top.
    return [check_name(label.replace("/", "-")) for label in batch.labels or ()]


def thumbnail(value: NDArray[Any]) -> bytes | None:
    """Give an image as a small compressed picture; a row of features has none."""
    if value.ndim != 3:
        return None
    picture, buffer = Image.fromarray(value), io.BytesIO()
    picture.thumbnail((LARGEST, LARGEST))
    picture.save(buffer, FORMAT, quality=80)
    return buffer.getvalue()
