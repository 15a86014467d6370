"""Train and test from one labelled set that has no test split."""

from __future__ import annotations

import numpy as np

from corel.images import ImageSet

TEST_SHARE = 0.3


def split(images: ImageSet, seed: int = 0) -> tuple[ImageSet, ImageSet]:
    """Set aside 30% of each class to test on, at least one image; a class of one image is only enrolled."""
    if images.labels is None:
        raise ValueError("evaluation needs labels: put the images into one folder a class")
    tested = np.zeros(len(images), bool)
    for label in np.unique(images.labels).tolist():
        rows = np.random.default_rng([seed, label]).permutation(np.flatnonzero(images.labels == label))
        tested[rows[: max(1, int(TEST_SHARE * len(rows))) if len(rows) > 1 else 0]] = True
    return images.take(~tested), images.take(tested)
