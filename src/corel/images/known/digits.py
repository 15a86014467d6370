"""The 8×8 handwritten digits that ship with scikit-learn: real images without a download."""

from __future__ import annotations

import numpy as np

from corel.images._listing import ArrayListing


def read_digits(split: str) -> ArrayListing:
    """Read one half of the 1,797 digits: 899 train, 898 test, drawn once and for all, each class halved."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    halves = train_test_split(np.arange(len(digits.target)), train_size=899, stratify=digits.target, random_state=0)
    chosen = np.sort(halves[0 if split == "train" else 1])
    gray = np.rint(digits.images[chosen] * (255 / 16)).astype(np.uint8)  # the files hold 0..16
    names, classes = [f"digits/{i:06d}" for i in chosen], tuple(str(digit) for digit in range(10))
    return ArrayListing(names, digits.target[chosen].astype(np.int64), classes, "digits of scikit-learn", images=gray)
