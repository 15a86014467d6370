"""The picture of an explanation: the item, the verdict in words, and two classes with what their exemplars add."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corel._terminal import drawn
from corel.gallery._comparison import Comparison
from corel.gallery._exemplar import Exemplar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Decode = Callable[[Exemplar, tuple[int, int]], NDArray[np.uint8] | None]

VOTERS, COLUMNS = 8, 4  # exemplars shown per class, and beside each other
SIDE = 96  # pixels of a thumbnail in the picture
STRONG, WEAK, MEMBER = "#1f77b4", "#aecbe5", "#b0b0b0"
MIDDLE = (5, 95)  # percentiles of the members that the whisker spans
LINE, BOLD_LINE, SENTENCE = 34, 28, 120  # characters of lines and of a sentence below the item
SMALL: dict[str, Any] = {"fontsize": 8.5, "color": "#505050"}


def draw_comparison(
    value: NDArray[Any], title: str, words: Sequence[str], sides: Sequence[Comparison], decode: Decode
) -> Figure:
    """Draw an item beside its classes; all bars have one scale, and a new item's bar is the sum of its votes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.2 + 4.2 * len(sides), 5.2), layout="constrained")
    widths = [2.6, *[4.2] * len(sides)]
    grid = figure.add_gridspec(2, 1 + len(sides), width_ratios=widths, height_ratios=[5, 3])
    _draw_item(figure.add_subplot(grid[0, 0]), value, title)
    _write(figure.add_subplot(grid[1, 0]), words)
    reach = 1.18 * max([1e-9, *(float(each) for side in sides for each in (side.total, *_span(side)))])
    for column, side in enumerate(sides, start=1):
        _draw_voters(figure.add_subplot(grid[0, column]), side, decode, pictures=value.ndim == 3)
        _draw_bars(figure.add_subplot(grid[1, column]), side, reach)
    return figure


def _draw_item(axes: Axes, value: NDArray[Any], title: str) -> None:
    if value.ndim == 3:
        axes.imshow(value, interpolation="nearest")
    axes.spines[:].set_visible(value.ndim == 3)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title, fontsize=11)


def _write(axes: Axes, words: Sequence[str]) -> None:
    """Write the verdict large and its reasons below it."""
    verdict = _wrapped(words[0], BOLD_LINE)
    reasons = [_wrapped(each, LINE) for each in words[1:]]
    shared: dict[str, Any] = {"va": "top", "transform": axes.transAxes}
    axes.text(0.0, 1.1, verdict, fontsize=11, fontweight="bold", **shared)
    axes.text(0.0, 1.02 - 0.13 * verdict.count("\n") - 0.13, "\n\n".join(reasons), fontsize=9, **shared)
    axes.set_axis_off()


def _wrapped(sentence: str, width: int) -> str:
    return "\n".join(textwrap.wrap(drawn(sentence, SENTENCE), width))


def _draw_voters(axes: Axes, side: Comparison, decode: Decode, *, pictures: bool) -> None:
    """Show the exemplars that vote most, each with its share of the total."""
    axes.set_title(f"{shortened(side.name)}, {side.role}\nexemplars that count most, and for how much", fontsize=11)
    rows = VOTERS // COLUMNS
    axes.set_xlim(0, COLUMNS)
    axes.set_ylim(rows, 0)
    axes.set_axis_off()
    voters = side.voters(VOTERS)
    if not voters:
        axes.text(COLUMNS / 2, rows / 2, "no exemplar is like it", ha="center", va="center", fontsize=10)
    for place, (exemplar, share) in enumerate(voters):
        if pictures:
            _draw_thumbnail(axes, decode(exemplar, (SIDE, SIDE)), divmod(place, COLUMNS), share)
        else:
            text = f"{share:4.0%}  {shortened(exemplar.source)}"
            axes.text(0.3, rows * (place + 0.5) / VOTERS, text, va="center", fontsize=10)
    if pictures:
        axes.set_aspect("equal")


def _draw_thumbnail(axes: Axes, shown: NDArray[np.uint8] | None, cell: tuple[int, int], share: float) -> None:
    row, column = cell
    left, right, top, bottom = column + 0.06, column + 0.86, row + 0.02, row + 0.82
    if shown is not None:
        axes.imshow(shown, extent=(left, right, bottom, top), interpolation="nearest", aspect="equal")
    axes.text((left + right) / 2, bottom + 0.02, f"{share:.0%}", ha="center", va="top", fontsize=9)


def _draw_bars(axes: Axes, side: Comparison, reach: float) -> None:
    """Stack the votes for the item; below, a median member against all others."""
    left = 0.0
    voters = side.voters(VOTERS)
    for _, share in voters:
        edge = 0.4 if share * side.total > reach / 100 else 0.0  # between thin bars, edges would be all there is
        axes.barh(0, share * side.total, 0.6, left=left, color=STRONG, edgecolor="white", linewidth=edge)
        left += share * side.total
    axes.barh(0, max(0.0, side.total - left), 0.6, left=left, color=WEAK)
    axes.barh(1, side.typical, 0.6, color=MEMBER)
    low, high = _span(side)
    axes.plot([low, high], [1, 1], color="black", linewidth=1, marker="|", markersize=7)
    for place, (end, total) in enumerate(((side.total, side.total), (max(high, side.typical), side.typical))):
        # An offset, because browsers drop leading spaces of a text in an SVG.
        axes.annotate(f"{total:.2f}", (end, place), (6, 0), textcoords="offset points", va="center", fontsize=9)
    axes.set_yticks([0, 1], ["this one", "typical\nmember"], fontsize=10)
    axes.set_ylim(1.6, -0.6)
    axes.set_xlim(0, reach)
    axes.set_xlabel(f"likeness to {shortened(side.name)}", fontsize=10)
    others = len(side.votes) - len(voters)
    axes.set_title(f"dark: the {len(voters)} above, light: the other {others}; line: 90% of members", **SMALL)
    axes.spines[["top", "right"]].set_visible(False)


def _span(side: Comparison) -> tuple[float, float]:
    low, high = np.percentile(side.members, MIDDLE)
    return float(low), float(high)


def shortened(text: str) -> str:
    """Give the end of a long name, ready to be drawn."""
    return drawn(text if len(text) <= 24 else f"…{text[-23:]}")
