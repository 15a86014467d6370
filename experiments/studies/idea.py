"""The pictures that explain the idea, drawn from real death times: ``python -m experiments idea``.

``docs/figures/growing.svg``: balls grow around points, components merge, each merging ends a bar.
``docs/figures/idea.svg``: a batch before and after its death times are pulled to η, and the score that this allows.
Distances are Euclidean here, so that balls are round; corel's default is L1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import matplotlib as mpl
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.typing import ColorType
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from corel.losses import connectivity_loss
from corel.persistence import death_times, merge_edges
from experiments._lib import command
from experiments._lib.paths import FIGURES

ETA = 2.0
BLUE, ORANGE, GRAY = "#0072b2", "#d55e00", "#9a9a9a"


def clumps(sizes: tuple[int, ...], seed: int) -> Tensor:
    """Points in R² in clumps of such sizes: some far too close, some far apart, as an encoder may place them."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-5, 5, (len(sizes), 2))
    parts = [rng.normal(center, 0.7, (size, 2)) for center, size in zip(centers, sizes, strict=True)]
    return torch.from_numpy(np.concatenate(parts))


def shaped(points: Tensor, batch_size: int, steps: int, seed: int) -> Tensor:
    """Move the points themselves down the gradient of L_η, batch by batch."""
    moved = points.clone().requires_grad_()
    optimizer = torch.optim.Adam([moved], lr=0.05)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        rows = torch.randperm(len(points), generator=generator)[:batch_size]
        optimizer.zero_grad()
        torch.autograd.backward(connectivity_loss(moved[rows], ETA, p=2))
        optimizer.step()
    return moved.detach()


def growing() -> Figure:
    """Twelve points at three radii, and their barcode with the radii marked."""
    points = clumps((5, 4, 3), seed=3)
    deaths = death_times(points, p=2)
    distances = [0.7, 1.4, 3.0]
    figure = Figure(figsize=(12.5, 3.3), layout="constrained")
    *panels, bars = figure.subplots(1, 4, width_ratios=[1, 1, 1, 1.1])
    for panel, distance in zip(panels, distances, strict=True):
        left = int((deaths > distance).sum()) + 1
        _draw_components(panel, points, distance)
        panel.set_title(f"balls of radius {distance / 2:g}: {left} components", fontsize=10)
    _draw_bars(bars, deaths)
    for distance in distances:
        bars.axvline(distance, color=GRAY, linewidth=1, linestyle=":")
    bars.set_title("the barcode: one bar ends at each merging", fontsize=10)
    return figure


def idea() -> Figure:
    """Left to right: a batch with its barcode, the same pulled to η, and counting exemplars within η."""
    batch = clumps((12, 7, 5), seed=3)
    figure = Figure(figsize=(11.5, 5.2), layout="constrained")
    axes = figure.subplot_mosaic("abc;dec", height_ratios=[2.2, 1], width_ratios=[1, 1, 0.95])
    pulled = shaped(batch, len(batch), steps=1500, seed=0)
    titles = ("a batch as an encoder may place it", "… after the connectivity loss")
    for panel, bars, points, title in zip("ab", "de", (batch, pulled), titles, strict=True):
        _draw_tree(axes[panel], points)
        axes[panel].set_title(title, fontsize=11)
        _draw_bars(axes[bars], death_times(points, p=2))
        axes[bars].axvline(ETA, color=ORANGE, linewidth=1.5)
        axes[bars].set(xlim=(0, 6.2))
        axes[bars].annotate("η", (ETA, 1), (0, 2), xycoords=("data", "axes fraction"), textcoords="offset points",
                            color=ORANGE, ha="center")  # fmt: skip
    _draw_counting(axes["c"])
    return figure


def _draw_counting(panel: Axes) -> None:
    """Exemplars of one class among other images, all shaped in batches of 30, and the balls around two new images."""
    points = shaped(clumps((60, 60), seed=4), 30, steps=3000, seed=0)
    mine = (points - points[:60].mean(0)).norm(dim=1).argsort()[:45]
    exemplars = points[mine]
    _draw_dots(panel, points, "lightgray", 14)
    _draw_dots(panel, exemplars, BLUE, 22)
    for star, color, side in ((exemplars.mean(0), BLUE, 1), (points[60:].mean(0), ORANGE, -1)):
        count = int(((exemplars - star).norm(dim=1) <= ETA).sum())
        x, y = star.tolist()
        panel.add_patch(Circle((x, y), ETA, fill=False, color=color, linewidth=1.6))
        panel.plot(x, y, "*", markersize=11, color=color, markeredgecolor="black", markeredgewidth=0.6)
        # Outside the cloud: beside the ball it would hide points.
        panel.annotate(f"score {count}", (x, y + side * ETA), (x, 0.5 + 0.45 * side), ha="center", va="center",
                       textcoords=("data", "axes fraction"), color="white", fontsize=11,
                       arrowprops={"arrowstyle": "-", "color": color},
                       bbox={"boxstyle": "round", "facecolor": color, "linewidth": 0})  # fmt: skip
    panel.set_title("new images ★ score by how many\nexemplars of the class (blue) lie within η", fontsize=11)
    _frame(panel)


def _draw_tree(panel: Axes, points: Tensor) -> None:
    """The merging edges: too short ones and too long ones stand out from those near η."""
    edges = merge_edges(points, p=2)
    lengths = (points[edges[:, 0]] - points[edges[:, 1]]).norm(dim=1)
    near = (lengths - ETA).abs() <= 0.1 * ETA
    for chosen, color in ((~near, GRAY), (near, ORANGE)):
        panel.add_collection(LineCollection([*points[edges[chosen]].numpy()], colors=color, linewidths=1.4))
    _draw_dots(panel, points, BLUE, 26)
    _frame(panel)


def _draw_components(panel: Axes, points: Tensor, distance: float) -> None:
    for component, color in zip(_components(points, distance), mpl.color_sequences["tab10"] * 2, strict=False):
        for x, y in points[component].tolist():
            panel.add_patch(Circle((x, y), distance / 2, color=color, alpha=0.25, linewidth=0))
        _draw_dots(panel, points[component], color, 18)
    _frame(panel)


def _components(points: Tensor, distance: float) -> Iterator[Tensor]:
    near = coo_array((torch.cdist(points, points) <= distance).numpy())
    count, labels = connected_components(near)
    yield from (torch.from_numpy(np.flatnonzero(labels == label)) for label in range(count))


def _draw_dots(panel: Axes, points: Tensor, color: ColorType, size: float) -> None:
    x, y = points.T.numpy()
    panel.scatter(x, y, size, color=color, linewidths=0, zorder=2)


def _draw_bars(axes: Axes, deaths: Tensor) -> None:
    axes.hlines(range(len(deaths)), 0, deaths.tolist(), color=BLUE, linewidth=2)
    axes.set(yticks=[], xlim=(0, None), xlabel="distance at which two components merge")
    axes.spines[["top", "right", "left"]].set_visible(False)


def _frame(panel: Axes) -> None:
    panel.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim")
    panel.margins(0.12)
    panel.spines[:].set_color("lightgray")


def main(argv: Sequence[str]) -> None:
    """Write the figures; the same points give the same files."""
    command.parser(__name__, __doc__).parse_args(argv)
    for name, figure in (("growing", growing()), ("idea", idea())):
        with mpl.rc_context({"svg.hashsalt": name}):
            figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None})
