"""Choose shrinkage, temperature and default of the cosine score on folds of train splits; no test image is read.

Train images of CIFAR-10 and CIFAR-100 are cut into images to enroll and images to score. The encoders have seen neither
set. `experiments._lib.choice` has the rule. The paper's encoder has no features of its own: there the scores are
compared on latents. Writes experiments/results/cosine_folds.json.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.covariance import ledoit_wolf_shrinkage

from corel._terminal import track
from corel.backbone import Backbone
from corel.encoders.base import Embedding
from corel.evaluation._methods import nearest_distances
from corel.oneclass import METHODS, ClassBank, backbone_settings
from corel.oneclass._cosine import TEMPERATURE
from corel.oneclass._measures import WEIGHED
from corel.oneclass._whitening import SHRINKAGE, Whitening
from experiments._lib.choice import EXEMPLARS, JUDGED
from experiments._lib.command import folders
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import split

SETS = {"cifar10": 300, "cifar100": 30}  # images scored of each class
PAPERS = "tiny-imagenet-16x10"  # the paper's encoder that has seen neither set
SHRINKAGES = ("Ledoit-Wolf", 0.1, 0.2, 0.3, 0.5)
TEMPERATURES = (0.07, 0.1, 0.14)
POOL = 160  # images of each class that exemplars are drawn from
DRAWS, NEIGHBORS, AROUND = 3, 5, 50

Floats = NDArray[Any]
Means = dict[int, list[float]]


@dataclass(frozen=True)
class Fold:
    """Embedded images to score with their labels, and exemplars as indices `[C, m]` into those to enroll."""

    enrolled: Embedding
    scored: Embedding
    labels: NDArray[np.int64]
    chosen: NDArray[np.int64]


def folds(backbone: Backbone, dataset: str, data: Path) -> list[Fold]:
    """The draws of a set: the same images to score, other exemplars."""
    images, rng = split(dataset, "train", data), np.random.default_rng(0)
    by_class = [rng.permutation(np.flatnonzero(images.labels == c)) for c in range(len(images.classes))]
    asked, pool = SETS[dataset], POOL
    scored, enrolled = (
        backbone.embed(images.pixels[np.concatenate([rows[part] for rows in by_class])], progress=True)
        for part in (slice(asked), slice(asked, asked + pool))
    )
    labels = np.repeat(np.arange(len(by_class)), asked)
    draws = [
        np.stack([c * pool + rng.permutation(pool)[: max(EXEMPLARS)] for c in range(len(by_class))])
        for _ in range(DRAWS)
    ]
    return [Fold(enrolled, scored, labels, chosen) for chosen in draws]


def cosines(fold: Fold, whitening: Whitening, background: Floats) -> tuple[Floats, Floats]:
    """Cosines of the scored images to their draw's exemplars `[n, C, m]` and to the background `[n, G]`."""
    points = whitening.units(fold.scored.features) / np.float32(whitening.length)
    exemplars, others = (whitening.units(x) / np.float32(whitening.length) for x in (
        fold.enrolled.features[fold.chosen.ravel()], background))  # fmt: skip
    return (points @ exemplars.T).reshape(len(points), *fold.chosen.shape), points @ others.T


def log_mean_exp(cosines: Floats, temperature: float, m: int | None = None) -> Floats:
    """Over the first m of the last axis."""
    return np.asarray(np.log(np.exp(cosines[..., :m] / np.float32(temperature)).mean(-1, dtype=np.float64)))


def candidates(fold: Fold, background: Floats) -> Iterator[tuple[str, int, Floats]]:
    """Name, number of exemplars and scores `[n, C]` of every shrinkage and temperature."""
    centered = background - background.mean(axis=0)
    for given in SHRINKAGES:
        shrinkage = float(ledoit_wolf_shrinkage(centered, assume_centered=True)) if isinstance(given, str) else given
        near, around = cosines(fold, Whitening.of(background, shrinkage), background)
        for temperature in TEMPERATURES:
            less = log_mean_exp(around, temperature)[:, None]
            for m in EXEMPLARS:
                yield f"shrinkage {given}, τ {temperature}", m, log_mean_exp(near, temperature, m) - less


def controls(fold: Fold, backbone: Backbone, exemplars: Sequence[int] = EXEMPLARS) -> Iterator[tuple[str, int, Floats]]:
    """What ships, and nearest neighbors of latents with and without the background's."""
    for m in exemplars:
        bags = fold.chosen[:, :m]
        for method in METHODS:
            kind = "features" if method == "cosine" else "latents"
            known, asked = (getattr(part, kind) for part in (fold.enrolled, fold.scored))
            yield method, m, ClassBank.of([known[b] for b in bags], **backbone_settings(backbone, method)).scores(asked)
        for name, scale in (("L2", _itself), ("cosine", _unit)):
            points, groups = scale(fold.scored.latents), scale(fold.enrolled.latents)[bags]
            near = nearest_distances(points, groups, NEIGHBORS)
            yield f"{NEIGHBORS}-NN, {name}", m, -near
            around = nearest_distances(points, scale(backbone.background)[None], AROUND)
            yield f"{NEIGHBORS}-NN minus the background's {AROUND}-NN, {name}", m, around - near


def _itself(rows: Floats) -> Floats:
    return rows


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def weighed(fold: Fold, background: Floats) -> Iterator[tuple[str, int, Floats]]:
    """The frozen setting with other numbers of background rows, for the covariance and for the comparison."""
    for known, compared in ((1000, 1000), (2000, 500), (2000, 1000), (2000, 2000)):
        near, around = cosines(fold, Whitening.of(background[:known]), background[:compared])
        for m in EXEMPLARS:
            scores = log_mean_exp(near, TEMPERATURE, m) - log_mean_exp(around, TEMPERATURE)[:, None]
            yield f"covariance of {known} rows, compared with {compared}", m, scores


def auc(scores: Floats, labels: NDArray[np.int64]) -> float:
    """Mean one-vs-all AUC, from ranks."""
    found = []
    for c, ranks in enumerate(rankdata(scores, axis=0).T):
        inside = labels == c
        size = int(inside.sum())
        found.append((ranks[inside].sum() - size * (size + 1) / 2) / (size * (len(labels) - size)))
    return float(np.mean(found))


def measure(draws: Sequence[Fold], scored: Callable[[Fold], Iterator[tuple[str, int, Floats]]]) -> dict[str, Any]:
    """Mean AUC over the draws, by name and number of exemplars."""
    found: dict[str, Means] = {}
    for fold in track(draws, "draws"):
        for name, m, scores in scored(fold):
            found.setdefault(name, {}).setdefault(m, []).append(auc(scores, fold.labels))
    return {name: {str(m): float(np.mean(each)) for m, each in by.items()} for name, by in found.items()}


def by_default_encoder(dataset: str, data: Path) -> dict[str, Any]:
    """Settings of the cosine score, the methods, and how much background they need."""
    backbone = Backbone.load()
    background, draws = backbone.background_features, folds(backbone, dataset, data)
    assert background is not None
    return {
        "candidates": measure(draws, lambda fold: candidates(fold, background)),
        "methods": measure(draws, lambda fold: controls(fold, backbone)),
        "background": measure(draws, lambda fold: weighed(fold, background)),
    }


def by_papers_encoder(dataset: str, data: Path) -> dict[str, Any]:
    """The methods on latents."""
    backbone = Backbone.load(PAPERS)
    return {"methods": measure(folds(backbone, dataset, data), lambda fold: controls(fold, backbone))}


def main(argv: Sequence[str]) -> None:
    """Read the command line and compare what is missing."""
    data = folders(__name__, __doc__, argv, ("data",)).data
    frozen = {"shrinkage": SHRINKAGE, "temperature": TEMPERATURE, "compared rows": WEIGHED}
    settings = {"exemplars": EXEMPLARS, "draws": DRAWS, "frozen": frozen}
    works = {"default": by_default_encoder, PAPERS: by_papers_encoder}
    encoders = {"default": Backbone.load().digest, PAPERS: Backbone.load(PAPERS).digest}
    parts = [
        Part(f"{dataset}, {name}", {**settings, "scored": scored, "encoder": encoders[name]},
             partial(work, dataset, data))
        for name, work in works.items() for dataset, scored in SETS.items()
    ]  # fmt: skip
    run_parts("cosine_folds", parts, {**settings, "judged": JUDGED, "scored of each class": SETS})
