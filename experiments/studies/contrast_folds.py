"""Choose the contrast score on folds of CIFAR-10's train split.

Compares windows, smoothings and mirrored enrollment on the latents of the Tiny-ImageNet backbone; no test image is
read. What was chosen is frozen in `corel.oneclass`; `python -m experiments contrast` reports it on the test splits.
Writes experiments/results/contrast_folds.json and docs/figures/contrast.png.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import corel.images
from corel._terminal import track
from corel.backbone import Backbone
from corel.evaluation import nearest_neighbors, one_vs_all_auc
from corel.oneclass import _contrast, _cpu
from corel.oneclass._kernel import Window
from experiments._lib import command
from experiments._lib.paths import FIGURES
from experiments._lib.record import read, record

BACKBONE = "tiny-imagenet-16x10"
EXEMPLARS = (1, 5, 10, 30, 120, 500)
JUDGED = (5, 10, 30, 120, 500)  # the choice maximizes the mean AUC over these
FOLDS, TESTED, STRANGE = 3, 1500, 200
WORTH = 0.005  # mean AUC that mirrored views must gain to pay for encoding every image twice

Latents = NDArray[np.float32]
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Kernel:
    """How much an exemplar weighs by its distance: a ball of `width`·η, or exp(−d/(`width`·η))."""

    shape: Literal["ball", "exponential"]
    width: float

    def window(self, eta: float) -> Window:
        """The window that corel's kernels take."""
        if self.shape == "ball":
            return _contrast.ball(self.width * eta, np.float32)
        return _contrast.exponential(eta, np.float32, 1 / self.width)

    @property
    def unit(self) -> int:
        """The weight at distance 0."""
        return 1 if self.shape == "ball" else _contrast.UNIT


@dataclass(frozen=True)
class Candidate:
    """A score: a kernel, and how its masses are compared with the background's.

    `smoothing` is "none" for the plain sum, "background" for `strength` pseudo-exemplars spread like the background,
    "constant" for adding `strength` to the class's mass and to the background's.
    """

    kernel: Kernel
    smoothing: Literal["none", "background", "constant"]
    strength: float = 0.0
    mirrored: bool = False

    def scores(self, mass: Doubles, m: int, around: Doubles, size: int) -> Doubles:
        """Scores `[n, C]` of class masses `[n, C, B]`, given the mass `[n, B]` of `size` background latents."""
        s, around = self.strength, around[:, None]
        parts = mass
        if self.smoothing == "constant":
            parts = np.log((mass + s) / (m + s)) - np.log((around + s) / (size + s))
        elif self.smoothing == "background":
            parts = np.log1p(mass * (size + 1) / (s * (around + 1)))
        return np.asarray(parts.sum(2))


KERNELS = (
    *(Kernel("ball", width) for width in (1.0, 1.25, 1.5)),
    *(Kernel("exponential", width) for width in (0.15, 0.25, 0.375, 0.5)),
)
CANDIDATES = (
    *(Candidate(kernel, "none") for kernel in KERNELS),
    *(Candidate(kernel, "background", s) for kernel in KERNELS for s in (10.0, 30.0, 100.0)),
    *(Candidate(kernel, "constant", s) for kernel in KERNELS for s in (0.01, 0.1)),
    *(Candidate(kernel, "background", 30.0, mirrored=True) for kernel in KERNELS),
)
PAPER = Candidate(Kernel("ball", 1.0), "none")
FROZEN = Candidate(Kernel("exponential", 1 / _contrast.SHARPNESS), "background", _contrast.PRIOR)


@dataclass(frozen=True)
class Fold:
    """Points to score and what they are compared with.

    The points are images with `labels`, then `STRANGE` images of uniform noise, then as many latents far from all.
    """

    points: Latents
    labels: NDArray[np.int64]
    bags: tuple[Latents, ...]  # exemplars [C, m, B·D], as they are and mirrored
    background: Latents


def folds(data: Path, backbone: Backbone) -> Iterator[Fold]:
    """Cut CIFAR-10's train split: tests from one fold, exemplars from the others."""
    images = corel.images.open("cifar10", "train", root=data)
    labels = np.asarray(images.labels)
    rng = np.random.default_rng(0)
    noise = backbone.encode(rng.integers(0, 256, (STRANGE, 32, 32, 3)).astype(np.uint8))
    parts = np.array_split(rng.permutation(len(images)), FOLDS)
    for number, part in enumerate(parts):
        rest = np.concatenate(parts[:number] + parts[number + 1 :])
        chosen = np.concatenate([rest[labels[rest] == c][: max(EXEMPLARS)] for c in range(len(images.classes))])
        exemplars, tests = images.pixels[chosen], part[:TESTED]
        plain, mirrored, latents = (
            backbone.encode(pixels) for pixels in (exemplars, exemplars[:, :, ::-1].copy(), images.pixels[tests])
        )
        far = latents.mean(0) + 10 * (latents[:STRANGE] - latents.mean(0))
        bags = (bag.reshape(len(images.classes), max(EXEMPLARS), -1) for bag in (plain, mirrored))
        yield Fold(np.concatenate([latents, noise, far]), labels[tests], (*bags,), backbone.background)


def masses(points: Latents, bag: Latents, kernel: Kernel, branches: int, eta: float) -> Doubles:
    """What the rows of `bag` together weigh from each point and branch `[n, B]`, 1 each at distance 0."""
    split, exemplars = (x.reshape(len(x), branches, -1) for x in (points, bag))
    columns = np.ascontiguousarray(exemplars.transpose(1, 2, 0))
    return _cpu.mass(split, columns, kernel.window(eta)) / kernel.unit


def class_masses(fold: Fold, view: int, kernel: Kernel, branches: int, eta: float) -> dict[int, Doubles]:
    """Masses `[n, C, B]` of the first m exemplars of each class, for every m."""
    steps = list(zip((0, *EXEMPLARS[:-1]), EXEMPLARS, strict=True))
    pieces = [
        np.stack([masses(fold.points, bag[a:b], kernel, branches, eta) for bag in fold.bags[view]], 1) for a, b in steps
    ]
    return dict(zip(EXEMPLARS, np.cumsum(pieces, axis=0), strict=True))


def measure(fold: Fold, branches: int, eta: float) -> Iterator[dict[str, Any]]:
    """AUC and acceptance of what is strange, of every candidate at every m."""
    for kernel in KERNELS:
        around = masses(fold.points, fold.background, kernel, branches, eta)
        plain, mirrored = (class_masses(fold, view, kernel, branches, eta) for view in (0, 1))
        for candidate in (c for c in CANDIDATES if c.kernel == kernel):
            for m in EXEMPLARS:
                # A mirrored copy is a second view of the same example: together they weigh as one.
                mass = (plain[m] + mirrored[m]) / 2 if candidate.mirrored else plain[m]
                scores = candidate.scores(mass, m, around, len(fold.background))
                yield {"candidate": candidate, "m": m, **judge(scores, fold.labels)}


def neighbor_control(fold: Fold) -> Iterator[dict[str, Any]]:
    """The control: minus the mean Euclidean distance to the nearest exemplars."""
    for m in EXEMPLARS:
        rows = np.concatenate([bag[:m] for bag in fold.bags[0]])
        control = nearest_neighbors("nearest", (rows, fold.points))
        scores = control.score(np.arange(len(rows)).reshape(-1, m))
        yield {"candidate": None, "m": m, **judge(scores, fold.labels)}


def judge(scores: Doubles, labels: NDArray[np.int64]) -> dict[str, float]:
    """Mean one-vs-all AUC, and how many of a class's images the mean image of noise, or far from all, outdoes."""
    real, noise, far = np.split(scores, [len(labels), len(labels) + STRANGE])
    classes = range(scores.shape[1])
    return {
        "auc": float(one_vs_all_auc(labels, real).mean()),
        "noise": float(np.mean([(real[labels == c, c] <= noise[:, c].mean()).mean() for c in classes])),
        "far": float(np.mean([(real[labels == c, c] <= far[:, c].mean()).mean() for c in classes])),
    }


def choose(data: Path, backbone: Backbone) -> None:
    """Compare all candidates on all folds and write down what was found."""
    start, rows = time.perf_counter(), []
    for fold in track(folds(data, backbone), "folds", total=FOLDS):
        rows += [*measure(fold, backbone.branches, backbone.eta), *neighbor_control(fold)]
    table = [summarize(candidate, rows) for candidate in (*CANDIDATES, None)]
    results = {
        "candidates": table,
        "best": best(table),
        "frozen": summarize(FROZEN, rows),
        "count": summarize(PAPER, rows),
        "nearest_neighbors": summarize(None, rows),
    }
    config = {
        "backbone": backbone.digest,
        "data": "CIFAR-10, folds of the train split",
        "exemplars": EXEMPLARS,
        "judged": JUDGED,
        "folds": FOLDS,
        "tested": TESTED,
        "note": "auc: mean one-vs-all; noise, far: share of a class's images outdone by noise, by what is far from all",
    }
    record("contrast_folds", config=config, results=results, seed=0, seconds=time.perf_counter() - start)


def best(table: list[dict[str, Any]]) -> dict[str, Any]:
    """The best by the mean over the judged m, among those that what is far from all does not outdo.

    Mirrored views must gain `WORTH`: with them each test image has to be mirrored too, or it would not be exchangeable
    with the exemplars.
    """
    sound = [row for row in table if row["candidate"] and max(row["far"].values()) < 0.5]
    views = [[row for row in sound if row["candidate"]["mirrored"] == mirrored] for mirrored in (False, True)]
    plain, mirrored = (max(rows, key=lambda row: row["judged"]) for rows in views)
    return mirrored if mirrored["judged"] - plain["judged"] >= WORTH else plain


def summarize(candidate: Candidate | None, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over folds at every m, and over the m that are judged."""
    own = [row for row in rows if row["candidate"] == candidate]
    means = {
        key: {m: float(np.mean([row[key] for row in own if row["m"] == m])) for m in EXEMPLARS}
        for key in ("auc", "noise", "far")
    }
    judged = float(np.mean([means["auc"][m] for m in JUDGED]))
    return {"candidate": candidate and asdict(candidate), "judged": judged, **means}


def draw() -> None:
    """AUC against m: the paper's count, the contrast as frozen, and nearest neighbors."""
    results = read("contrast_folds")["results"]
    figure = Figure(figsize=(5, 3.4), layout="constrained")
    axes = figure.subplots()
    lines = {"contrast": "frozen", "count (the paper's)": "count", "5 nearest neighbors": "nearest_neighbors"}
    for (label, key), style in zip(lines.items(), ("C0o-", "C1s--", "C2^:"), strict=True):
        axes.plot(EXEMPLARS, list(results[key]["auc"].values()), style, label=label)
    axes.set(xscale="log", xlabel="exemplars m", ylabel="one-vs-all AUC, CIFAR-10 train folds")
    axes.set_xticks(EXEMPLARS, [str(m) for m in EXEMPLARS])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(FIGURES / "contrast.png", dpi=150)


def main(argv: Sequence[str]) -> None:
    """Read the command line, compare and draw."""
    parser = command.parser(__name__, __doc__, ("data",))
    parser.add_argument("--backbone", default=BACKBONE, help="name or path of the encoder of the folds")
    arguments = parser.parse_args(argv)
    choose(arguments.data, Backbone.load(arguments.backbone))
    draw()
