"""What the benchmark found, as tables on standard output and as the paper's runtime figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from benchmarks._peers import OURS


@dataclass(frozen=True)
class Measurement:
    """Milliseconds of one method on clouds of so many points, the median and the mean, or why there are none."""

    method: str
    points: int
    milliseconds: float | None
    quartiles: tuple[float, float] | None = None
    repetitions: int = 0
    deviation: float | None = None  # largest difference from corel's values
    skipped: str | None = None
    mean: float | None = None


@dataclass(frozen=True)
class WholeStep:
    """Milliseconds of a training step, and of the connectivity loss and its gradient in it."""

    all: float
    topology: float


@dataclass(frozen=True)
class Results:
    """One cloud of every size; a training step's topology, and the whole step; memory for the largest cloud."""

    one_cloud: list[Measurement]
    forward: list[Measurement]
    forward_backward: list[Measurement]
    whole_step: WholeStep
    megabytes: dict[str, float]


@dataclass(frozen=True)
class Target:
    """A promise of the design, at least so many times faster or at most so much of a cost, and what became of it."""

    what: str
    target: float
    measured: float
    unit: str = "×"

    @property
    def met(self) -> bool:
        """Whether the promise was kept."""
        return self.measured >= self.target if self.unit == "×" else self.measured <= self.target


def print_times(title: str, columns: dict[str, dict[str, float]], console: Console) -> None:
    """Two tables with one row a method: milliseconds, and how many times corel's in the same column they are."""
    console.print(f"\n[bold]{title}[/bold]")
    times, ratios = Table("milliseconds", *columns), Table("× corel", *columns)
    for name in dict.fromkeys(name for column in columns.values() for name in column):
        times.add_row(name, *(_cell(column.get(name)) for column in columns.values()))
        ratios.add_row(name, *(_cell(column.get(name), column[OURS]) for column in columns.values()))
    console.print(times, ratios)


def _cell(value: float | None, unit: float = 1.0) -> str:
    if value is None:
        return "–"
    return f"{value / unit:,.0f}" if value / unit >= 100 else f"{value / unit:.3g}"


def milliseconds(measurements: Iterable[Measurement], points: int) -> dict[str, float]:
    """Of every method that was timed on clouds of so many points."""
    return {m.method: m.milliseconds for m in measurements if m.points == points and m.milliseconds}


def judge(results: Results) -> list[Target]:
    """The promises of which this run can tell."""
    one = milliseconds(results.one_cloud, 1024)
    forward = milliseconds(results.forward, 100)
    step = milliseconds(results.forward_backward, 100)
    targets = [
        *_ratios("training step", step, step, {"torch_topological": 50}),
        *_ratios("ripser's forward to our forward and backward", forward, step, {"ripser": 80}),
        *_ratios("one cloud of 1,024", one, one, {"ripser": 200, "torch_topological": 60, "scikit-learn Prim": 7}),
    ]
    share = 100 * results.whole_step.topology / results.whole_step.all
    targets.append(Target("topology's share of a training step", 3, share, "%"))
    if milliseconds(results.one_cloud, 10_000):
        targets.append(Target("peak memory, one cloud of 10,000", 10, results.megabytes[OURS], "MB"))
    return targets


def _ratios(
    what: str, theirs: dict[str, float], ours: dict[str, float], promised: dict[str, float]
) -> Iterator[Target]:
    for peer, ratio in promised.items():
        if peer in theirs and OURS in ours:
            yield Target(f"{what}: {peer}", ratio, theirs[peer] / ours[OURS])


def print_memory(points: int, megabytes: dict[str, float], console: Console) -> None:
    """One row a method."""
    console.print(f"\n[bold]Peak memory for one cloud of {points:,}, the input not counted[/bold]")
    table = Table("", "megabytes")
    for name, value in megabytes.items():
        table.add_row(name, f"{value:,.1f}")
    console.print(table)


def print_targets(targets: Iterable[Target], console: Console) -> None:
    """Each promise beside what was measured."""
    console.print("\n[bold]Targets[/bold]")
    table = Table("", "promised", "measured", "")
    for t in targets:
        sign = "≥" if t.unit == "×" else "≤"
        table.add_row(
            t.what,
            f"{sign} {t.target:g} {t.unit}",
            f"{t.measured:.1f} {t.unit}",
            "met" if t.met else "NOT MET",
        )
    console.print(table)


def draw(measurements: Iterable[Measurement], path: Path) -> None:
    """The paper's runtime figure: seconds against b, both logarithmic, as ``path.svg``."""
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    axes = figure.add_subplot(yscale="log", xlabel="points $b$", ylabel="seconds")
    axes.set_xscale("log", base=2)
    curves: dict[str, list[tuple[int, float]]] = {}
    for m in measurements:
        if m.milliseconds is not None:
            curves.setdefault(m.method, []).append((m.points, m.milliseconds / 1e3))
    # Slowest first, so that the legend reads in the order of the curves.
    for name, curve in sorted(curves.items(), key=lambda item: -item[1][-1][1]):
        ours = name == OURS
        axes.plot(*zip(*curve, strict=True), "o-", label=name, markersize=3.5, linewidth=2.6 if ours else 1.1,
                  color="black" if ours else None)  # fmt: skip
    sizes = sorted({b for curve in curves.values() for b, _ in curve})
    axes.set_xticks(sizes, [f"{b:,}" for b in sizes], fontsize=8)
    axes.grid(alpha=0.25)
    axes.set_title("0-dimensional persistence of one cloud, unit Gaussian in $R^{10}$, $L_1$", fontsize=10)
    figure.legend(loc="outside right center", frameon=False, fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": path.name}):  # the same numbers give the same file
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
