"""What a method compares and how: points, windows, the background's weight, and the words of an explanation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from corel.oneclass import _contrast, _cosine, _cpu
from corel.oneclass._explain import Explanation, explain_balls, explain_cosines
from corel.oneclass._kernel import Doubles, Integers, Points, Window
from corel.oneclass._whitening import Whitening, whitening_of

# All rows of the background tell its covariance, so many are compared: with twice as many the AUC is the same to .001
# (experiments/results/cosine_folds.json), and scoring takes a third longer.
WEIGHED = 1000


class Measure(Protocol):
    """How a bank's points meet exemplars and the background."""

    @property
    def cpu(self) -> ModuleType:
        """The kernels on the CPU."""

    @property
    def logarithmic(self) -> bool:
        """Whether logarithms are summed over the branches."""

    @property
    def window(self) -> Window:
        """How much an exemplar weighs."""

    def points(self, rows: Points) -> Points:
        """Rows as the kernels compare them `[n, B, D]`."""

    def scales(self, points: Any, kernels: ModuleType) -> Doubles:
        """What a unit of mass around each point and branch is worth `[n, B]`."""

    def constants(self, sizes: Integers) -> Doubles:
        """What every score against a class of this size has in common."""

    def explain(self, points: Points, bag: Points, parts: Doubles) -> list[Explanation]:
        """Explain points from the exemplars `[m, B, D]` of one class, given what each branch adds to the score."""


@dataclass(frozen=True, eq=False)
class Balls:
    """Count and contrast: L1 distances branch by branch; without a background, or to count, masses are summed."""

    branches: int
    radius: float
    dtype: type[np.floating[Any]]
    background: Points | None
    logarithmic: bool
    cpu = _cpu

    @cached_property
    def window(self) -> Window:
        """A ball, or an exponential."""
        shape = _contrast.exponential if self.logarithmic else _contrast.ball
        return shape(self.radius, self.dtype)

    def points(self, rows: Points) -> Points:
        """Rows split into branches."""
        return rows.reshape(len(rows), self.branches, rows.shape[1] // self.branches)

    def scales(self, points: Any, kernels: ModuleType) -> Doubles:
        """Ones where masses are summed."""
        if not self.logarithmic:
            return np.ones(points.shape[:2])
        masses: Integers = kernels.mass(points, self._columns, self.window)
        return _contrast.scales(masses, self._columns.shape[2])

    def constants(self, sizes: Integers) -> Doubles:
        """What smoothing adds, if there is any."""
        return _contrast.constant(sizes, self.branches) * self.logarithmic

    def explain(self, points: Points, bag: Points, parts: Doubles) -> list[Explanation]:
        """By the exemplars within the radius."""
        return explain_balls(points, bag, self.radius, parts, self._shares(points))

    def _shares(self, points: Points) -> Doubles | None:
        """Share of the background within the radius `[n, B]`."""
        if self.background is None or not len(self.background):
            return None
        ball = _contrast.ball(self.radius, self.dtype)
        shares: Doubles = _cpu.mass(points, self._columns, ball) / len(self.background)
        return shares

    @cached_property
    def _columns(self) -> Points:
        assert self.background is not None
        return transposed(self.points(self.background))


@dataclass(frozen=True, eq=False)
class Cosines:
    """The cosine score: unit vectors of whitened features, in one branch."""

    background: Points
    logarithmic = True
    cpu = _cosine

    @cached_property
    def window(self) -> Window:
        """An exponential of the cosine."""
        return _cosine.window(self._whitening.length)

    def points(self, rows: Points) -> Points:
        """Rows as unit vectors."""
        return self._whitening.units(rows)[:, None]

    def scales(self, points: Any, kernels: ModuleType) -> Doubles:
        """By what the background weighs."""
        masses: Integers = kernels.mass(points, self._columns, self.window)
        return _cosine.scales(masses, self._columns.shape[2])

    def constants(self, sizes: Integers) -> Doubles:
        """What smoothing adds."""
        return _cosine.constant(sizes)

    def explain(self, points: Points, bag: Points, parts: Doubles) -> list[Explanation]:
        """By the exemplars that are more like a point than the background is on average."""
        return explain_cosines(points, transposed(bag), self._columns, self.window, parts, self._whitening.length)

    @cached_property
    def _whitening(self) -> Whitening:
        return whitening_of(self.background)

    @cached_property
    def _columns(self) -> Points:
        return transposed(self.points(self.background[:WEIGHED]))


def transposed(points: Points) -> Points:
    """Points `[n, B, D]` as the kernels hold exemplars `[B, D, n]`."""
    return np.ascontiguousarray(points.transpose(1, 2, 0))
