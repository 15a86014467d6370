"""Train and test from one labeled set that has no test split."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corel._errors import ArgumentError

TEST_SHARE = 0.3


class Divisible(Protocol):
    """Items with labels, of which some can be taken: an `ImageSet`, for example."""

    @property
    def labels(self) -> NDArray[np.int64] | None: ...
    def take(self, indices: ArrayLike) -> Any: ...


Items = TypeVar("Items", bound=Divisible)


def split(items: Items, seed: int = 0) -> tuple[Items, Items]:
    """Set aside 30% of each class to test on, at least one item; a class of one item is only enrolled."""
    if (labels := items.labels) is None:
        raise ArgumentError("items", "must have labels to be evaluated: put the images into one folder a class")
    tested = np.zeros(len(labels), bool)
    for label in np.unique(labels).tolist():
        rows = np.random.default_rng([seed, label]).permutation(np.flatnonzero(labels == label))
        tested[rows[: max(1, int(TEST_SHARE * len(rows))) if len(rows) > 1 else 0]] = True
    return items.take(~tested), items.take(tested)
