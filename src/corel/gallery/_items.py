"""What is enrolled and scored, ready for the backbone: images at its size, or rows of features."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corel import images
from corel._io.arrayfile import load_features
from corel.gallery._names import check_name

if TYPE_CHECKING:
    from corel.backbone import Backbone


@dataclass(frozen=True)
class Items:
    """Values to encode ``[n, ...]`` with a name for each, and what could not be read."""

    values: NDArray[Any]
    names: Sequence[str]
    labels: Sequence[str] | None = None
    skipped: tuple[images.Skipped, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def label_names(self) -> list[str]:
        """Give each item's class by its label."""
        if self.labels is None:
            raise ValueError("these items have no labels; name the class, or give images in one folder a class")
        # Names hold no slash, but datasets' labels do: Fashion-MNIST's T-shirt/top becomes T-shirt-top.
        return [check_name(label.replace("/", "-")) for label in self.labels]

    def digest(self, index: int) -> str:
        """Hash what the encoder sees of an item.

        Not the file's bytes: the same picture saved twice is one example, and an array has no file.
        """
        value = np.ascontiguousarray(self.values[index])
        return hashlib.sha256(f"{value.dtype.str} {value.shape}".encode() + value.tobytes()).hexdigest()

    def thumbnail(self, index: int) -> bytes | None:
        """Give an image as PNG; a row of features has none."""
        from PIL import Image

        if self.values.ndim != 4:
            return None
        buffer = io.BytesIO()
        Image.fromarray(self.values[index]).save(buffer, "PNG")
        return buffer.getvalue()


def prepare(source: Any, backbone: Backbone, *, strict: bool = False, progress: bool = False) -> Items:
    """Open whatever `corel.images.open` takes; for a backbone on vectors, rows ``[n, features]`` or their file."""
    if backbone.on_vectors:
        return _vectors(source, *backbone.network.input_shape)
    opened = source
    if not isinstance(source, images.ImageSet):
        size = backbone.network.input_shape[-1]
        opened = images.open(source, size=size, strict=strict, progress=progress)
    labels = None if opened.labels is None else [opened.classes[label] for label in opened.labels]
    return Items(opened.pixels, opened.names, labels, opened.skipped)


def _vectors(source: Any, features: int) -> Items:
    if isinstance(source, images.ImageSet):
        raise ValueError(
            f"this gallery's backbone takes vectors of {features} features, not images ({source.source}); "
            "give the features of those images"
        )
    rows = _rows(source)
    with np.errstate(over="ignore"):  # the network names the rows that are not finite in float32
        values = np.asarray(rows, dtype=np.float32)
    if values.ndim != 2:
        raise ValueError(
            f"vectors are rows [n, {features}], got {list(values.shape)}; a single one needs a leading dimension, "
            "vector[None]"
        )
    return Items(values, [f"row {i}" for i in range(len(values))])


def _rows(source: Any) -> Any:
    """Read the one file that is named, if any is."""
    named = source if isinstance(source, list | tuple) else [source]
    if not any(isinstance(each, str | os.PathLike) for each in named):
        return source
    if len(named) != 1 or Path(named[0]).suffix.lower() not in (".npy", ".npz"):
        raise ValueError("this gallery's backbone takes feature vectors: give one .npy or .npz file")
    return load_features(Path(named[0]).expanduser())
