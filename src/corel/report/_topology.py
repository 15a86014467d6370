"""Sections on the shape of the latent space: when its points meet, and what the theory makes of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import FuncFormatter, NullFormatter
from numpy.typing import NDArray
from torch import Tensor

from corel._terminal import drawn
from corel.backbone import Backbone
from corel.images import ImageSet
from corel.losses import split_branches
from corel.persistence import barcode, death_times, merge_edges, plot_barcode
from corel.report import _style
from corel.report._content import Material, Panel, Section
from corel.training import first_weights
from corel.training.config import TrainConfig

SAMPLE = 1000  # images whose latents are looked at
BATCHES = 20  # random batches whose death times are drawn
BINS = 60
MARGIN = 1.25  # a factor beyond the outermost hills


@dataclass(frozen=True, eq=False)
class Cloud:
    """Latents ``[branches, n, D]`` under a name, with labels where there are any."""

    name: str
    points: Tensor
    backbone: Backbone
    trained: bool = True

    def batches(self, count: int) -> Tensor:
        """Give random batches ``[branches, count, b, D]`` of the size that training used."""
        rng = np.random.default_rng(0)
        size = self.points.shape[1]
        rows = [rng.choice(size, self.backbone.batch_size, replace=False) for _ in range(count)]
        return self.points[:, torch.from_numpy(np.stack(rows))]


def clouds(material: Material, sample: ImageSet | None) -> list[Cloud]:
    """Encode the sample with each backbone, and with the first one's first weights; without images, what was kept."""
    found = []
    for name, backbone in material.backbones.items():
        latents = torch.from_numpy(backbone.background[:SAMPLE] if sample is None else backbone.encode(sample))
        if len(latents) < backbone.batch_size:
            return []
        found.append(
            Cloud(name if len(material.backbones) > 1 else "after training", _split(latents, backbone), backbone)
        )
    before = None if sample is None else _before(material.backbone, sample)
    return found if before is None else [before, *found]


def _before(backbone: Backbone, sample: ImageSet) -> Cloud | None:
    """The latents that the training began with; a backbone that does not say how it began has none."""
    try:
        config = TrainConfig(**backbone.metadata["config"])
    except (KeyError, TypeError, ValueError):  # none, another program's, or a later version's
        return None
    network = first_weights(config, sample.pixels.shape[1:]).network.eval()
    return Cloud("before training", _split(network.encode(sample.pixels), backbone), backbone, trained=False)


def _split(latents: Tensor, backbone: Backbone) -> Tensor:
    return split_branches(latents, backbone.branches)


def deaths(material: Material, seen: list[Cloud]) -> Section | None:
    """Draw the distribution of death times, branch by branch."""
    if not seen:
        return None
    eta, found = material.backbone.eta, {}
    for cloud in seen:
        found[cloud.name] = death_times(cloud.batches(BATCHES), cloud.backbone.p).flatten(1).numpy()
    limits = _limits(list(found.values()), eta)
    return Section(
        "At which distance do points meet?",
        f"Take a batch of {material.backbone.batch_size} items. In each branch every item is a point. Let a ball "
        "grow around each point: wherever two groups touch, they merge, and the distance between the two points "
        "that met is one “death time” – the moment at which a separate group ceases to exist. A batch of b points "
        f"merges b − 1 times. The connectivity loss asks that all of this happens at η = {eta:g} (the orange line).",
        panels=[
            _ridges(values, name, eta, limits, f"deaths-{index}") for index, (name, values) in enumerate(found.items())
        ],
    )


def _limits(found: list[NDArray[np.float32]], eta: float) -> tuple[float, float]:
    """Axis limits that hold the distribution of every branch, and η."""
    branches = [row[row > 0] for values in found for row in values]
    ends = np.array([np.quantile(row, [0.002, 0.998]) for row in branches if len(row)]).reshape(-1, 2)
    low, high = ends[:, 0].min(initial=eta / 2), ends[:, 1].max(initial=eta * 2)
    return float(low / MARGIN), float(high * MARGIN)


def _ridges(values: NDArray[np.float32], name: str, eta: float, limits: tuple[float, float], file: str) -> Panel:
    edges = np.geomspace(*limits, BINS + 1)
    centers = np.sqrt(edges[1:] * edges[:-1])
    with _style.drawing():
        figure, axes = _style.panel(3.4)
        for branch, row in enumerate(values):
            density = np.convolve(np.histogram(row, edges)[0], [0.25, 0.5, 0.25], mode="same")
            height = branch + 1.6 * density / max(density.max(), 1)
            axes.fill_between(centers, branch, height, color=_style.SKY, alpha=0.55, linewidth=0, zorder=-branch)
            axes.plot(centers, height, color=_style.SKY, linewidth=0.8, zorder=-branch)
        _plain_log_axis(axes)
        axes.set(xlabel="death time (logarithmic)", ylabel="branch", xlim=limits)
        axes.set_yticks(range(0, len(values), max(1, len(values) // 8)))
        _mark(axes, eta, "η", title=name)
    near = float((np.abs(values - eta) <= 0.25 * eta).mean())
    caption = f"{_sentence_case(name)}: {near:.0%} of all merges happen within a quarter of η. One hill a branch."
    return Panel(file, figure, caption)


def barcodes(seen: list[Cloud]) -> Section | None:
    """Draw the barcode of one batch in the first branch."""
    if not seen:
        return None
    panels = []
    for index, cloud in enumerate(seen):
        with _style.drawing():
            figure, axes = _style.panel(2.9)
            bars = barcode(cloud.batches(1)[0, 0], cloud.backbone.p)
            wanted = cloud.backbone.eta / 2
            plot_barcode(bars, ax=axes)
            axes.set(ylabel="merge, earliest first", xlim=(0, 1.05 * max(wanted, float(bars.deaths.max()))))
            _mark(axes, wanted, "η/2", title=cloud.name)
        half = float(bars.deaths.median())
        caption = f"{_sentence_case(cloud.name)}: half of the lines end before r = {half:.2g}."
        panels.append(Panel(f"barcode-{index}", figure, caption))
    return Section(
        "The same as a barcode",
        "One line for each merge of a single batch in the first branch: it starts at radius 0, where every point is "
        "alone, and ends at the radius at which its group touches another. Balls of radius r touch at distance 2r, so "
        "the loss wants all lines to end at η/2 (orange). Lines of one length mean: no image is lonely, none crowded.",
        panels=panels,
    )


def views(material: Material, seen: list[Cloud], sample: ImageSet | None) -> Section | None:
    """Flatten the first branch to two dimensions."""
    after = [cloud for cloud in seen if cloud.trained]
    if not after:
        return None
    labels = sample.labels if sample is not None and len(sample.classes) <= len(_style.SERIES) else None
    colored = "; colors are classes, which training never saw" if labels is not None else ""
    return Section(
        "A look at the points",
        f"The first branch has {material.backbone.branch_dim} dimensions; a page has two. This is the flattest "
        f"view of one batch (its two main directions){colored}. Gray lines are the merges: each joins the two "
        "points that met.",
        panels=[_view(cloud, labels, sample, index) for index, cloud in enumerate(after)],
    )


def _view(cloud: Cloud, labels: NDArray[np.int64] | None, sample: ImageSet | None, index: int) -> Panel:
    points = cloud.points[0, : cloud.backbone.batch_size]
    centered = points - points.mean(0)
    flat = (centered @ torch.linalg.svd(centered, full_matrices=False).Vh[:2].T).numpy()
    if flat.shape[1] == 1:
        flat = np.column_stack([flat, np.zeros(len(flat))])
    lines = flat[merge_edges(points, cloud.backbone.p).numpy()]
    with _style.drawing():
        figure, axes = _style.panel(3.4)
        axes.add_collection(LineCollection(list(lines), colors=_style.MUTED, linewidths=0.7, alpha=0.6))
        if labels is None or sample is None:
            axes.scatter(flat[:, 0], flat[:, 1], s=18, color=_style.SKY, zorder=2)
        else:
            _scatter_classes(axes, flat, labels[: len(flat)], sample.classes)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set(title=cloud.name, xlabel="first direction", ylabel="second direction")
    return Panel(f"view-{index}", figure, f"{len(flat)} items in the first branch, {cloud.name}.")


def _scatter_classes(
    axes: Axes, flat: NDArray[np.float32], labels: NDArray[np.int64], classes: tuple[str, ...]
) -> None:
    for label, name in enumerate(classes):
        chosen = flat[labels == label]
        axes.scatter(chosen[:, 0], chosen[:, 1], s=18, color=_style.SERIES[label], zorder=2, label=drawn(name, 18))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), handletextpad=0.1, borderpad=0)


def _sentence_case(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}"


def _mark(axes: Axes, wanted: float, name: str, *, title: str) -> None:
    """Draw the line that the loss wants, its name between the drawing and the title, where nothing is hidden."""
    axes.axvline(wanted, color=_style.SUNSET, linewidth=1.4, zorder=5)
    axes.annotate(name, (wanted, 1), xycoords=("data", "axes fraction"), xytext=(0, 2), textcoords="offset points",
                  color=_style.SUNSET, ha="center")  # fmt: skip
    axes.set_title(title, pad=14)


def _plain_log_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
