"""What is evaluated: items of known classes, read by the same stream as the items of a gallery."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corel import images
from corel._errors import renamed
from corel.backbone import Backbone
from corel.evaluation._split import split
from corel.images import ImageSet, Skipped, Stream

# Whatever `corel.images.stream` takes and has labels: a name, a folder, an ImageSet, a dataset, a pair (items, labels).
Source: TypeAlias = Any
ROWS = 500  # items copied at a time


@dataclass(frozen=True, eq=False)
class LabeledItems:
    """Items of known classes. They are in a temporary file that the system reads when they are used.

    Attributes:
        items: what the backbone encodes, uint8 ``[n, s, s, 3]`` or vectors ``[n, features]``.
        labels: int64 ``[n]``, positions in `classes`.
        classes: the names of the classes.
        names: a name for each item.
        source: where they come from, in words.
        skipped: what could not be read, and why.

    """

    items: NDArray[Any]
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    names: list[str]
    source: str
    skipped: tuple[Skipped, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    @property
    def kind(self) -> str:
        """What the items are, in a word."""
        return "vectors" if self.items.ndim == 2 else "images"

    @property
    def pictures(self) -> ImageSet | None:
        """The same as a set of images; None for vectors."""
        if self.kind == "vectors":
            return None
        return ImageSet(self.items, self.labels, self.classes, self.names, self.source, self.skipped)

    def take(self, indices: ArrayLike) -> LabeledItems:
        """Give the items at `indices` (integers or a mask), in that order."""
        chosen = np.asarray(indices)
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        parts = (self.items[chosen[start : start + ROWS]] for start in range(0, len(chosen), ROWS))
        names = [self.names[i] for i in chosen.tolist()]
        return replace(self, items=_on_disk([self.items[:0], *parts]), labels=self.labels[chosen], names=names)


def read_labeled(
    backbone: Backbone, train: Source, test: Source = None, *, seed: int = 0, **options: Any
) -> tuple[LabeledItems, LabeledItems]:
    """Read train and test items for a backbone, with the same numbers for the same classes.

    Args:
        backbone: decides how an item becomes input.
        train: a source with labels, or what this function gave.
        test: the same; default: the test split of `train`, and where there is none 30% of each class.
        seed: decides which items are set aside.
        options: of `corel.images.stream`: `root`, `strict`, `progress`.

    """
    if test is None and not images.has_test_split(train):
        known, asked = split(_read(backbone, "train", train, **options), seed)
    elif test is None:
        known, asked = (_read(backbone, part, train, split=part, **options) for part in ("train", "test"))
    else:
        known, asked = (_read(backbone, part, s, **options) for part, s in (("train", train), ("test", test)))
    classes = (*known.classes, *(name for name in asked.classes if name not in known.classes))
    numbers = np.array([classes.index(name) for name in asked.classes], np.int64)
    return replace(known, classes=classes), replace(asked, classes=classes, labels=numbers[asked.labels])


def _read(backbone: Backbone, part: str, source: Source, **options: Any) -> LabeledItems:
    if isinstance(source, LabeledItems):
        return source
    with renamed(source=part):
        return _gathered(images.stream(source, backbone.preparation, labeled=True, **options))


def _gathered(stream: Stream) -> LabeledItems:
    labels: list[str] = []
    names: list[str] = []
    skipped: list[Skipped] = []

    def values() -> Iterable[NDArray[Any]]:
        for batch in stream:
            labels.extend(batch.labels or ())
            names.extend(batch.names)
            skipped.extend(batch.skipped)
            yield batch.values

    items = _on_disk(values())
    # A dataset without names of classes numbers them.
    classes = stream.classes or tuple(map(str, range(max(map(int, labels)) + 1)))
    positions = {name: position for position, name in enumerate(classes)}
    numbers = np.array([positions[label] for label in labels], np.int64)
    return LabeledItems(items, numbers, classes, names, stream.source, tuple(skipped))


def _on_disk(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Join arrays in a temporary file, which is deleted when the result is no longer used."""
    count, last = 0, np.empty(0)
    with tempfile.TemporaryFile() as file:
        for part in parts:
            file.write(np.ascontiguousarray(part).data)
            count, last = count + len(part), part
        file.flush()
        shape = (count, *last.shape[1:])
        # A mapping cannot be empty. It stays when the file is closed.
        return np.asarray(np.memmap(file, last.dtype, "r+", shape=shape)) if count else np.empty(shape, last.dtype)
