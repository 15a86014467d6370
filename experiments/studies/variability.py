"""Out-of-class variability: AUC on Tiny-ImageNet against the number of classes, over random sets of classes.

The paper's argument for large data is that AUC stays up with many classes. Writes experiments/results/variability.json
and docs/figures/variability.png.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel.backbone import Backbone
from experiments._lib.command import folders
from experiments._lib.encoded import DRAWS, Doubles, Encoded
from experiments._lib.names import SCORES
from experiments._lib.parts import Part, run_parts
from experiments.render import figures

DATASET, EXEMPLARS, SUBSETS = "tiny-imagenet", 120, 500
BACKBONES = {"cifar10": "cifar10-16x10", "tiny-imagenet": "tiny-imagenet-16x10"}
SIZES = (10, 20, 50, 100, 150, 200)

Labels = NDArray[np.int64]


def pairwise_aucs(scores: Doubles, labels: Labels) -> Doubles:
    """The AUC `[C, C]` of each class's score, its own test images against those of each other class alone."""
    sizes = np.bincount(labels)
    found = np.empty((len(sizes), len(sizes)))
    for label, column in enumerate(scores.T):
        own = np.sort(column[labels == label])
        below = (np.searchsorted(own, column, "left") + np.searchsorted(own, column, "right")) / 2
        found[label] = np.bincount(labels, 1 - below / len(own)) / sizes
    return found


def subset_auc(pairwise: Doubles, sizes: Labels, subset: Labels) -> float:
    """Mean one-vs-all AUC among the classes of a subset: an AUC against several is the mean over their images."""
    weights = np.tile(sizes[subset], (len(subset), 1)).astype(float)
    np.fill_diagonal(weights, 0)
    return float(np.average(pairwise[np.ix_(subset, subset)], axis=1, weights=weights).mean())


def over_subsets(pairwise: Doubles, sizes: Labels, count: int) -> dict[str, float]:
    """Mean and deviation over random subsets of `count` classes."""
    rng = np.random.default_rng(count)
    subsets = [rng.choice(len(sizes), count, replace=False) for _ in range(SUBSETS)]
    aucs = [subset_auc(pairwise, sizes, subset) for subset in subsets]
    return {"mean": float(np.mean(aucs)), "spread": float(np.std(aucs, ddof=1))}


def _measure(backbone: str, data: Path) -> dict[str, Any]:
    encoded = Encoded.of(Backbone.load(backbone), DATASET, data)
    sizes = np.bincount(encoded.truth)
    found = {}
    for score in SCORES:
        draws = [pairwise_aucs(encoded.scores(EXEMPLARS, draw, score), encoded.truth) for draw in range(DRAWS)]
        # One-vs-all AUC is linear in the pairwise ones, so the mean over draws may be taken first.
        pairwise = np.mean(draws, axis=0)
        found[score] = {str(count): over_subsets(pairwise, sizes, count) for count in SIZES}
    return found


def main(argv: Sequence[str]) -> None:
    """Read the command line, measure and draw."""
    data = folders(__name__, __doc__, argv, ("data",)).data
    settings = {"exemplars": EXEMPLARS, "subsets": SUBSETS, "classes": SIZES}
    parts = [Part(name, settings, partial(_measure, file, data)) for name, file in BACKBONES.items()]
    run_parts("variability", parts, {**settings, "dataset": DATASET, "draws": DRAWS})
    figures.save("variability")
