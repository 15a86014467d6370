"""The cosine score on test splits, read once after the choice on folds, beside the other scores and the controls.

One-vs-all AUC from m = 120 exemplars a class (80 of digits, which has no more), mean over classes and five draws, by
the encoder that ships. It was trained on Tiny-ImageNet's images, so that cell is a closed world. Writes
experiments/results/cosine.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from corel.backbone import Backbone
from corel.evaluation import draw_exemplars
from experiments._lib.command import folders
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import split
from experiments.studies.cosine_folds import Fold, auc, controls

SETS = {"cifar10": 120, "fashion-mnist": 120, "digits": 80, "cifar20": 120, "cifar100": 120, "tiny-imagenet": 120}
DRAWS = 5


def measure(dataset: str, exemplars: int, data: Path) -> dict[str, float]:
    """Mean AUC of every method; of the train split only what is drawn is encoded."""
    backbone = Backbone.load()
    train, test = (split(dataset, part, data) for part in ("train", "test"))
    draws = [draw_exemplars(train, exemplars, 0, draw) for draw in range(DRAWS)]
    rows, places = np.unique(np.stack(draws), return_inverse=True)
    enrolled, scored = (backbone.embed(pixels, progress=True) for pixels in (train.pixels[rows], test.pixels))
    labels, found = np.asarray(test.labels), dict[str, list[float]]()
    for chosen in places.reshape(DRAWS, *draws[0].shape):
        fold = Fold(enrolled, scored, labels, chosen)
        for name, _, scores in controls(fold, backbone, (exemplars,)):
            found.setdefault(name, []).append(auc(scores, labels))
    return {name: float(np.mean(values)) for name, values in found.items()}


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what is missing."""
    arguments = folders(__name__, __doc__, argv, ("data",))
    encoder = Backbone.load().digest
    parts = [
        Part(
            dataset, {"exemplars": m, "draws": DRAWS, "encoder": encoder}, partial(measure, dataset, m, arguments.data)
        )
        for dataset, m in SETS.items()
    ]
    run_parts("cosine", parts, {"draws": DRAWS, "encoder": encoder})
