"""What is evaluated: items with a class for each, whether they came as images or as a pair of arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from corel.backbone import Backbone
from corel.images import ImageSet

# Vectors [n, features] and a label for each; whatever can be listed and hashed will do as labels.
Pair: TypeAlias = "tuple[Any, Any]"


@dataclass(frozen=True, eq=False)
class Labelled:
    """Items of known classes.

    Attributes:
        items: what the backbone encodes, uint8 ``[n, s, s, 3]`` or vectors ``[n, features]``.
        labels: int64 ``[n]``, positions in `classes`.
        classes: the names of the classes.
        source: where they come from, in words.

    """

    items: NDArray[Any]
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    source: str

    def __len__(self) -> int:
        return len(self.items)

    @property
    def kind(self) -> str:
        """What the items are, in a word."""
        return "vectors" if self.items.ndim == 2 else "images"


def labelled(backbone: Backbone, train: ImageSet | Pair, test: ImageSet | Pair) -> tuple[Labelled, Labelled]:
    """Give both splits in the one form, or say why this backbone cannot be evaluated on them."""
    splits: dict[str, Any] = {"train": train, "test": test}
    for split, given in splits.items():
        _check_kind(backbone, split, given)
    if not backbone.on_vectors:
        return _of_images(splits["train"]), _of_images(splits["test"])
    labels = {split: _listed(split, given[1]) for split, given in splits.items()}
    positions = _positions(labels["train"])
    if strange := [label for label in labels["test"] if label not in positions]:
        raise ValueError(f"test has the label {strange[0]!r}, train only {', '.join(map(repr, positions))}")
    known, asked = (_of_pair(backbone, split, splits[split][0], labels[split], positions) for split in splits)
    return known, asked


def _check_kind(backbone: Backbone, split: str, given: Any) -> None:
    is_pair = isinstance(given, tuple | list) and len(given) == 2
    if not is_pair and not isinstance(given, ImageSet):
        raise TypeError(
            f"{split} must be an ImageSet, as corel.images.open gives it, or a pair (vectors, labels), "
            f"got {type(given).__name__}"
        )
    if is_pair and not backbone.on_vectors:
        raise ValueError(
            f"this backbone takes images but {split} is a pair of arrays; open images with corel.images.open, "
            "or train a backbone on vectors (the preset features)"
        )
    if not is_pair and backbone.on_vectors:
        (features,) = backbone.network.input_shape
        raise ValueError(
            f"this backbone takes vectors of {features} features but {split} has images ({given.source}); "
            "give pairs (vectors, labels), or a backbone on images"
        )


def _of_images(images: ImageSet) -> Labelled:
    if images.labels is None:
        raise ValueError("evaluation needs labels: open a dataset, or a folder with one sub-folder a class")
    return Labelled(images.pixels, images.labels, images.classes, images.source)


def _of_pair(
    backbone: Backbone, split: str, vectors: Any, labels: Sequence[Hashable], positions: dict[Hashable, int]
) -> Labelled:
    items = np.asarray(vectors)
    try:
        backbone.network.prepare(items)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{split}: {error}") from error
    if len(items) != len(labels):
        raise ValueError(f"{split} has {len(items)} vectors but {len(labels)} labels; give one for each")
    numbers = np.array([positions[label] for label in labels], np.int64)
    return Labelled(items, numbers, tuple(map(str, positions)), "an array")


def _listed(split: str, labels: Any) -> list[Hashable]:
    """List labels as Python's own values, by which those of one array equal those of another."""
    values = labels.tolist() if hasattr(labels, "tolist") else labels
    if not isinstance(values, Iterable):
        raise TypeError(f"{split} needs a label for each vector, got {values!r}")
    listed = list(values)
    for i, label in enumerate(listed):
        if not isinstance(label, Hashable):
            raise TypeError(f"{split} labels must be one value a vector, but label {i} is a {type(label).__name__}")
        if label is None or label != label:
            raise ValueError(f"{split} label {i} is {label}; leave such vectors out, or give them a class")
    return listed


def _positions(labels: Sequence[Hashable]) -> dict[Hashable, int]:
    """Number the distinct labels in their order; those that have none are ordered as text."""
    distinct: set[Any] = set(labels)
    try:
        ordered = sorted(distinct)
    except TypeError:
        ordered = sorted(distinct, key=str)
    if len(set(map(str, ordered))) < len(ordered):
        raise ValueError(f"some labels differ but read alike: {', '.join(map(repr, ordered))}; give each its own name")
    return {label: position for position, label in enumerate(ordered)}
