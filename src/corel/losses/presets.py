"""The two readings of Eq. 4 by name, for the loss and for the training. Nothing heavy is imported here."""

from __future__ import annotations

from typing import Literal, TypedDict

BranchReduction = Literal["mean", "sum", "none"]
ZeroBars = Literal["drop", "keep"]


class Preset(TypedDict):
    """How the losses of the branches become one number, and whether bars of length zero count."""

    branch_reduction: Literal["mean", "sum"]
    zero_bars: ZeroBars


PRESETS: dict[str, Preset] = {
    "authors": {"branch_reduction": "mean", "zero_bars": "drop"},  # the code behind the published numbers, the default
    "paper": {"branch_reduction": "sum", "zero_bars": "keep"},  # the text
}
