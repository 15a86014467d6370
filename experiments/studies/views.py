"""What views of an image bring to the cosine score, on folds of train splits; no test image is read.

Exemplars and scored images are seen whole, with their mirror images, or with four corners as well. Writes
experiments/results/views.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from corel.backbone import Backbone
from corel.images import VIEWS, ImageSet
from corel.oneclass import ClassBank, backbone_settings
from experiments._lib.command import folders
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import split
from experiments.studies.cosine_folds import DRAWS, POOL, SETS, auc

EXEMPLARS = (10, 30, 120)


def halves(images: ImageSet, scored: int) -> tuple[Any, Any]:
    """Pixels to score, `scored` of each class, and others to enroll, `POOL` of each class."""
    rng = np.random.default_rng(0)
    by_class = [rng.permutation(np.flatnonzero(images.labels == c)) for c in range(len(images.classes))]
    parts = slice(scored), slice(scored, scored + POOL)
    return tuple(images.pixels[np.concatenate([rows[part] for rows in by_class])] for part in parts)


def measure(backbone: Backbone, dataset: str, data: Path) -> dict[str, dict[str, float]]:
    """Mean AUC over draws by views and number of exemplars."""
    images = split(dataset, "train", data)
    asked, pool = halves(images, SETS[dataset])
    labels, found = np.repeat(np.arange(len(images.classes)), SETS[dataset]), {}
    for name in VIEWS:
        embed = partial(backbone.embed, views=name, progress=True)
        rows, points = embed(pool).features.reshape(len(images.classes), POOL, -1), embed(asked).features
        found[name] = {
            str(m): float(np.mean([_auc(backbone, rows, points, labels, m, d) for d in range(DRAWS)]))
            for m in EXEMPLARS
        }
    return found


def _auc(backbone: Backbone, rows: Any, points: Any, labels: Any, m: int, draw: int) -> float:
    rng = np.random.default_rng([draw, 1])
    bags = [each[rng.permutation(POOL)[:m]] for each in rows]
    return auc(ClassBank.of(bags, **backbone_settings(backbone, "cosine")).scores(points), labels)


def main(argv: Sequence[str]) -> None:
    """Read the command line and compare what is missing."""
    data = folders(__name__, __doc__, argv, ("data",)).data
    backbone = Backbone.load()
    settings = {"encoder": backbone.digest, "exemplars": EXEMPLARS, "draws": DRAWS, "views": VIEWS}
    parts = [
        Part(dataset, {**settings, "scored of each class": scored}, partial(measure, backbone, dataset, data))
        for dataset, scored in SETS.items()
    ]
    run_parts("views", parts, settings)
