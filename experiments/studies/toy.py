"""The paper's Figure 2: three Gaussians in R², rearranged by the connectivity loss alone.

``python -m experiments toy`` trains an MLP 2-20-20-2 on 1,500 points for 60 epochs with batches of 50, and
again with batches of 5 as the paper remarks, and measures (α̂, ε̂, β̂), the mean smallest, average and largest
death time over 3,000 random batches. It writes experiments/results/toy.json and docs/figures/toy.svg.
"""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar  # type: ignore[import-untyped]
from torch import Tensor, nn

from corel._io.atomic import write_atomically
from corel._terminal import progress_bar
from corel.losses import connectivity_loss
from corel.theory import diagnose
from experiments._lib import command
from experiments._lib.paths import FIGURES, RESULTS
from experiments._lib.record import record

COLORS = ("#0072b2", "#d55e00", "#e69f00")  # one per Gaussian, told apart by color-blind readers too


@dataclass(frozen=True)
class Toy:
    """The experiment's settings; for the toy the paper names no optimizer, so section 5's Adam is taken."""

    points: int = 1500
    hidden: int = 20
    eta: float = 2.0
    batch_sizes: tuple[int, ...] = (50, 5)
    epochs: tuple[int, ...] = (20, 60)  # when to look
    learning_rate: float = 0.001
    measured_batches: int = 3000
    seed: int = 1  # draws three Gaussians that an eye can tell apart


@dataclass(frozen=True)
class Snapshot:
    """The points at one moment (epoch None: the data themselves) and their measured death times."""

    batch_size: int
    epoch: int | None
    points: Tensor
    deaths: tuple[float, float, float]  # α̂, ε̂, β̂

    @property
    def title(self) -> str:
        """The moment, in words."""
        return "the data" if self.epoch is None else f"after {self.epoch} epochs"


def three_gaussians(points: int, seed: int) -> Tensor:
    """Points from three Gaussians with random means and covariances, a third each, in order."""
    rng = np.random.default_rng(seed)
    clusters = []
    for _ in range(3):
        mean, deviations, angle = rng.uniform(-1.5, 1.5, 2), rng.uniform(0.1, 0.6, 2), rng.uniform(0, np.pi)
        rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        clusters.append(mean + rng.normal(size=(points // 3, 2)) * deviations @ rotation.T)
    return torch.from_numpy(np.concatenate(clusters)).float()


def train(data: Tensor, batch_size: int, toy: Toy) -> list[tuple[int, Tensor]]:
    """Minimize L_η alone; gives the mapped data before training (epoch 0) and at ``toy.epochs``."""
    torch.manual_seed(toy.seed)
    mlp = nn.Sequential(
        nn.Linear(2, toy.hidden),
        nn.LeakyReLU(),
        nn.Linear(toy.hidden, toy.hidden),
        nn.LeakyReLU(),
        nn.Linear(toy.hidden, 2),
    )
    optimizer = torch.optim.Adam(mlp.parameters(), lr=toy.learning_rate)
    seen = [(0, mlp(data).detach())]
    with progress_bar(f"batches of {batch_size}", total=max(toy.epochs)) as advance:
        for epoch in range(1, max(toy.epochs) + 1):
            for rows in torch.split(torch.randperm(len(data)), batch_size):
                optimizer.zero_grad()
                torch.autograd.backward(connectivity_loss(mlp(data[rows]), toy.eta))
                optimizer.step()
            if epoch in toy.epochs:
                seen.append((epoch, mlp(data).detach()))
            advance()
    return seen


def snapshots(toy: Toy) -> list[Snapshot]:
    """Train once per batch size; measure the data, the untrained map and the map at every ``toy.epochs``."""

    def measured(points: Tensor, batch_size: int, epoch: int | None) -> Snapshot:
        found = diagnose(points, toy.eta, batch_size=batch_size, batches=toy.measured_batches, seed=toy.seed)
        alpha, average, beta = found.mean[0].tolist()
        return Snapshot(batch_size, epoch, points, (alpha, average, beta))

    data = three_gaussians(toy.points, toy.seed)
    return [
        measured(points, batch_size, epoch)
        for batch_size in toy.batch_sizes
        for epoch, points in [(None, data), *train(data, batch_size, toy)]
    ]


def draw(shots: Sequence[Snapshot], toy: Toy) -> Figure:
    """One row per batch size: the data, then the mapped points at every ``toy.epochs``."""
    shown = [shot for shot in shots if shot.epoch != 0]
    columns = 1 + len(toy.epochs)
    figure = Figure(figsize=(3.3 * columns, 3.5 * len(toy.batch_sizes)), layout="constrained")
    panels = figure.subplots(len(toy.batch_sizes), columns, squeeze=False)
    for panel, shot in zip(panels.flat, shown, strict=True):
        _draw_panel(panel, shot, toy.eta)
    for row, batch_size in zip(panels, toy.batch_sizes, strict=True):
        row[0].set_ylabel(f"batches of {batch_size}", fontsize=12)
    return figure


def _draw_panel(panel: Axes, shot: Snapshot, eta: float) -> None:
    for cluster, color in zip(shot.points.chunk(3), COLORS, strict=True):
        x, y = cluster.T.numpy()
        panel.scatter(x, y, s=6, c=color, alpha=0.6, linewidths=0, rasterized=True)
    alpha, average, beta = shot.deaths
    deaths = f"$\\hat{{\\alpha}}$ {alpha:.2f}   $\\hat{{\\varepsilon}}$ {average:.2f}   $\\hat{{\\beta}}$ {beta:.2f}"
    panel.set_title(f"{shot.title}\n{deaths}", fontsize=10)
    panel.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim")
    panel.margins(0.08)
    panel.spines[:].set_color("lightgray")
    _draw_scale(panel, eta)


def _draw_scale(panel: Axes, eta: float) -> None:
    """A bar of length η in the corner: the panels have different scales, and η is what they have in common."""
    bar = AnchoredSizeBar(panel.transData, eta, f"η = {eta:g}", "lower left", frameon=False, pad=0.4, sep=3)
    panel.add_artist(bar)


def save(figure: Figure, folder: Path) -> Path:
    """Write ``toy.svg`` and give its path; equal figures give equal files."""
    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "toy"}):
        figure.savefig(file, format="svg", dpi=160, metadata={"Date": None})
    write_atomically(folder / "toy.svg", file.getvalue())
    return folder / "toy.svg"


def table(shots: Sequence[Snapshot]) -> str:
    """The measured death times, one line per snapshot."""
    rows = [
        f"{shot.batch_size:>5}  {shot.title:<16}" + "".join(f" {death:6.2f}" for death in shot.deaths) for shot in shots
    ]
    return "\n".join([f"{'batch':>5}  {'points':<16}" + "".join(f" {name:>7}" for name in ("α̂", "ε̂", "β̂")), *rows])


def main(argv: Sequence[str]) -> None:
    """Run the experiment with the paper's settings."""
    command.parser(__name__, __doc__).parse_args(argv)
    run(Toy(), RESULTS, FIGURES)


def run(toy: Toy, results: Path, figures: Path) -> None:
    """Run the experiment, print its table, write its record and its figure."""
    start = time.perf_counter()
    shots = snapshots(toy)
    print(table(shots))
    measured = [
        {
            "batch_size": shot.batch_size,
            "epoch": shot.epoch,
            **dict(zip(("alpha", "epsilon", "beta"), shot.deaths, strict=True)),
        }
        for shot in shots
    ]
    recorded = record(
        "toy",
        config=asdict(toy),
        results=measured,
        seed=toy.seed,
        seconds=time.perf_counter() - start,
        folder=results,
    )
    print(f"wrote {recorded}, {save(draw(shots, toy), figures)}")
