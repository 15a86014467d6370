"""Datasets as objects: torch's map-style ones, Hugging Face's, and lists of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from corel._terminal import track
from corel.images._convert import BROKEN, explain, from_array, from_pil
from corel.images._files import refuse
from corel.images._set import ImageSet, Int64Array, Manner, Skipped, UInt8Array, numbered, only_train

_SPLITS = {"train": ("train",), "test": ("test", "validation", "valid", "val")}


def read_dataset(dataset: Any, split: str, manner: Manner) -> ImageSet:
    """Read items that are an image, ``(image, label)`` or a dictionary; a mapping of datasets has splits."""
    if isinstance(dataset, Mapping):
        dataset = _part(dataset, split)
    else:
        only_train(split, "a dataset object")
    count = _length(dataset)
    image_entry, label_entry = _columns(dataset)
    names, source = numbered(split, count), f"a {type(dataset).__name__} of {count} items"
    pixels = np.empty((count, manner.size, manner.size, 3), np.uint8)
    kept: list[int] = []
    labels: list[int | None] = []
    skipped: list[Skipped] = []
    for i in track(range(count), "reading the dataset", quiet=not manner.progress):
        try:
            image, label = _item(dataset[i], image_entry, label_entry)
            pixels[len(kept)] = to_pixels(image, manner.size)
        except BROKEN as error:  # noqa: PERF203 (one broken item must not end the loop)
            skipped.append(Skipped(names[i], explain(error)))
        else:
            kept.append(i)
            labels.append(label)
    refuse(skipped, len(kept), source, strict=manner.strict)
    numbers = _numbers(labels, source)
    classes = _classes(dataset, label_entry, numbers)
    return ImageSet(pixels[: len(kept)], numbers, classes, [names[i] for i in kept], source, tuple(skipped))


def as_array(image: Any) -> Any:
    """Turn a torch tensor, on any device, into an array; leave anything else as it is."""
    return image.detach().cpu().numpy() if hasattr(image, "detach") else image


def to_pixels(image: Any, size: int) -> UInt8Array:
    """Convert a Pillow image, an array or a tensor."""
    if isinstance(image, Image.Image):
        return from_pil(ImageOps.exif_transpose(image), size)
    return from_array(np.asarray(as_array(image)), size)


def _part(datasets: Mapping[str, Any], split: str) -> Any:
    name = next((name for name in _SPLITS[split] if name in datasets), None)
    if name is None:
        raise ValueError(f"there is no {split} split among {', '.join(map(str, datasets))}; give one of them itself")
    return datasets[name]


def _length(dataset: Any) -> int:
    if not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")):
        raise TypeError(
            f"cannot read images from a {type(dataset).__name__}: give a name, a path, a list of files, "
            "an array or a dataset with a length (a streaming dataset has none)"
        )
    return len(dataset)


def _columns(dataset: Any) -> tuple[str, str]:
    """Name the image and the label in items that are dictionaries; Hugging Face's features tell."""
    features = getattr(dataset, "features", None)
    kinds: dict[str, str] = {}
    if isinstance(features, Mapping):
        for name, feature in features.items():
            kinds.setdefault(type(feature).__name__, name)
    return kinds.get("Image", "image"), kinds.get("ClassLabel", "label")


def _item(item: Any, image_entry: str, label_entry: str) -> tuple[Any, int | None]:
    if isinstance(item, Mapping):
        if image_entry not in item:
            raise TypeError(f"items have {', '.join(map(str, item))} but no {image_entry!r}")
        image, label = item[image_entry], item.get(label_entry)
    elif isinstance(item, tuple | list):
        image, label = item[0], item[1] if len(item) > 1 else None
    else:
        image, label = item, None
    return image, None if label is None else int(label)


def _numbers(labels: Sequence[int | None], source: str) -> Int64Array | None:
    known = [label for label in labels if label is not None]
    if not known:
        return None
    if len(known) < len(labels) or min(known) < 0:
        raise ValueError(f"some items of {source} have no label (or one below 0); give all of them one, or none")
    return np.array(known, np.int64)


def _classes(dataset: Any, label_entry: str, labels: Int64Array | None) -> tuple[str, ...]:
    if labels is None:
        return ()
    features = getattr(dataset, "features", None)
    if isinstance(features, Mapping) and hasattr(features.get(label_entry), "names"):
        return tuple(features[label_entry].names)
    while not hasattr(dataset, "classes") and hasattr(dataset, "dataset"):
        dataset = dataset.dataset  # torch's Subset wraps what knows the names
    return tuple(map(str, getattr(dataset, "classes", range(int(labels.max()) + 1))))
