"""A labeled dataset as an encoder sees it, to be scored many times with one encoding."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel.backbone import Backbone
from corel.evaluation import draw_exemplars, one_vs_all_auc
from corel.images import ImageSet
from corel.oneclass import ClassBank, backbone_settings
from experiments._lib.trainings import split

DRAWS = 5

Latents = NDArray[np.float32]
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Encoded:
    """Train images to enroll, their latents, test latents with labels, and how they are to be scored."""

    images: ImageSet
    train: Latents
    test: Latents
    truth: NDArray[np.int64]
    settings: dict[str, Any]

    @classmethod
    def of(cls, backbone: Backbone, dataset: str, data: Path) -> Encoded:
        """Encode both splits of a dataset."""
        train, test = (split(dataset, part, data) for part in ("train", "test"))
        known, asked = (backbone.encode(images, progress=True) for images in (train, test))
        return cls(train, known, asked, np.asarray(test.labels), backbone_settings(backbone))

    def bank(self, m: int, draw: int, score: str = "count") -> ClassBank:
        """All classes, with m exemplars each; cosine compares whole latents, the others branch by branch."""
        chosen = draw_exemplars(self.images, m, 0, draw)
        whole = {"branches": 1, "radius": 1.0} if score == "cosine" else {}
        return ClassBank.of([self.train[rows] for rows in chosen], **{**self.settings, **whole, "method": score})

    def scores(self, m: int, draw: int, score: str = "count") -> Doubles:
        """Scores `[n, C]` of the test images against m exemplars of each class."""
        return self.bank(m, draw, score).scores(self.test)

    def class_aucs(self, m: int, score: str = "count") -> Doubles:
        """One-vs-all AUC `[draws, C]` of each class."""
        return np.stack([class_aucs(self.scores(m, draw, score), self.truth) for draw in range(DRAWS)])

    def auc(self, m: int, score: str = "count") -> float:
        """Mean one-vs-all AUC over classes and draws; where m is the whole class there is one draw to make."""
        whole = np.bincount(np.asarray(self.images.labels)).max() <= m
        return float(
            np.mean([one_vs_all(self.scores(m, draw, score), self.truth) for draw in range(1 if whole else DRAWS)])
        )


def one_vs_all(scores: Doubles, truth: NDArray[np.int64]) -> float:
    """Mean over classes of the AUC of `scores [n, C]`."""
    return float(class_aucs(scores, truth).mean())


def class_aucs(scores: Doubles, truth: NDArray[np.int64]) -> Doubles:
    """The AUC `[C]` of each class's column of `scores [n, C]`."""
    return one_vs_all_auc(truth, scores)
