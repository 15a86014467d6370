"""Scoring images against classes: corel against distance matrices, radius neighbors and FAISS, side by side.

``python -m benchmarks.scoring`` scores 10,000 images against 10 classes of 120 exemplars in 16 branches of R^10, then
ImageNet's 1,000 classes, and writes ``benchmarks/results/scoring.json``. The cosine score compares 384 features
instead of latents. ``--full`` measures the default score on all 50,000 images instead of extrapolating; ``--quick``
takes seconds, shows that everything runs and writes nothing.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.neighbors import NearestNeighbors

from benchmarks._timing import take_turns
from corel.encoders.base import BACKGROUND
from corel.oneclass import METHODS, ClassBank
from measuring.record import record

BRANCHES, DIMENSION, RADIUS = 16, 10, 2.0
EXEMPLARS = 120
CHUNK = 500  # rows of a distance matrix at once, 2.4 MB: the fastest of 100 to 10,000 for torch.cdist here
TARGET = 8.0  # × chunked torch.cdist
LIMIT = 3.0  # × the count, for the cosine with p-values
FEATURES, KNOWN, NEIGHBORS = 384, 2000, 5
DEFAULT = "cosine"  # of galleries by the encoder that ships
LARGE, SAMPLE = 50_000, 2000  # images of ImageNet's validation set, and how many of them the other scores get
LIMIT_LARGE = 3.0  # milliseconds an image by the default with p-values, 1,000 classes
RESULTS = Path(__file__).parent / "results"

Latents = NDArray[np.float32]


@dataclass(frozen=True)
class Problem:
    """Images to score `[n, B·D]` against classes `[C, m, B·D]`, spread as a trained encoder spreads them.

    The same for features, `[n, F]` and `[C, m, F]`.
    """

    points: Latents
    classes: Latents
    background: Latents
    features: Latents
    class_features: Latents
    background_features: Latents

    @classmethod
    def random(cls, points: int, classes: int) -> Problem:
        """Gaussian latents of which about one pair in a hundred lies within the radius."""
        rng = np.random.default_rng(0)
        shapes = [(points,), (classes, EXEMPLARS)]
        latents = [rng.normal(0, 0.36, (*s, BRANCHES * DIMENSION)) for s in [*shapes, (BACKGROUND,)]]
        features = [rng.normal(size=(*s, FEATURES), scale=0.2) for s in [*shapes, (KNOWN,)]]
        return cls(*(values.astype(np.float32) for values in (*latents, *features)))

    def rows(self, method: str) -> Latents:
        """What a method compares of the images."""
        return self.features if method == "cosine" else self.points

    def bank(self, method: str) -> ClassBank:
        """The classes as corel scores them, what is kept between calls already computed."""
        cosine = method == "cosine"
        bags, background = (
            (self.class_features, self.background_features) if cosine else (self.classes, self.background)
        )
        branches = 1 if cosine else BRANCHES
        bank = ClassBank.of(list(bags), branches=branches, radius=RADIUS, background=background, method=method)
        bank.p_values(self.rows(method)[:1])
        return bank


def methods(problem: Problem) -> dict[str, Callable[[Any], Any]]:
    """Every method as a function from images to scores."""
    count, contrast, cosine = (problem.bank(method) for method in METHODS)
    return {
        "corel, count": count.scores,
        "corel, contrast": contrast.scores,
        "corel, cosine": lambda z: cosine.scores(problem.features[: len(z)]),
        "corel, count with p-values": count.p_values,
        "corel, contrast with p-values": contrast.p_values,
        "corel, cosine with p-values": lambda z: cosine.p_values(problem.features[: len(z)]),
        "torch.cdist, chunked": lambda z: _cdist(z, problem.classes, CHUNK),
        "torch.cdist, whole": lambda z: _cdist(z, problem.classes, len(z)),
        "scikit-learn, radius neighbors": lambda z: _radius_neighbors(z, problem.classes),
        "FAISS IndexFlatIP, 5 nearest features of each class": _faiss(problem),
        "scikit-learn, 5 nearest features of each class": _nearest(problem),
    }


def _faiss(problem: Problem) -> Callable[[Any], Any]:
    """What one would build from parts, without a background and without p-values."""
    faiss.omp_set_num_threads(torch.get_num_threads())
    indexes = []
    for bag in problem.class_features:
        indexes.append(faiss.IndexFlatIP(FEATURES))
        indexes[-1].add(np.ascontiguousarray(bag))
    return lambda z: np.stack([each.search(problem.features[: len(z)], NEIGHBORS)[0].mean(1) for each in indexes], 1)


def _nearest(problem: Problem) -> Callable[[Any], Any]:
    models = [NearestNeighbors(n_neighbors=NEIGHBORS, algorithm="brute").fit(bag) for bag in problem.class_features]
    return lambda z: np.stack([-model.kneighbors(problem.features[: len(z)])[0].mean(1) for model in models], 1)


def _cdist(z: Latents, classes: Latents, rows: int) -> NDArray[np.int64]:
    exemplars = torch.from_numpy(classes.reshape(-1, BRANCHES, DIMENSION)).transpose(0, 1).contiguous()
    parts = []
    for chunk in torch.from_numpy(z.reshape(-1, BRANCHES, DIMENSION)).split(rows):  # type: ignore[no-untyped-call]
        inside = sum((torch.cdist(chunk[:, j], exemplars[j], p=1) <= RADIUS).long() for j in range(BRANCHES))
        parts.append(torch.as_tensor(inside).view(len(chunk), *classes.shape[:2]).sum(2))
    return torch.cat(parts).numpy()


def _radius_neighbors(z: Latents, classes: Latents) -> NDArray[np.int64]:
    points, exemplars = (x.reshape(-1, BRANCHES, DIMENSION) for x in (z, classes))
    counts = np.zeros((len(z), len(classes)), np.int64)
    for j in range(BRANCHES):
        model = NearestNeighbors(radius=RADIUS, p=1).fit(exemplars[:, j])
        for t, near in enumerate(model.radius_neighbors(points[:, j], return_distance=False)):
            counts[t] += np.bincount(near // EXEMPLARS, minlength=len(classes))
    return counts


def compare(points: int, rounds: int) -> dict[str, Any]:
    """Median milliseconds of every method, their ratios to corel's count, and how far the counts agree."""
    problem = Problem.random(points, 10)
    calls = methods(problem)
    for call in calls.values():
        call(problem.points[:100])
    turns = take_turns(calls, [problem.points] * rounds, "scoring", budget=10.0)
    times = {name: 1000 * statistics.median(turn.seconds) for name, turn in turns.items()}
    ours = np.asarray(turns["corel, count"].value)
    differing = {
        name: int((np.asarray(turns[name].value) != ours).sum())
        for name in calls
        if not name.startswith("corel") and "features" not in name
    }
    return {
        "points": points,
        "milliseconds": times,
        "ratio": {name: value / times["corel, count"] for name, value in times.items()},
        "rounds": {name: len(turn.seconds) for name, turn in turns.items()},
        "scores_that_differ": differing,  # of points × classes: distances at the radius round either way
        "target": {"torch.cdist, chunked": TARGET},
        "limit": {"corel, cosine with p-values": LIMIT},
    }


def imagenet(images: int) -> dict[str, Any]:
    """Seconds for 50,000 images against 1,000 classes × 120 exemplars: `images` by the default, others by a sample."""
    problem = Problem.random(images, 1000)
    found: dict[str, Any] = {"classes": 1000, "exemplars": EXEMPLARS, "limit": {f"{DEFAULT}, p_values": LIMIT_LARGE}}
    for score in METHODS:
        start = time.perf_counter()
        bank = problem.bank(score)
        found[f"{score}, seconds to prepare"] = time.perf_counter() - start
        rows = problem.rows(score)[: images if score == DEFAULT else SAMPLE]
        for what, call in (("scores", bank.scores), ("p_values", bank.p_values)):
            found[f"{score}, {what}"] = _in_batches(call, rows)
    return found


def _in_batches(call: Callable[[Any], Any], rows: Latents) -> dict[str, Any]:
    start, images = time.perf_counter(), len(rows)
    for first in range(0, images, CHUNK):
        call(rows[first : first + CHUNK])
    seconds = time.perf_counter() - start
    return {
        "milliseconds_per_image": 1000 * seconds / images,
        "seconds_for_50000": LARGE * seconds / images,
        "how": "measured" if images == LARGE else f"extrapolated from {images}",
    }


def show(results: dict[str, Any], console: Console) -> None:
    """Print both tables."""
    points = results["ten_classes"]["points"]
    table = Table(f"{points:,} × 10 classes × 120 × 16 × R^10", "milliseconds", "× corel")
    for name, value in results["ten_classes"]["milliseconds"].items():
        table.add_row(name, f"{value:,.0f}", f"{results['ten_classes']['ratio'][name]:.1f}")
    large = Table("1,000 classes × 120", "ms an image", "seconds for 50,000", "")
    for name, row in results["imagenet_size"].items():
        if "prepare" in name:
            large.add_row(name, "", f"{row:.1f}", "once")
        if isinstance(row, dict) and "how" in row:
            milliseconds, total, how = row.values()
            large.add_row(name, f"{milliseconds:.2f}", f"{total:,.0f}", how)
    console.print(table, large)


def main() -> None:
    """Measure, print, and write what a full run found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the default against 1,000 classes on all 50,000 images")
    parser.add_argument("--quick", action="store_true", help="few images, no file")
    arguments = parser.parse_args()
    points, rounds, images = (500, 2, 20) if arguments.quick else (10_000, 15, LARGE if arguments.full else SAMPLE)
    start = time.perf_counter()
    results = {"ten_classes": compare(points, rounds), "imagenet_size": imagenet(images)}
    show(results, Console(width=max(100, Console().width)))
    if not arguments.quick:
        config = {"branches": BRANCHES, "dimension": DIMENSION, "background": BACKGROUND, "chunk": CHUNK}
        config |= {"features": FEATURES, "background of features": KNOWN}
        config["threads"] = torch.get_num_threads()
        record("scoring", config=config, results=results, seed=0, seconds=time.perf_counter() - start, folder=RESULTS)


if __name__ == "__main__":
    main()
