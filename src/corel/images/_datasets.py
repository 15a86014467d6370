"""Datasets as objects: torch's map-style ones, Hugging Face's, and lists of images."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corel._errors import ArgumentError, ArgumentTypeError
from corel._terminal import track
from corel.images._convert import BROKEN, explain, to_pixels
from corel.images._decoding import Decoded
from corel.images._limits import MOST_CLASSES
from corel.images._listing import Listing
from corel.images._preparation import Preparation
from corel.images._set import Int64Array, numbered, only_train

_SPLITS = {"train": ("train",), "test": ("test", "validation", "valid", "val")}


@dataclass(frozen=True, eq=False)
class DatasetListing(Listing):
    """Items that are an image, ``(image, label)`` or a dictionary; their labels come with them."""

    dataset: Any = field(kw_only=True)

    def decode(self, rows: range, preparation: Preparation, *, progress: bool = False) -> Decoded:
        """Read the items one after the other: a dataset may not be safe to use from several threads."""
        image_entry, label_entry = _columns(self.dataset)
        pixels = np.zeros((len(rows), preparation.size, preparation.size, 3), np.uint8)
        labels: list[int | None] = [None] * len(rows)
        broken: dict[int, str] = {}
        for place, i in enumerate(track(rows, "reading the dataset", quiet=not progress)):
            try:
                image, labels[place] = _item(self.dataset[i], image_entry, label_entry)
                pixels[place] = to_pixels(image, preparation)
            except BROKEN as error:  # noqa: PERF203 (one broken item must not end the loop)
                broken[place] = explain(error)
        return Decoded(pixels, broken, None, labels)

    def class_names(self, labels: Int64Array | None) -> tuple[str, ...]:
        """Name the classes: as the dataset does, else by number up to the largest label."""
        return self.classes or (
            () if labels is None else tuple(map(str, range(min(int(labels.max()) + 1, MOST_CLASSES))))
        )


def list_dataset(dataset: Any, split: str) -> DatasetListing:
    """List a dataset's items; a mapping of datasets has splits."""
    if isinstance(dataset, Mapping):
        dataset = _part(dataset, split)
    else:
        only_train(split, "a dataset object")
    if isinstance(dataset, list | tuple):
        return list_images(dataset, split)
    count = _length(dataset)
    source = f"a {type(dataset).__name__} of {count} items"
    return DatasetListing(numbered(split, count), None, _classes(dataset), source, dataset=dataset)


def list_images(images: Sequence[Any], split: str = "train", first: int = 0) -> DatasetListing:
    """List images under the names of their files; one that has none is named by its number, from `first` on."""
    numbers = numbered(split, len(images), first)
    names = [own_name(each) or number for each, number in zip(images, numbers, strict=True)]
    return DatasetListing(names, None, (), f"a {type(images).__name__} of {len(images)} items", dataset=images)


def own_name(image: Any) -> str | None:
    """Give the file that an image is, or that it knows it was opened from."""
    path = isinstance(image, str | os.PathLike)
    name = image if path else getattr(image, "filename", None) or getattr(image, "name", None)
    return os.fsdecode(name) if name and isinstance(name, str | bytes | os.PathLike) else None


def label_numbers(labels: Sequence[int | None], source: str) -> Int64Array | None:
    """Give the labels of items as an array; None if no item has one."""
    known = [label for label in labels if label is not None]
    if not known:
        return None
    if len(known) < len(labels) or min(known) < 0:
        raise ArgumentError(
            "source", f"must have a label from 0 on for each item, or none at all; {source} has some without"
        )
    return np.array(known, np.int64)


def _part(datasets: Mapping[str, Any], split: str) -> Any:
    name = next((name for name in _SPLITS[split] if name in datasets), None)
    if name is None:
        raise ArgumentError(
            "split",
            f"is {split!r}, but the datasets are called {', '.join(map(str, datasets))}; pass one of them itself",
        )
    return datasets[name]


def _length(dataset: Any) -> int:
    if not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")):
        raise ArgumentTypeError(
            "source",
            f"is of type {type(dataset).__name__}, which holds no images: give a name, a path, a list of files, an "
            "image, an array or a dataset with a length (a streaming dataset has none)",
        )
    return len(dataset)


def _columns(dataset: Any) -> tuple[str, str]:
    """Name the keys of image and label in items that are dictionaries, from a Hugging Face dataset's features."""
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


def _classes(dataset: Any) -> tuple[str, ...]:
    """Give the names of the classes, where the dataset knows them."""
    features = getattr(dataset, "features", None)
    if isinstance(features, Mapping) and hasattr(features.get(_columns(dataset)[1]), "names"):
        return tuple(features[_columns(dataset)[1]].names)
    while not hasattr(dataset, "classes") and hasattr(dataset, "dataset"):
        dataset = dataset.dataset  # torch's Subset wraps what knows the names
    return tuple(map(str, getattr(dataset, "classes", ())))
