"""The rule by which settings of the cosine score are chosen on folds, and from how many exemplars on it is used.

Of the settings that lose at most `WORTH` AUC at m = 120 to the best one there, the one with the best mean over `JUDGED`
is what `corel.oneclass` has frozen. Without that limit more shrinkage would always win: it helps where exemplars are
few and hurts where they are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

EXEMPLARS = (1, 2, 5, 10, 30, 120)
JUDGED = (5, 10, 30, 120)  # the choice maximizes the mean AUC over these
WORTH = 0.001  # and loses no more than this at the largest


def judged(tables: Sequence[dict[str, Any]], name: str, exemplars: Sequence[int] = JUDGED) -> float:
    """Mean over the sets and these numbers of exemplars."""
    return float(np.mean([table[name][str(m)] for table in tables for m in exemplars]))


def choose(tables: Sequence[dict[str, Any]]) -> str:
    """The setting by the rule above."""
    largest = {name: judged(tables, name, JUDGED[-1:]) for name in tables[0]}
    sound = [name for name, value in largest.items() if value >= max(largest.values()) - WORTH]
    return max(sound, key=lambda name: judged(tables, name))


def takes_over(tables: Sequence[dict[str, Any]]) -> int | None:
    """The least m from which cosine is at least as good as contrast on the mean of the sets; None if at no m."""
    ahead = [np.mean([t["cosine"][str(m)] - t["contrast"][str(m)] for t in tables]) >= 0 for m in EXEMPLARS]
    return next((m for i, m in enumerate(EXEMPLARS) if all(ahead[i:])), None)
