"""The figures of the evidence, all drawn from committed results and in one style."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from corel._io.atomic import write_atomically
from experiments import paper
from experiments._lib.names import DATASETS, SCORES
from experiments._lib.parts import is_complete, results
from experiments._lib.paths import FIGURES, RESULTS
from experiments._lib.record import read

STYLES = ("C0o-", "C1s--", "C2^:", "C3D-.")


def save(name: str, folder: Path = FIGURES, records: Path = RESULTS) -> None:
    """Draw a figure from its record, once that is complete."""
    if is_complete(name, records):
        file = io.BytesIO()
        DRAWN[name](records).savefig(file, format="png", dpi=150)
        write_atomically(folder / f"{name}.png", file.getvalue())


def branching(records: Path) -> Figure:
    """Both losses over training, and AUC against m, by branches."""
    return _over_training(results("branching", records), ("connectivity", "reconstruction"))


def weights(records: Path) -> Figure:
    """Connectivity over training, and AUC against m, by λ."""
    return _over_training(results("weights", records), ("connectivity",))


def _over_training(found: dict[str, Any], losses: Sequence[str]) -> Figure:
    figure, axes = _panels(len(losses) + 1)
    for (name, variant), style in zip(found.items(), STYLES, strict=False):
        history, auc = variant["history"], variant["auc"]
        epochs = [epoch["epoch"] for epoch in history]
        for panel, loss in zip(axes, losses, strict=False):
            panel.plot(epochs, [epoch[loss] for epoch in history], style, ms=4, label=name)
        axes[-1].plot([int(m) for m in auc], list(auc.values()), style, ms=4, label=name)
    for panel, loss in zip(axes, losses, strict=False):
        panel.set(xlabel="epoch", ylabel=f"{loss} loss, mean of the epoch", xticks=range(1, len(history) + 1))
    _against_exemplars(axes[-1], [int(m) for m in auc])
    return _finished(figure, axes)


def control(records: Path) -> Figure:
    """AUC against m with and without the loss, by radius, for both scores."""
    found = results("control", records)
    figure, axes = _panels(2, sharey=True)
    for panel, score in zip(axes, SCORES, strict=True):
        for (way, measured), style in zip(found.items(), STYLES, strict=True):
            auc = measured["auc"][score]
            panel.plot([int(m) for m in auc], list(auc.values()), style, ms=4, label=way)
        _against_exemplars(panel, [int(m) for m in auc])
        panel.set_title(score)
    return _finished(figure, axes)


def radius(records: Path) -> Figure:
    """AUC against the radius, for both m; the authors' sweep beside it where the encoder's data is theirs."""
    theirs = read("radius", records)["config"]["auxiliary"] == "cifar100"
    figure, axes = _panels(1)
    for (m, sweep), style in zip(results("radius", records).items(), STYLES, strict=False):
        axes[0].plot([float(r) for r in sweep], list(sweep.values()), style, ms=4, label=f"m = {int(m):,}")
        if theirs:
            published = paper.RADIUS_SWEEP[int(m)]
            label = f"authors, m = {int(m):,}"
            axes[0].plot(list(published), list(published.values()), color="0.6", marker=".", lw=1, label=label)
    axes[0].axvline(2, color="0.6", lw=1, label="η")
    axes[0].set(xlabel="radius", ylabel="one-vs-all AUC, CIFAR-10")
    return _finished(figure, axes)


def lifetimes(records: Path) -> Figure:
    """Per branch the mean death time of batches, and from the mean smallest to the mean largest."""
    found = results("lifetimes", records)
    figure, axes = _panels(len(found), sharey=True, width=5)
    for panel, (pair, measured) in zip(axes, found.items(), strict=True):
        for (dataset, deaths), style, shift in zip(measured.items(), STYLES, (-0.15, 0.15), strict=False):
            low, mean, high = np.array(deaths).T
            where = np.arange(len(mean)) + shift
            panel.errorbar(where, mean, [mean - low, high - mean], fmt=style[:3], ms=4, lw=1, label=DATASETS[dataset])
        panel.axhline(read("lifetimes", records)["config"]["eta"], color="0.6", lw=1, label="η")
        panel.set(xlabel="branch", ylabel="death times in batches of 100", ylim=(0, None))
        panel.set_title(f"encoder trained on {DATASETS[pair.split(' → ')[0]]}")
    return _finished(figure, axes, "lower right", "marker: mean, line: smallest to largest")


def variability(records: Path) -> Figure:
    """AUC and its deviation over subsets against the number of classes, by encoder and score."""
    figure, axes = _panels(2, sharey=True)
    for panel, score in zip(axes, SCORES, strict=True):
        for (auxiliary, measured), style in zip(results("variability", records).items(), STYLES, strict=False):
            sizes, by = [int(n) for n in measured[score]], list(measured[score].values())
            means, spreads = [each["mean"] for each in by], [each["spread"] for each in by]
            panel.errorbar(sizes, means, spreads, fmt=style, ms=4, capsize=2, label=f"trained on {DATASETS[auxiliary]}")
        panel.set(xlabel="classes of Tiny-ImageNet", ylabel="one-vs-all AUC", xscale="log")
        _log_ticks(panel, sizes)
        panel.set_title(score)
    return _finished(figure, axes)


def density(records: Path) -> Figure:
    """The share of points with as many neighbors within β̂ as promised, against m."""
    figure, axes = _panels(1, width=7)  # so that 100 and 120 stand apart
    for (name, measured), style in zip(results("density", records).items(), STYLES, strict=False):
        sizes = [int(m) for m in measured]
        axes[0].plot(sizes, [by["share"] for by in measured.values()], style, ms=4, label=name)
    axes[0].axhline(1, color="0.6", lw=1, label="Lemma 1")
    axes[0].set(xlabel="points m", ylabel="share with m − b + 1\nneighbors within β̂", xscale="log", ylim=(-0.03, 1.05))
    _log_ticks(axes[0], sizes)
    return _finished(figure, axes)


def _panels(count: int, width: float = 4.2, **shared: Any) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width * count, 3.4), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False, **shared)[0])


def _against_exemplars(panel: Axes, sizes: Sequence[int]) -> None:
    panel.set(xlabel="exemplars m", ylabel="one-vs-all AUC, CIFAR-10", xscale="log")
    spaced = [m for m in sizes if m in (10, 50, 120, 500, 5000)]
    _log_ticks(panel, spaced)


def _log_ticks(panel: Axes, ticks: Sequence[int]) -> None:
    """Plain numbers instead of powers of ten."""
    panel.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    panel.xaxis.set_tick_params(which="minor", bottom=False)
    panel.xaxis.set_minor_formatter("")


def _finished(
    figure: Figure, axes: Sequence[Axes], legend: Literal["best", "lower right"] = "best", heading: str | None = None
) -> Figure:
    for panel in axes:
        panel.grid(alpha=0.3)
        panel.legend(frameon=False, fontsize=8, loc=legend, title=heading, title_fontsize=8)
    return figure


DRAWN: dict[str, Callable[[Path], Figure]] = {
    draw.__name__: draw for draw in (branching, weights, control, radius, lifetimes, variability, density)
}
