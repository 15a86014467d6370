"""What an evaluation found: one record per method, number of exemplars, draw and class, and their summary."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from corel._io.atomic import write_atomically


@dataclass(frozen=True)
class Record:
    """The one-vs-all AUC of one class from one draw of its exemplars."""

    method: str
    exemplars: int
    draw: int
    label: str
    auc: float


@dataclass(frozen=True)
class Summary:
    """A method's AUC over all classes and draws; spreads and intervals are None for a single draw.

    Attributes:
        method: The score or control.
        exemplars: Items enrolled per class.
        mean: Over classes and draws.
        spread: Standard deviation over draws of the mean over classes.
        class_spread: Standard deviation over draws of one class's AUC, averaged over classes.
        low: Lower end of the 95% interval of the mean over redrawn exemplars, classes and tests fixed.
        high: Its upper end.

    """

    method: str
    exemplars: int
    mean: float
    spread: float | None
    class_spread: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Evaluation:
    """Records of one protocol run on one dataset, and the configuration that made them."""

    config: dict[str, Any]
    records: tuple[Record, ...]

    def auc(self, method: str, exemplars: int) -> NDArray[np.float64]:
        """AUCs `[draws, classes]` of one method."""
        found = [r.auc for r in self.records if (r.method, r.exemplars) == (method, exemplars)]
        if not found:
            raise KeyError(f"no records of {method!r} with {exemplars} exemplars; there are {self._cells()}")
        return np.array(found).reshape(-1, self.config["classes"])

    def summary(self) -> list[Summary]:
        """One row per method and number of exemplars, in the order they were measured."""
        return [_summarize(*cell, self.auc(*cell)) for cell in self._cells()]

    def document(self) -> dict[str, Any]:
        """The whole evaluation as JSON's types."""
        rows = [asdict(row) for row in self.summary()]
        return {"config": self.config, "summary": rows, "records": [asdict(record) for record in self.records]}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `document` as JSON, whole or not at all."""
        write_atomically(Path(path), (json.dumps(self.document(), indent=1, allow_nan=False) + "\n").encode())

    def _cells(self) -> list[tuple[str, int]]:
        return list(dict.fromkeys((record.method, record.exemplars) for record in self.records))


def half_interval(auc: NDArray[np.float64]) -> float:
    """Half the 95% interval of the mean of `auc [draws, classes]`; a single draw has none, which is NaN.

    By Student's t, its degrees of freedom after Welch and Satterthwaite: every class has its own draws and its own
    variance, and the draws of one are independent of those of another.
    """
    draws, classes = auc.shape
    if draws == 1:
        return math.nan
    variances = auc.var(0, ddof=1)
    if not variances.any():
        return 0.0
    freedom = (draws - 1) * variances.sum() ** 2 / (variances**2).sum()
    return float(student.ppf(0.975, freedom) * math.sqrt(variances.sum() / draws) / classes)


def shown(*values: float | None) -> str:
    """Write AUCs, or the ends of an interval, to read; a dash stands for what a single draw cannot tell."""
    return " – ".join(f"{value:.4f}" for value in values if value is not None) or "–"


def _summarize(method: str, exemplars: int, auc: NDArray[np.float64]) -> Summary:
    mean = float(auc.mean())
    if len(auc) == 1:
        return Summary(method, exemplars, mean, None, None, None, None)
    reach = half_interval(auc)
    return Summary(
        method=method,
        exemplars=exemplars,
        mean=mean,
        spread=float(auc.mean(1).std(ddof=1)),
        class_spread=float(auc.std(0, ddof=1).mean()),
        low=max(mean - reach, 0.0),
        high=min(mean + reach, 1.0),
    )
