"""Does a decision keep its rate, and what does it detect? CIFAR-10 with the Tiny-ImageNet backbone.

``python -m experiments conformal --data DIR`` enrolls m train images of each class, asks for the conformal p-values of
1,000 test images, and repeats that over many draws, for the guarantee is about fresh exemplars too: one bag of 120
alone varies by about ±.02. It writes experiments/results/conformal.json and docs/figures/conformal.png.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import corel.images
from corel._terminal import progress_bar
from corel.backbone import Backbone
from corel.oneclass import ClassBank, allowed_rejections, backbone_settings
from experiments._lib import command
from experiments._lib.names import SCORES
from experiments._lib.paths import FIGURES
from experiments._lib.record import read, record

BACKBONE = "tiny-imagenet-16x10"
CURVE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
EXEMPLARS = (10, 20, 50, 120, 250, 500)
DRAWS = {120: 50}  # at the paper's m; 10 draws elsewhere
TESTED = 1000  # test images a draw

Latents = NDArray[np.float32]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """CIFAR-10 as the backbone sees it: train latents to enroll from, test latents to judge."""

    backbone: Backbone
    train: Latents
    train_labels: Labels
    test: Latents
    test_labels: Labels

    @classmethod
    def load(cls, data: Path, name: str) -> Setting:
        """Encode both splits."""
        backbone, parts = Backbone.load(name), []
        for split in ("train", "test"):
            images = corel.images.open("cifar10", split, root=data)
            parts += [backbone.encode(images, progress=True), np.asarray(images.labels)]
        return cls(backbone, *parts)

    def bank(self, m: int, draw: int, score: str) -> ClassBank:
        """All classes, with m random train images each."""
        rng = np.random.default_rng([m, draw])
        rows = [np.flatnonzero(self.train_labels == c) for c in range(self.train_labels.max() + 1)]
        bags = [self.train[rng.choice(own, m, replace=False)] for own in rows]
        return ClassBank.of(bags, **backbone_settings(self.backbone), method=score)


def run(setting: Setting) -> None:
    """Measure every score at every m and write down what was found."""
    start, rows = time.perf_counter(), []
    member = setting.test_labels[:, None] == np.arange(setting.test_labels.max() + 1)
    with progress_bar("draws", total=sum(DRAWS.get(m, 10) for m in EXEMPLARS) * len(SCORES)) as advance:
        for m in EXEMPLARS:
            for score in SCORES:
                draws = []
                for draw in range(DRAWS.get(m, 10)):
                    tested = np.random.default_rng(draw).choice(len(member), TESTED, replace=False)
                    draws.append(_rejections(setting.bank(m, draw, score), setting.test[tested], member[tested]))
                    advance(note=f"{score}, m = {m}")
                rows.append({"score": score, "exemplars": m, "draws": len(draws), **_summary(draws)})
    data = "CIFAR-10, exemplars from train, points from test"
    config = {"backbone": setting.backbone.digest, "data": data, "rates": CURVE, "tested": TESTED}
    record("conformal", config=config, results=rows, seed=0, seconds=time.perf_counter() - start)


def _rejections(bank: ClassBank, points: Latents, member: NDArray[np.bool_]) -> dict[str, list[list[float]]]:
    """Per rate and class the share of in-class and of out-of-class points rejected."""
    scores, p_values = bank.assess(points)
    return {
        "inside": [_shares(p_values <= rate, member) for rate in CURVE],
        "inside_predict": [_shares(scores < bank.thresholds(rate), member) for rate in CURVE],
        "outside": [_shares(p_values <= rate, ~member) for rate in CURVE],
    }


def _shares(rejected: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> list[float]:
    return [float(rejected[chosen[:, c], c].mean()) for c in range(chosen.shape[1])]


def _summary(draws: list[dict[str, list[list[float]]]]) -> dict[str, list[float]]:
    """Means over draws and classes; for rejections in class also their spread over draws, and over single bags."""
    curves = {key: np.array([draw[key] for draw in draws]) for key in draws[0]}  # [draws, rates, classes]
    means = {key: curve.mean((0, 2)).tolist() for key, curve in curves.items()}
    inside = curves["inside"]
    spread = inside.mean(2).std(0, ddof=1).tolist()
    return {**means, "inside_spread": spread, "inside_bag_spread": inside.std(0, ddof=1).mean(1).tolist()}


def draw_figure() -> None:
    """Left: rejections in class against the promise. Middle: detection against the rate. Right: against m."""
    rows = read("conformal")["results"]
    at_120 = {row["score"]: row for row in rows if row["exemplars"] == 120}
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    kept, power, growth = figure.subplots(1, 3)
    kept.plot(CURVE, CURVE, color="0.6", lw=1, label="promised")
    for score, style in zip(SCORES, ("C1s--", "C0o-"), strict=True):
        kept.plot(CURVE, at_120[score]["inside"], style, ms=4, label=score)
        power.plot(CURVE, at_120[score]["outside"], style, ms=4, label=score)
        _draw_growth(growth, [row for row in rows if row["score"] == score], style, score)
    kept.set(title="in class, m = 120", ylabel="share rejected", xlabel="rate", xscale="log", yscale="log")
    power.set(title="out of class, m = 120", ylabel="share rejected", xlabel="rate", xscale="log")
    growth.set(title="out of class, rate 5%", ylabel="share rejected", xlabel="exemplars m", xscale="log")
    for axes, ticks in ((kept, CURVE), (power, CURVE), (growth, EXEMPLARS[1:])):
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    kept.set_yticks(CURVE, [f"{tick:g}" for tick in CURVE])
    kept.minorticks_off()
    figure.savefig(FIGURES / "conformal.png", dpi=150)


def _draw_growth(axes: Axes, rows: list[dict[str, Any]], style: str, label: str) -> None:
    at = CURVE.index(0.05)
    able = [row for row in rows if allowed_rejections(0.05, row["exemplars"])]
    axes.plot([row["exemplars"] for row in able], [row["outside"][at] for row in able], style, ms=4, label=label)


def setting_from_command_line(module: str, description: str | None, argv: Sequence[str]) -> Setting:
    """Read where the data is and which backbone to take."""
    parser = command.parser(module, description, ("data",))
    parser.add_argument("--backbone", default=BACKBONE, help="name or path")
    arguments = parser.parse_args(argv)
    return Setting.load(arguments.data, arguments.backbone)


def main(argv: Sequence[str]) -> None:
    """Read the command line, measure and draw."""
    run(setting_from_command_line(__name__, __doc__, argv))
    draw_figure()
