"""What the connectivity loss brings the contrastive encoder: trained with it and without it, all else equal.

Two pairs, by the recipe of the encoder that ships, which is one of them, and in 12 epochs by the first recipe.
Scores are taken at the radius η, which nobody tunes; without the loss also at the radius that holds the share of
distances between background latents that η holds with it; at radii that hold given shares; and by nearest neighbors,
which know no radius. Writes experiments/results/benefit.json.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from corel.backbone import Backbone
from corel.evaluation import draw_exemplars, nearest_neighbors
from corel.training import TrainConfig
from experiments._lib.command import folders
from experiments._lib.encoded import Doubles, Encoded, one_vs_all
from experiments._lib.names import NEIGHBORS, SCORES
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import trained
from experiments.studies.contrastive import FIRST, radii_of
from experiments.studies.control import matched_radius
from experiments.studies.stronger import THREADS

AUXILIARY, EVALUATED = "tiny-imagenet", ("cifar10", "tiny-imagenet")
EXEMPLARS, DRAWS = (10, 30, 120), 3
DECIDED, RATE = 120, 0.05  # exemplars and rate of the decisions
WITH, WITHOUT = "with the loss", "without the loss"
WEIGHTS: dict[str, dict[str, Any]] = {WITH: {}, WITHOUT: {"weight": 0.0}}
SHARES = (0.02, 0.05, 0.1)


@dataclass(frozen=True)
class Recipe:
    """How both encoders of a pair are trained, the weight of the loss aside."""

    changes: dict[str, Any] = field(default_factory=dict)  # of the preset
    threads: int = 1

    def config(self, encoder: str) -> TrainConfig:
        """The training of one of them."""
        return TrainConfig.preset("contrastive", **self.changes, **WEIGHTS[encoder])

    def trained(self, encoder: str, data: Path, runs: Path) -> Backbone:
        """One of them, trained unless it was."""
        return trained(AUXILIARY, self.config(encoder), data, runs, self.threads)


RECIPES = {"shipped": Recipe(threads=THREADS), "first": Recipe({**FIRST, "epochs": 12})}

Scorer = Callable[[int, int], Doubles]  # of m exemplars in one draw
Labels = NDArray[np.int64]


def measure(backbone: Backbone, radii: dict[str, float], datasets: tuple[str, ...], data: Path) -> dict[str, Any]:
    """AUC of every way to score, by dataset; what they decide on the first; the death times that go with it."""
    encoded = {name: Encoded.of(backbone, name, data) for name in datasets}
    return {
        "deaths": backbone.deaths.mean(0).tolist(),
        "radii": radii,
        "auc": {name: {way: aucs(score, each.truth) for way, score in scorers(each, radii).items()}
                for name, each in encoded.items()},
        "decisions": {f"{score}, {name}": decisions(at(encoded[datasets[0]], radius), score)
                      for score in SCORES for name, radius in radii.items()},
    }  # fmt: skip


def scorers(encoded: Encoded, radii: dict[str, float]) -> dict[str, Scorer]:
    """Every way to score the test images."""
    ways: dict[str, Scorer] = {
        f"{score}, {name}": partial(at(encoded, radius).scores, score=score)
        for score in SCORES
        for name, radius in radii.items()
    }
    near = nearest_neighbors(NEIGHBORS, (encoded.train, encoded.test))
    return {**ways, NEIGHBORS: lambda m, draw: near.score(draw_exemplars(encoded.images, m, 0, draw))}


def at(encoded: Encoded, radius: float) -> Encoded:
    """The same latents, scored at another radius."""
    return replace(encoded, settings={**encoded.settings, "radius": radius})


def aucs(score: Scorer, truth: Labels) -> dict[str, dict[str, float]]:
    """By m the mean AUC over classes and draws, and the AUC of one threshold that serves all classes."""
    found = {}
    for m in EXEMPLARS:
        draws = [score(m, draw) for draw in range(DRAWS)]
        found[str(m)] = {
            "each class": float(np.mean([one_vs_all(scores, truth) for scores in draws])),
            "one threshold": float(np.mean([pooled(scores, truth) for scores in draws])),
        }
    return found


def pooled(scores: Doubles, truth: Labels) -> float:
    """The AUC of all pairs of an image and a class, whether it belongs there."""
    return float(roc_auc_score((truth[:, None] == np.arange(scores.shape[1])).ravel(), scores.ravel()))


def decisions(encoded: Encoded, score: str) -> dict[str, float]:
    """Share of the images in a class, and of those outside, that conformal p-values reject at the rate."""
    rejected = np.stack([encoded.bank(DECIDED, draw, score).p_values(encoded.test) <= RATE for draw in range(DRAWS)])
    member = encoded.truth[:, None] == np.arange(rejected.shape[2])
    return {"inside": float(rejected[:, member].mean()), "outside": float(rejected[:, ~member].mean())}


def radii_for(recipe: Recipe, encoder: str, data: Path, runs: Path) -> dict[str, float]:
    """The radii of one encoder; without the loss there is one more, that matches the other's."""
    shaped, free = (recipe.trained(each, data, runs) for each in WEIGHTS)
    if encoder == WITH:
        return radii_of(shaped, shaped.background, SHARES)
    matched = matched_radius(shaped.background, free.background, free.branches, shaped.eta, free.batch_size)
    return {**radii_of(free, free.background, SHARES), "matched": matched}


def _measure(recipe: Recipe, encoder: str, data: Path, runs: Path) -> dict[str, Any]:
    return measure(recipe.trained(encoder, data, runs), radii_for(recipe, encoder, data, runs), EVALUATED, data)


def main(argv: Sequence[str]) -> None:
    """Read the command line, train and measure what is missing."""
    arguments = folders(__name__, __doc__, argv)
    settings = {"exemplars": EXEMPLARS, "draws": DRAWS, "shares": SHARES, "decided": DECIDED, "rate": RATE}
    parts = [
        Part(
            f"{name}, {encoder}",
            {**asdict(recipe.config(encoder)), **settings},
            partial(_measure, recipe, encoder, arguments.data, arguments.runs),
        )
        for name, recipe in RECIPES.items()
        for encoder in WEIGHTS
    ]
    named = {"recipes": list(RECIPES), "encoders": list(WEIGHTS)}
    run_parts("benefit", parts, {"auxiliary": AUXILIARY, "evaluated": EVALUATED, **named, **settings})
