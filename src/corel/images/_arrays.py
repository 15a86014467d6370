"""Images that are numbers already: arrays, tensors, .npy and .npz files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel._errors import ArgumentError
from corel._io import arrayfile
from corel.images._limits import MOST_CLASSES
from corel.images._listing import ArrayListing
from corel.images._set import Int64Array, numbered, only_train

# Names under which .npz files hold images and labels: with splits (MedMNIST's and Keras's), then without.
_SPLIT_ENTRIES = (("{}_images", "{}_labels"), ("x_{}", "y_{}"))
_PLAIN_ENTRIES = (("images", "labels"), ("x", "y"), ("arr_0", "arr_1"))


def list_array(images: NDArray[Any], source: str = "an array") -> ArrayListing:
    """List an array of images without labels."""
    if not images.ndim or not len(images):
        raise ArgumentError("source", f"must hold at least one image, got {source} of shape {list(images.shape)}")
    return ArrayListing(numbered("train", len(images)), None, (), source, images=images)


def one_or_many(images: NDArray[Any], source: str, *, tensor: bool = False) -> NDArray[Any]:
    """Give images without labels as a batch: ``[h, w, 3|4]`` is one color image, of a tensor ``[3|4, h, w]`` too."""
    if images.ndim != 3:
        return images
    if {images.shape[-1], *(images.shape[:1] if tensor else ())} & {3, 4}:
        return images[None]
    if len(images) == 3:  # numpy has no custom that would decide
        raise ArgumentError(
            "source",
            f"may be one color image or three gray ones: {source} has the shape {list(images.shape)}; give a color "
            "image as [h, w, 3] or [1, 3, h, w], gray images as [3, h, w, 1]",
        )
    return images


def list_array_file(path: Path, split: str) -> ArrayListing:
    """List the images of an .npy file, or of the entries of an .npz file that belong to `split`."""
    content = arrayfile.load(path)
    if isinstance(content, np.ndarray):
        only_train(split, str(path))
        return list_array(one_or_many(content, str(path)), str(path))
    images, labels, classes = _entries(content, split, path)
    if labels is None:
        images = one_or_many(images, str(path))
    plain = list_array(images, str(path))
    return replace(plain, names=numbered(split, len(plain)), labels=labels, classes=classes)


def _entries(
    content: Mapping[str, NDArray[Any]], split: str, path: Path
) -> tuple[NDArray[Any], Int64Array | None, tuple[str, ...]]:
    for images, labels in _SPLIT_ENTRIES:
        if images.format(split) in content:
            numbers = {part: _labels(content, labels.format(part), path) for part in ("train", "test")}
            return content[images.format(split)], numbers[split], _classes(content, *numbers.values())
    for images, labels in _PLAIN_ENTRIES:
        if images in content:
            only_train(split, str(path))
            found = _labels(content, labels, path)
            return content[images], found, _classes(content, found)
    if arrayfile.LABELED[0] in content:
        raise ValueError(
            f"{path} holds vectors: choose a backbone that `corel train --features` made (--backbone FILE)"
        )
    raise ValueError(
        f"{path} holds {', '.join(content) or 'nothing'}; name the images 'images' and the labels 'labels', "
        f"or '{split}_images' and '{split}_labels'"
    )


def _labels(content: Mapping[str, NDArray[Any]], name: str, path: Path) -> Int64Array | None:
    if name not in content:
        return None
    labels = content[name]
    listed = labels.dtype.kind in "iu" and labels.ndim > 0 and labels.size == len(labels)
    if not listed or (labels.size and labels.min() < 0):
        raise ValueError(
            f"{name} of {path} must be one whole number ≥ 0 an image, got {labels.dtype} {list(labels.shape)}"
        )
    if labels.size and labels.max() >= MOST_CLASSES:
        raise ValueError(f"{name} of {path} has the label {labels.max()}; number the classes from 0 up")
    return labels.reshape(-1).astype(np.int64)


def _classes(content: Mapping[str, NDArray[Any]], *labels: Int64Array | None) -> tuple[str, ...]:
    # Both splits count, so that a class missing from one of them does not renumber the names.
    if "classes" in content:
        return tuple(str(name) for name in content["classes"].reshape(-1)[:MOST_CLASSES])
    largest = max((int(part.max(initial=-1)) for part in labels if part is not None), default=-1)
    return tuple(str(i) for i in range(largest + 1))
