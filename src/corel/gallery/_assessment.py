"""Score points against all classes; a point that is also in the background is scored without its own row there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from corel.backbone import Backbone
    from corel.oneclass import ClassBank, Split

Doubles = NDArray[np.float64]


class Assessed(NamedTuple):
    """The arrays that `Scores` is made of, each ``[n, C]``."""

    scores: Doubles
    p_values: Doubles
    likeness: Doubles


def in_background(backbone: Backbone, hashes: Sequence[str]) -> dict[int, int]:
    """Map the position of each item that is also in the background to its row there."""
    rows = backbone.background_rows(hashes)
    return {place: rows[each] for place, each in enumerate(hashes) if each in rows} if rows else {}


def bank_for(bank: ClassBank, in_background: Mapping[int, int]) -> ClassBank:
    """Give the bank to compare these items with: its background lacks the items' own rows."""
    for row in in_background.values():
        bank = bank.without(row)
    return bank


def assess(bank: ClassBank, rows: NDArray[Any], in_background: Mapping[int, int]) -> Assessed:
    """Score rows ``[n, d]``; `in_background` maps a point that is also in the background to its row there.

    A p-value compares the image with the exemplars, so all of them must be scored alike. No exemplar counts in the
    background, since the bank omits their rows. Neither may the image: it meets a bank without its row.
    """
    found = _assess(bank, rows)
    for point, row in in_background.items():
        without = bank.without(row)
        if without is bank:  # its row does not count anyway: the image is enrolled, or only other rows are weighed
            continue
        apart = _assess(without, rows[point : point + 1])
        for column, part in zip(found, apart, strict=True):
            column[point] = part[0]
        # The calibration was made with the row. Without it no exemplar's likeness is lower by more than the slack, so
        # raising the image's likeness by it keeps the promise: the p-value can only be too high.
        found.likeness[point] += bank.slack
    return found


def split_scores(split: Split, rows: NDArray[Any], in_background: Mapping[int, int]) -> Doubles:
    """Score rows ``[n, d]`` by the scoring part of a split; `in_background` as in `assess`."""
    found = split.scores(rows)
    for point, row in in_background.items():
        without = split.bank.without(row)
        if without is not split.bank:
            found[point] = replace(split, bank=without).scores(rows[point : point + 1]).item() + split.bank.slack
    return found


def _assess(bank: ClassBank, rows: NDArray[Any]) -> Assessed:
    scores, p_values = bank.assess(rows)
    likeness = scores.copy() if np.ptp(bank.sizes) == 0 else bank.likeness(rows)
    return Assessed(scores, p_values, likeness)
