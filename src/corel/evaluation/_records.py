"""What an evaluation found: one record per method, number of exemplars, draw and class, and their summary."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel._atomic import write_atomically

RESAMPLES = 2000


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
    """A method's AUC over all classes and draws.

    Attributes:
        method: The score or control.
        exemplars: Items enrolled per class.
        mean: Over classes and draws.
        spread: Standard deviation over draws of the mean over classes; NaN-free: 0 for a single draw.
        class_spread: Standard deviation over draws of one class's AUC, averaged over classes.
        low: Lower end of the 95% bootstrap interval of the mean over redrawn exemplars, classes and tests fixed.
        high: Its upper end.

    """

    method: str
    exemplars: int
    mean: float
    spread: float
    class_spread: float
    low: float
    high: float


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
        return [_summarise(*cell, self.auc(*cell)) for cell in self._cells()]

    def document(self) -> dict[str, Any]:
        """The whole evaluation as JSON's types."""
        rows = [asdict(row) for row in self.summary()]
        return {"config": self.config, "summary": rows, "records": [asdict(record) for record in self.records]}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `document` as JSON, whole or not at all."""
        write_atomically(Path(path), (json.dumps(self.document(), indent=1, allow_nan=False) + "\n").encode())

    def _cells(self) -> list[tuple[str, int]]:
        return list(dict.fromkeys((record.method, record.exemplars) for record in self.records))


def _summarise(method: str, exemplars: int, auc: NDArray[np.float64]) -> Summary:
    several = int(len(auc) > 1)
    low, high = _bootstrap_interval(auc)
    return Summary(
        method=method,
        exemplars=exemplars,
        mean=float(auc.mean()),
        spread=float(auc.mean(1).std(ddof=several)),
        class_spread=float(auc.std(0, ddof=several).mean()),
        low=low,
        high=high,
    )


def _bootstrap_interval(auc: NDArray[np.float64]) -> tuple[float, float]:
    """Redraw each class's draws with replacement: classes are enrolled independently of one another."""
    draws, classes = auc.shape
    chosen = np.random.default_rng(0).integers(draws, size=(RESAMPLES, draws, classes))
    means = np.take_along_axis(auc[None], chosen, axis=1).mean((1, 2))
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
