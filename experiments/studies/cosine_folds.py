"""Choose shrinkage, temperature and default of the cosine score on folds of train splits; no test image is read.

Train images of CIFAR-10 and CIFAR-100 are cut into images to enroll and images to score. The shipped encoder has seen
neither set. Of the settings that lose at most `WORTH` AUC at m = 120 to the best one there, the one with the best mean
over `JUDGED` is what `corel.oneclass` has frozen. Without that limit more shrinkage would always win: it helps where
exemplars are few and hurts where they are many. Writes experiments/results/cosine_folds.json.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.covariance import ledoit_wolf_shrinkage

from corel._terminal import track
from corel.backbone import Backbone
from corel.encoders.base import Embedding
from corel.oneclass import ClassBank, backbone_settings
from corel.oneclass._cosine import TEMPERATURE
from corel.oneclass._measures import WEIGHED
from corel.oneclass._whitening import SHRINKAGE, Whitening
from experiments._lib.command import folders
from experiments._lib.record import record
from experiments._lib.trainings import split

SETS = {"cifar10": 300, "cifar100": 30}  # images scored of each class
EXEMPLARS = (1, 2, 5, 10, 30, 120)
JUDGED = (5, 10, 30, 120)  # the choice maximizes the mean AUC over these
WORTH = 0.001  # and loses no more than this at the largest
SHRINKAGES = ("Ledoit-Wolf", 0.1, 0.2, 0.3, 0.5)
TEMPERATURES = (0.07, 0.1, 0.14)
POOL = 160  # images of each class that exemplars are drawn from
DRAWS, NEIGHBORS, AROUND = 3, 5, 50
CELLS = 1 << 24  # distances held at once: 64 MB

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


def neighbors(points: Floats, groups: Floats, count: int) -> Floats:
    """Mean Euclidean distance `[n, C]` to the nearest `count` of each group `[C, m, d]`."""
    flat, kept, parts = groups.reshape(-1, groups.shape[-1]), min(count, groups.shape[1]), []
    for rows in np.array_split(points, max(1, len(points) * len(flat) // CELLS)):
        squares = (rows**2).sum(1)[:, None] + (flat**2).sum(1) - 2 * rows @ flat.T
        distances = np.sqrt(np.maximum(squares, 0)).reshape(len(rows), *groups.shape[:2])
        parts.append(np.partition(distances, kept - 1, axis=2)[:, :, :kept].mean(2))
    return np.concatenate(parts)


def controls(fold: Fold, backbone: Backbone, exemplars: Sequence[int] = EXEMPLARS) -> Iterator[tuple[str, int, Floats]]:
    """What ships, and nearest neighbors of latents with and without the background's."""
    for m in exemplars:
        bags = fold.chosen[:, :m]
        for method in ("count", "contrast", "cosine"):
            kind = "features" if method == "cosine" else "latents"
            known, asked = (getattr(part, kind) for part in (fold.enrolled, fold.scored))
            yield method, m, ClassBank.of([known[b] for b in bags], **backbone_settings(backbone, method)).scores(asked)
        for name, scale in (("L2", _itself), ("cosine", _unit)):
            points, groups = scale(fold.scored.latents), scale(fold.enrolled.latents)[bags]
            near = neighbors(points, groups, NEIGHBORS)
            yield f"{NEIGHBORS}-NN, {name}", m, -near
            around = neighbors(points, scale(backbone.background)[None], AROUND)
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


def judged(tables: Sequence[dict[str, Any]], name: str, exemplars: Sequence[int] = JUDGED) -> float:
    """Mean over the sets and these numbers of exemplars."""
    return float(np.mean([table[name][str(m)] for table in tables for m in exemplars]))


def choose(tables: Sequence[dict[str, Any]]) -> str:
    """The setting by the rule above."""
    largest = {name: judged(tables, name, JUDGED[-1:]) for name in tables[0]}
    sound = [name for name, value in largest.items() if value >= max(largest.values()) - WORTH]
    return max(sound, key=lambda name: judged(tables, name))


def takes_over(tables: Sequence[dict[str, Any]]) -> int | None:
    """The least m from which cosine is at least as good as contrast on the mean of the sets; None if at no m."""
    ahead = [np.mean([t["cosine"][str(m)] - t["contrast"][str(m)] for t in tables]) >= 0 for m in EXEMPLARS]
    return next((m for i, m in enumerate(EXEMPLARS) if all(ahead[i:])), None)


def main(argv: Sequence[str]) -> None:
    """Read the command line, compare, write what was found."""
    arguments, started = folders(__name__, __doc__, argv, ("data",)), time.perf_counter()
    backbone = Backbone.load()
    background = backbone.background_features
    assert background is not None
    results: dict[str, Any] = {}
    for dataset in SETS:
        draws = folds(backbone, dataset, arguments.data)
        results[dataset] = {
            "candidates": measure(draws, lambda fold: candidates(fold, background)),
            "methods": measure(draws, lambda fold: controls(fold, backbone)),
            "background": measure(draws, lambda fold: weighed(fold, background)),
        }
    tables = [found["candidates"] for found in results.values()]
    ordered = sorted(((judged(tables, name), name) for name in tables[0]), reverse=True)
    results["judged"] = {name: value for value, name in ordered}
    results["chosen"] = choose(tables)
    results["cosine takes over from contrast at m"] = takes_over([results[each]["methods"] for each in SETS])
    config = {
        "backbone": backbone.digest, "scored of each class": SETS, "exemplars": EXEMPLARS, "judged": JUDGED,
        "draws": DRAWS, "frozen": {"shrinkage": SHRINKAGE, "temperature": TEMPERATURE, "compared rows": WEIGHED},
    }  # fmt: skip
    record("cosine_folds", config=config, results=results, seed=0, seconds=time.perf_counter() - started)
