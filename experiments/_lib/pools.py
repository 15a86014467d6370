"""Images of some classes, encoded once, from which many galleries are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import corel.images
from corel.backbone import Backbone
from corel.oneclass import Calibration, ClassBank, backbone_settings, preferred_method

IMAGES = 6000  # of each set
CLASSES = {"cifar10": 10, "fashion-mnist": 10, "cifar100": 20}
CASES = (("cifar10", "fashion-mnist"), ("fashion-mnist", "cifar10"), ("cifar100", "fashion-mnist"))  # known, strangers

Rows = NDArray[np.float32]


class Pool(NamedTuple):
    """What the default score compares of images, and their labels."""

    rows: Rows
    labels: NDArray[np.int64]
    settings: dict[str, Any]

    @classmethod
    def of(cls, backbone: Backbone, name: str, data: Path, runs: Path) -> Pool:
        """Encode as many train images of each of the first classes, drawn at random; once."""
        file = runs / f"pool-{name}-{backbone.digest[:12]}.npz"
        if not file.exists():
            opened = corel.images.open(name, "train", root=data, size=backbone.network.input_shape[-1], progress=False)
            rng, labels = np.random.default_rng(0), np.asarray(opened.labels)
            each = IMAGES // CLASSES[name]
            drawn = [rng.permutation(np.flatnonzero(labels == c))[:each] for c in range(CLASSES[name])]
            chosen = np.sort(np.concatenate(drawn))
            np.savez(file, features=backbone.embed(opened.take(chosen)).features, labels=labels[chosen])
        kept = np.load(file)
        return cls(kept["features"], kept["labels"], backbone_settings(backbone, preferred_method(backbone)))

    def bank(self, chosen: NDArray[np.int64]) -> ClassBank:
        """A gallery of these images, each in its class."""
        labels = self.labels[chosen]
        return RememberingBank.of([self.rows[chosen[labels == c]] for c in np.unique(labels)], **self.settings)


class RememberingBank(ClassBank):
    """A bank that compares a large array with the background once: all banks of a study share their background."""

    def _query(self, z: Any) -> Any:
        if len(z) < IMAGES:
            return super()._query(z)
        if id(z) not in _QUERIES:
            _QUERIES[id(z)] = (z, super()._query(z))  # kept with the array, so that no other gets its number
        return _QUERIES[id(z)][1]


_QUERIES: dict[int, tuple[Any, Any]] = {}


def full_p_values(bank: ClassBank, rows: Rows) -> NDArray[np.float64]:
    """Full-conformal p-values for "of one of the classes", as verdicts use them."""
    return Calibration.of(bank).known(bank.likeness(rows))
