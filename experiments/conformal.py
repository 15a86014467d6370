"""Does a decision keep its rate, and what does it detect? CIFAR-10 with the Tiny-ImageNet backbone.

``python -m experiments.conformal --data DIR`` enrols m train images of each class, asks for the conformal p-values of
2,000 test images, and repeats that over many draws, for the guarantee is about fresh exemplars too: one bag of 120
alone varies by about ±.02. It writes experiments/results/conformal.json and docs/figures/conformal.png.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, Literal

import matplotlib.ticker
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import corel.images
from corel._terminal import progress_bar
from corel.backbone import Backbone
from corel.oneclass import ClassBank, allowed_rejections, backbone_settings
from experiments._record import read, record

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
BACKBONE = "tiny-imagenet-16x10"
CURVE = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
EXEMPLARS = (10, 20, 50, 120, 250, 500)
DRAWS = {120: 50}  # at the paper's m; 10 draws elsewhere
TESTED = 2000  # test images a draw
SCORES: tuple[Literal["count", "contrast"], ...] = ("count", "contrast")

Doubles = NDArray[np.float64]


def run(data: Path, name: str) -> None:
    """Measure every score at every m and write down what was found."""
    start, backbone = time.perf_counter(), Backbone.load(name)
    train, test = (corel.images.open("cifar10", split, root=data) for split in ("train", "test"))
    assert train.labels is not None
    assert test.labels is not None
    latents, points = (backbone.encode(images, progress=True) for images in (train, test))
    member = test.labels[:, None] == np.arange(len(test.classes))
    rows = []
    with progress_bar("draws", total=sum(DRAWS.get(m, 10) for m in EXEMPLARS) * len(SCORES)) as advance:
        for m in EXEMPLARS:
            for score in SCORES:
                draws = []
                for draw in range(DRAWS.get(m, 10)):
                    bank = _bank(latents, train.labels, m, draw, backbone, score)
                    tested = np.random.default_rng(draw).choice(len(points), TESTED, replace=False)
                    draws.append(_rejections(bank, points[tested], member[tested]))
                    advance(note=f"{score}, m = {m}")
                rows.append({"score": score, "exemplars": m, "draws": len(draws), **_summary(draws)})
    data_used = "CIFAR-10, exemplars from train, points from test"
    config = {"backbone": backbone.digest, "data": data_used, "rates": CURVE, "tested": TESTED}
    record("conformal", config=config, results=rows, seed=0, seconds=time.perf_counter() - start)


def _bank(
    latents: NDArray[np.float32],
    labels: NDArray[np.int64],
    m: int,
    draw: int,
    backbone: Backbone,
    score: Literal["count", "contrast"],
) -> ClassBank:
    rng = np.random.default_rng([m, draw])
    bags = [latents[rng.choice(np.flatnonzero(labels == c), m, replace=False)] for c in range(labels.max() + 1)]
    return ClassBank.of(bags, **backbone_settings(backbone), score=score)


def _rejections(bank: ClassBank, points: NDArray[np.float32], member: NDArray[np.bool_]) -> dict[str, Any]:
    """Shares of in-class and of out-of-class points rejected at each rate, mean over classes."""
    scores, p_values = bank.assess(points)
    return {
        "inside": [_mean_share(p_values <= rate, member) for rate in CURVE],
        "inside_predict": [_mean_share(scores < bank.thresholds(rate), member) for rate in CURVE],
        "outside": [_mean_share(p_values <= rate, ~member) for rate in CURVE],
        "possible": [allowed_rejections(rate, int(bank.sizes[0])) > 0 for rate in CURVE],
    }


def _mean_share(rejected: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> float:
    return float(np.mean([rejected[chosen[:, c], c].mean() for c in range(chosen.shape[1])]))


def _summary(draws: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean over draws of every curve, and the spread over draws of the rejections in class."""
    curves = {key: np.array([draw[key] for draw in draws], float) for key in draws[0] if key != "possible"}
    means = {key: curve.mean(0).tolist() for key, curve in curves.items()}
    spread = curves["inside"].std(0, ddof=1).tolist()
    return {**means, "inside_spread": spread, "possible": draws[0]["possible"]}


def draw_figure() -> None:
    """Left: rejections in class against the promise. Middle: detection against the rate. Right: against m."""
    rows = read("conformal")["results"]
    at_120 = {row["score"]: row for row in rows if row["exemplars"] == 120}
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    kept, power, growth = figure.subplots(1, 3)
    kept.plot(CURVE, CURVE, color="0.6", lw=1, label="promised")
    for score, style in zip(SCORES, ("s--", "o-"), strict=True):
        kept.errorbar(CURVE, at_120[score]["inside"], at_120[score]["inside_spread"], fmt=style, ms=4, label=score)
        power.plot(CURVE, at_120[score]["outside"], style, ms=4, label=score)
        _draw_growth(growth, [row for row in rows if row["score"] == score], style, score)
    kept.set(title="in class, m = 120", ylabel="share rejected", xlabel="rate", xscale="log", yscale="log")
    power.set(title="out of class, m = 120", ylabel="share rejected", xlabel="rate", xscale="log")
    growth.set(title="out of class, rate 5%", ylabel="share rejected", xlabel="exemplars m", xscale="log")
    for axes in (kept, power, growth):
        _finish(axes)
    figure.savefig(FIGURES / "conformal.png", dpi=150)


def _draw_growth(axes: Axes, rows: list[dict[str, Any]], style: str, label: str) -> None:
    at = CURVE.index(0.05)
    able = [row for row in rows if row["possible"][at]]
    axes.plot([row["exemplars"] for row in able], [row["outside"][at] for row in able], style, ms=4, label=label)


def _finish(axes: Axes) -> None:
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
        axis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="where the datasets are laid out")
    parser.add_argument("--backbone", default=BACKBONE, help="name or path")
    arguments = parser.parse_args()
    run(arguments.data, arguments.backbone)
    draw_figure()


if __name__ == "__main__":
    main()
