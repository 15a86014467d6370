"""A barcode as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from corel._errors import ArgumentError
from corel._terminal import counted
from corel.persistence.api import Barcode, barcode

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_barcode(bars: Barcode | Tensor, *, eta: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the bars of one cloud, shortest first, on `ax` or on a new figure; returns the axes.

    Args:
        bars: the `barcode` of one cloud, or its points ``[b, D]``.
        eta: marks η/2, the end toward which the connectivity loss pulls every bar.
        ax: matplotlib axes to draw on.
    """
    import matplotlib.pyplot as plt

    bars = bars if isinstance(bars, Barcode) else barcode(bars)
    if bars.deaths.dim() != 1:
        raise ArgumentError("bars", f"must be of one cloud, got {[*bars.deaths.shape]}; pass points[k], not a batch")
    ax = plt.subplots(figsize=(4, 3), layout="constrained")[1] if ax is None else ax
    deaths = bars.deaths.detach().cpu().numpy()
    ax.hlines(range(len(deaths)), 0, deaths, linewidth=1.2, color="#375E97")
    if eta is not None:
        ax.axvline(eta / 2, color="#FB6542", linewidth=1.2, label="η/2")
        ax.legend(loc="lower right", frameon=False)
    ax.set(xlabel="radius r", ylabel="component", xlim=(0, None), title=counted(len(deaths), "merge"))
    ax.spines[["top", "right"]].set_visible(False)
    return ax
