"""Images of one size in memory, with a list of what could not be read: what `open` returns for every source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corel._errors import ArgumentError

UInt8Array = NDArray[np.uint8]
Int64Array = NDArray[np.int64]


@dataclass(frozen=True)
class Skipped:
    """A file, an item or a class that gave no image, and why."""

    path: str
    reason: str


class EmptySourceError(ValueError):
    """A source has no image, or none that can be read."""


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images of one size in memory.

    Attributes:
        pixels: uint8 ``[n, size, size, 3]``, RGB.
        labels: int64 ``[n]``, positions in `classes`; None where the source has no labels.
        classes: the names of the classes; a class may have no image here.
        names: for each image its file's path below the source, or ``split/000123``.
        source: what was opened, in words.
        skipped: what gave no image, and why.

    Example:
        >>> import corel
        >>> digits = corel.images.open("digits", "test")
        >>> digits.pixels.shape, digits.classes[:3]
        ((898, 32, 32, 3), ('0', '1', '2'))

    """

    pixels: UInt8Array
    labels: Int64Array | None
    classes: tuple[str, ...]
    names: Sequence[str]
    source: str
    skipped: tuple[Skipped, ...] = ()

    def __post_init__(self) -> None:
        n, shape = len(self.pixels), self.pixels.shape
        if self.pixels.dtype != np.uint8 or len(shape) != 4 or shape[1] != shape[2] or shape[3] != 3:
            raise ArgumentError("pixels", f"must be uint8 [n, size, size, 3], got {self.pixels.dtype} {list(shape)}")
        if len(self.names) != n:
            raise ArgumentError("names", f"must be one for each of {n} images, got {len(self.names)}")
        if self.labels is not None:
            check_labels(self.labels, n, len(self.classes), self.source)

    def __len__(self) -> int:
        return len(self.pixels)

    def take(self, indices: ArrayLike) -> ImageSet:
        """Give the images at `indices` (integers or a mask of n booleans), in that order."""
        chosen: NDArray[Any] = np.asarray(indices)
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        return replace(
            self,
            pixels=self.pixels[chosen],
            labels=None if self.labels is None else self.labels[chosen],
            names=[self.names[i] for i in chosen.tolist()],
        )


def check_labels(labels: Int64Array, n: int, classes: int, source: str) -> None:
    """Raise where labels are not one for each image, each a position in the list of classes."""
    if labels.shape != (n,):
        raise ArgumentError("labels", f"must be [{n}], one for each image, got {list(labels.shape)}, in {source}")
    if n and not (labels.min() >= 0 and labels.max() < classes):
        raise ArgumentError(
            "labels",
            f"run from {labels.min()} to {labels.max()} but there are {classes} classes in {source}; "
            "a label is a position in the list of classes",
        )


def numbered(split: str, count: int, first: int = 0) -> list[str]:
    """Name the items of a source that has no file names: ``train/000000``, ``train/000001``, …"""
    return [f"{split}/{i:06d}" for i in range(first, first + count)]


def only_train(split: str, source: str) -> None:
    """Refuse to give a source without splits as test images: they would be the training images again."""
    if split != "train":
        raise ArgumentError("split", f"must be 'train' for {source}, which has no splits, got {split!r}")
