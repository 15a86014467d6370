"""Labels of any kind as the numbers and names of classes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from corel._errors import ArgumentError, ArgumentTypeError
from corel.images._set import Int64Array


class Labels(NamedTuple):
    """The number of each item's class, and the names of the classes."""

    numbers: Int64Array
    classes: tuple[str, ...]


def is_pair(source: Any, *, labeled: bool) -> bool:
    """Whether a source is a pair of items and labels, such as ``(X, y)``; two images are one only if `labeled`."""
    if not isinstance(source, tuple | list) or len(source) != 2 or not hasattr(source[0], "shape"):
        return False
    items, labels = source
    in_a_row = isinstance(labels, list | tuple) or len(getattr(labels, "shape", ())) == 1
    return labeled or (in_a_row and len(items.shape) > 1)


def numbered_labels(labels: Any, count: int) -> Labels:
    """Number labels of any kind, one for each of `count` items; their distinct values are the classes."""
    listed = _listed(labels)
    if len(listed) != count:
        raise ArgumentError("source", f"has {count} items but {len(listed)} labels; give one for each")
    positions = _positions(listed)
    return Labels(np.array([positions[label] for label in listed], np.int64), tuple(map(str, positions)))


def _listed(labels: Any) -> list[Hashable]:
    """List labels as Python's own values, so that equal labels of two arrays compare equal."""
    values = labels.tolist() if hasattr(labels, "tolist") else labels
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentTypeError("source", f"must have a label for each item, got {values!r} as labels")
    listed = list(values)
    for i, label in enumerate(listed):
        if not isinstance(label, Hashable):
            kind = type(label).__name__
            raise ArgumentTypeError(
                "source", f"must have one value as the label of each item, but label {i} is a {kind}"
            )
        if label is None or label != label:
            raise ArgumentError("source", f"has {label} as label {i}; leave such items out, or give them a class")
    return listed


def _positions(labels: Sequence[Hashable]) -> dict[Hashable, int]:
    """Number the distinct labels in ascending order; labels that cannot be compared are ordered as text."""
    distinct: set[Any] = set(labels)
    try:
        ordered = sorted(distinct)
    except TypeError:
        ordered = sorted(distinct, key=str)
    if len(set(map(str, ordered))) < len(ordered):
        alike = ", ".join(map(repr, ordered))
        raise ArgumentError("source", f"has labels that differ but read alike: {alike}; give each its own name")
    return {label: position for position, label in enumerate(ordered)}
