"""The section that compares the theory's number of neighbors with what was measured."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from corel.report import _style
from corel.report._content import Panel, Section, Table
from corel.report._topology import Cloud
from corel.theory import Diagnosis, diagnose, guaranteed_neighbors

STEPS = 15  # sizes m at which neighbors are counted


def neighbors_within(seen: list[Cloud]) -> Section | None:
    """Count neighbors within β as the set grows, beside the m − b + 1 of Corollary 1."""
    after = [cloud for cloud in seen if cloud.trained]
    if not after or after[0].points.shape[1] <= after[0].backbone.batch_size:
        return None
    cloud = after[0]
    b, largest = cloud.backbone.batch_size, cloud.points.shape[1]
    found = _diagnosed(cloud)
    typical, extreme = found.mean[:, 2], found.highest[:, 2]
    sizes = sorted({min(size, largest) for size in (6 * b // 5, 2 * b, largest)})
    rows = [
        row
        for label, beta in (("β̂", typical), ("largest β seen", extreme))
        for row in _rows(label, beta, _within(cloud, beta), sizes, b)
    ]
    return Section(
        "Neighbors within β: the theory, and these latents",
        f"If every batch of b = {b} points is connected within a distance β, then among any m points each one has "
        "at least m − b + 1 neighbors within β: more items make the space denser. The statement needs a β "
        "that holds for every possible batch. β̂, the average over random batches, is what the paper reads off; the "
        "largest β seen comes closer to the premise, yet no sample can certify it. Where points fall below that "
        "number, some batch is worse connected than those seen; for many more points than a batch holds, that "
        "is the rule.",
        panels=[
            _growth(cloud, typical, "β̂, the average over batches of the largest merging distance", "mean"),
            _growth(cloud, extreme, "the largest merging distance seen in any batch", "highest"),
        ],
        table=Table(
            ["β", "its mean", "points m", "m − b + 1", "loneliest point", "median point", "have as many"], rows
        ),
        remark="Neighbors within β of each point in each branch; “have as many” is the share of points with at least "
        f"m − b + 1. Measured on the latents that are called “{cloud.name}” above.",
    )


def _diagnosed(cloud: Cloud) -> Diagnosis:
    latents = cloud.points.transpose(0, 1).flatten(1)
    backbone, size = cloud.backbone, cloud.points.shape[1]
    return diagnose(latents, backbone.eta, backbone.branches, backbone.batch_size, sample_size=size, p=backbone.p)


def _rows(label: str, beta: NDArray[np.float64], within: Tensor, sizes: list[int], b: int) -> list[list[str]]:
    rows = []
    for size in sizes:
        expected, counts = guaranteed_neighbors(size, b), _counts(within, size)
        kept = float((counts >= expected).mean())
        numbers = [size, expected, counts.min(), int(np.median(counts))]
        rows.append([label, f"{beta.mean():.2f}", *map(str, numbers), f"{kept:.0%}"])
    return rows


def _within(cloud: Cloud, beta: NDArray[np.float64]) -> Tensor:
    """Which points lie within its branch's β of which ``[branches, n, n]``."""
    reach = torch.from_numpy(beta).float()[:, None, None]
    return torch.cdist(cloud.points, cloud.points, p=cloud.backbone.p) <= reach


def _counts(within: Tensor, size: int) -> NDArray[np.int64]:
    """How many of the first `size` points are neighbors of each of them ``[branches, size]``, itself not counted."""
    counts: NDArray[np.int64] = (within[:, :size, :size].sum(-1) - 1).numpy()
    return counts


def _growth(cloud: Cloud, beta: NDArray[np.float64], meaning: str, name: str) -> Panel:
    b = cloud.backbone.batch_size
    largest = min(2 * b, cloud.points.shape[1])
    sizes = np.unique(np.linspace(b, largest, STEPS).astype(int))
    within = _within(cloud, beta)
    counts = [_counts(within, int(size)) for size in sizes]
    with _style.drawing():
        figure, axes = _style.panel(2.9)
        axes.fill_between(sizes, *np.array([np.quantile(each, [0.05, 0.95]) for each in counts]).T,
                          color=_style.SKY, alpha=0.25, linewidth=0, label="nine of ten points")  # fmt: skip
        axes.plot(sizes, [np.median(each) for each in counts], color=_style.SKY, label="median point")
        axes.plot(sizes, [each.min() for each in counts], color=_style.GRASS, label="loneliest point", linestyle="--")
        axes.plot(sizes, sizes - b + 1, color=_style.SUNSET, label="m − b + 1")
        axes.set(xlabel="points m", ylabel="neighbors within β", ylim=(0, None), xlim=(b, largest))
        axes.legend(loc="upper left")
    return Panel(f"neighbors-{name}", figure, f"β is {meaning}. Above the orange line points have at least m − b + 1.")
