"""Why an image belongs to a class or not: the exemplars that voted for it, as data and as two pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corel._terminal import drawn
from corel.gallery._comparison import Comparison, in_words
from corel.gallery._exemplar import Exemplar
from corel.gallery._items import LARGEST_THUMBNAIL, decoded_thumbnail
from corel.gallery._picture import draw_comparison, shortened
from corel.gallery._verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from corel.oneclass import Votes

SHOWN = 10  # exemplars a branch
GAP = 2  # pixels between thumbnails
ROWS = 5  # the fewest that a figure has room for: in less height, square thumbnails would not line up with the bars
PAPER, CLASS, BACKGROUND = 255, "#1f77b4", "#b0b0b0"


@dataclass(frozen=True, eq=False)
class Explanation:
    """An item against a class.

    Attributes:
        image: the item's name.
        value: what was encoded, uint8 ``[s, s, 3]`` or a row of features.
        name: the class.
        exemplars: the class's exemplars, which `votes` numbers in this order.
        votes: per branch the count of exemplars within the radius and which they are, nearest first, with the
            share of the background within the same radius and what the branch adds to the score.
        score: higher is more like the class.
        p_value: for "of this class", as it decides whether the class is in the prediction set.
        verdict: what the gallery says about the item.
        comparisons: the item beside this class, and beside the likeliest other class if there is one.
        rate: the rate of the verdict.

    """

    image: str
    value: NDArray[Any]
    name: str
    exemplars: list[Exemplar]
    votes: Votes
    score: float
    p_value: float
    verdict: Verdict
    comparisons: tuple[Comparison, ...]
    rate: float

    def __str__(self) -> str:
        return "\n".join(self._words())

    def draw(self, *, expert: bool = False) -> Figure:
        """Draw the image beside two classes: the exemplars that count most, and how like the class its members are.

        A bar is the sum of what the exemplars add to the score in use. With `expert`, the exemplars within the radius
        of each branch, and their number against the background's. Vectors have no picture: their exemplars are named
        instead.
        """
        if not expert:
            return draw_comparison(self.value, shortened(self.image), self._words(), self.comparisons, _decoded)
        return self._draw_branches()

    def _words(self) -> list[str]:
        return in_words(self.verdict, self.comparisons, self.rate)

    def _draw_branches(self) -> Figure:
        from matplotlib.figure import Figure

        rows = max(len(self.votes.counts), ROWS)
        figure = Figure(figsize=(11, 1.6 + 0.34 * rows), layout="constrained")
        left, middle, right = figure.subplots(1, 3, width_ratios=[2, 4, 3])
        self._draw_item(left)
        if self.value.ndim == 3:
            self._draw_voters(middle)
        else:
            self._name_voters(middle)
        self._label_branches(middle)
        self._draw_shares(right)
        for axes in (middle, right):
            axes.set_ylim(rows - 0.5, -0.5)
        return figure

    def _draw_item(self, axes: Axes) -> None:
        if self.value.ndim == 3:
            axes.imshow(self.value, interpolation="nearest")
        axes.spines[:].set_visible(self.value.ndim == 3)
        axes.set_title(f"{shortened(self.image)}\nagainst {shortened(self.name)}", fontsize=11)
        axes.set_xlabel(f"score {self.score:.2f}\np-value {self.p_value:.4f}", fontsize=11)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_anchor("N")

    def _draw_voters(self, axes: Axes) -> None:
        height = width = min(self.value.shape[0], LARGEST_THUMBNAIL)
        canvas = np.full((len(self.votes.counts), height + GAP, SHOWN, width + GAP, 3), PAPER, np.uint8)
        for branch, voters in enumerate(self.votes.neighbors):
            for place, voter in enumerate(voters[:SHOWN]):
                picture = _decoded(self.exemplars[voter], (width, height))
                canvas[branch, :height, place, :width] = PAPER if picture is None else picture
        extent = (0.0, float(SHOWN), len(self.votes.counts) - 0.5, -0.5)
        axes.imshow(canvas.reshape(-1, SHOWN * (width + GAP), 3), extent=extent, aspect="equal")

    def _name_voters(self, axes: Axes) -> None:
        for branch, voters in enumerate(self.votes.neighbors):
            names = ", ".join(drawn(self.exemplars[voter].source) for voter in voters[:SHOWN])
            axes.text(0.02, branch, names, va="center", fontsize=8, clip_on=True)

    def _label_branches(self, axes: Axes) -> None:
        axes.set_title(f"exemplars within the radius, nearest first (at most {SHOWN} shown)", fontsize=11)
        axes.set_xticks([])
        axes.set_yticks(range(len(self.votes.counts)))
        axes.set_ylabel("branch")
        axes.spines[:].set_visible(False)

    def _draw_shares(self, axes: Axes) -> None:
        size, counts, rates = len(self.exemplars), self.votes.counts, self.votes.background_rates
        places = np.arange(len(counts))
        axes.barh(places - 0.2, counts / size, 0.4, color=CLASS, label=f"of {size} exemplars (count)")
        if rates is not None:
            axes.barh(places + 0.2, rates, 0.4, color=BACKGROUND, label="of the background")
        right: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center", "ha": "right", "fontsize": 9}
        for place, (count, part) in enumerate(zip(counts, self.votes.parts, strict=True)):
            axes.text(count / size, place - 0.2, f" {count}", va="center", fontsize=8, color=CLASS)
            axes.text(1.14, place, f"{part:+.2f}", **right)
        axes.text(1.14, -1, "adds", **right)
        axes.set_title("share within the radius", fontsize=11)
        axes.set_xlim(0, 1.08 * max(0.01, float(np.max(counts)) / size, 0.0 if rates is None else float(np.max(rates))))
        axes.set_yticks([])
        axes.xaxis.set_major_formatter("{x:.0%}")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), fontsize=9, frameon=False)


def _decoded(exemplar: Exemplar, size: tuple[int, int]) -> NDArray[np.uint8] | None:
    return decoded_thumbnail(exemplar.thumbnail, size)
