"""What a method compares and how: points, windows, the background, and the words of an explanation.

The weight of a row at a point falls with their distance, by the window. The mass around a point, in one branch, is the
sum of the weights of some rows there. A score is made of the masses of a class's exemplars.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import ModuleType
from typing import Any, Protocol, TypeVar

import numpy as np

from corel._errors import ArgumentError
from corel.oneclass import _contrast, _cosine, _cpu
from corel.oneclass._explain import Votes, explain_balls, explain_cosines
from corel.oneclass._kernel import Doubles, Integers, Points, Window
from corel.oneclass._whitening import Whitening, whitening_of

# The cosine score takes the covariance from all rows of the background, and the mass from so many. Twice as many change
# the AUC by about .001 at most (experiments/results/cosine_folds.json), and scoring takes a third longer.
WEIGHED = 1000


Either = TypeVar("Either", "Balls", "Cosines")


def no_rows() -> Integers:
    """No rows of the background."""
    return np.empty(0, np.int64)


class Measure(Protocol):
    """How points are compared with exemplars and with the background."""

    @property
    def cpu(self) -> ModuleType:
        """The kernels on the CPU."""

    @property
    def logarithmic(self) -> bool:
        """Whether logarithms are summed over the branches."""

    @property
    def window(self) -> Window:
        """The weight of a row by its distance."""

    def points(self, rows: Points) -> Points:
        """Rows as the kernels compare them `[n, B, D]`."""

    def around(self, points: Any, kernels: ModuleType) -> Integers:
        """The background's mass around each point, per branch `[n, B]`."""

    def scales(self, around: Integers) -> Doubles:
        """The factor for a class's mass where the background has the mass `around`."""

    def omitting(self, rows: Integers) -> Measure:
        """This measure without some rows of the background; it shares what was computed already."""

    @property
    def weighed(self) -> Weighed | None:
        """The rows of the background whose mass is taken; None where there is no background."""

    def constants(self, sizes: Integers) -> Doubles:
        """What is added to every score against a class of this size."""

    def explain(self, points: Points, bag: Points, parts: Doubles) -> list[Votes]:
        """Explain points from the exemplars `[m, B, D]` of one class, given what each branch adds to the score."""


@dataclass(frozen=True, eq=False)
class Weighed:
    """Rows of the background as the kernels hold them `[B, D, G]`, and those among them that are left out.

    Masses are sums of integers, so subtracting a row's weight gives the mass without that row, to the last bit.
    """

    columns: Points
    omitted: Integers = field(default_factory=no_rows)

    @property
    def size(self) -> int:
        """How many rows are not left out."""
        return int(self.columns.shape[2]) - len(self.omitted)

    def masses(self, points: Any, kernels: ModuleType, window: Window) -> Integers:
        """Their mass around each point, per branch `[n, B]`."""
        masses: Integers = kernels.mass(points, self.columns, window)
        return masses - kernels.mass(points, self.some(self.omitted), window) if len(self.omitted) else masses

    def some(self, rows: Any) -> Points:
        """Some of the columns, left out or not."""
        return np.ascontiguousarray(self.columns[:, :, rows])

    def counted(self) -> Points:
        """The columns that are not left out."""
        return np.delete(self.columns, self.omitted, axis=2) if len(self.omitted) else self.columns

    def holds(self, row: int) -> bool:
        """Whether this row of the background is among the columns."""
        return row < int(self.columns.shape[2])

    def omitting(self, rows: Integers) -> Weighed:
        """Leave out these rows; numbers beyond the columns are ignored."""
        return replace(self, omitted=rows[rows < self.columns.shape[2]])


@dataclass(frozen=True, eq=False)
class Balls:
    """Count and contrast, by L1 distances in each branch.

    The contrast adds logarithms of masses over the branches. The count, and anything without a background, adds masses.
    """

    branches: int
    radius: float
    dtype: type[np.floating[Any]]
    background: Points | None
    logarithmic: bool
    cpu = _cpu

    @cached_property
    def window(self) -> Window:
        """A ball for the count, an exponential for the contrast."""
        shape = _contrast.exponential if self.logarithmic else _contrast.ball
        return shape(self.radius, self.dtype)

    def points(self, rows: Points) -> Points:
        """Rows split into branches."""
        return rows.reshape(len(rows), self.branches, rows.shape[1] // self.branches)

    def around(self, points: Any, kernels: ModuleType) -> Integers:
        """The background's mass; zeros where masses are added."""
        if not self.logarithmic or self.weighed is None:
            return np.zeros(points.shape[:2], np.int64)
        return self.weighed.masses(points, kernels, self.window)

    def scales(self, around: Integers) -> Doubles:
        """1/(s·q), as in `_contrast`; ones where masses are added."""
        if not self.logarithmic or self.weighed is None:
            return np.ones(around.shape)
        return _contrast.scales(around, self.weighed.size)

    def omitting(self, rows: Integers) -> Balls:
        """This measure without some rows of the background."""
        return self if self.weighed is None else _weighing(self, self.weighed.omitting(rows))

    def constants(self, sizes: Integers) -> Doubles:
        """What smoothing adds; zero for the count."""
        return _contrast.constant(sizes, self.branches) * self.logarithmic

    def explain(self, points: Points, bag: Points, parts: Doubles) -> list[Votes]:
        """Explain points by the exemplars within the radius."""
        return explain_balls(points, bag, self.radius, parts, self._shares(points))

    def _shares(self, points: Points) -> Doubles | None:
        """Share of the background within the radius `[n, B]`."""
        if self.weighed is None or not self.weighed.size:
            return None
        ball = _contrast.ball(self.radius, self.dtype)
        shares: Doubles = self.weighed.masses(points, _cpu, ball) / self.weighed.size
        return shares

    @cached_property
    def weighed(self) -> Weighed | None:
        """All rows; `omitting` replaces them."""
        return None if self.background is None else Weighed(transposed(self.points(self.background)))


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

    def around(self, points: Any, kernels: ModuleType) -> Integers:
        """The mass of the background's first rows."""
        return self.weighed.masses(points, kernels, self.window)

    def scales(self, around: Integers) -> Doubles:
        """1/(s·q), as in `_cosine`."""
        if not self.weighed.size:
            raise ArgumentError("background", "has no row but exemplars; enroll other images, or wrap anew")
        return _cosine.scales(around, self.weighed.size)

    def omitting(self, rows: Integers) -> Cosines:
        """Leave out rows of the mass; center and whitening stay those of the whole background."""
        return _weighing(self, self.weighed.omitting(rows))

    def constants(self, sizes: Integers) -> Doubles:
        """What smoothing adds."""
        return _cosine.constant(sizes)

    def explain(self, points: Points, bag: Points, parts: Doubles) -> list[Votes]:
        """Explain points by the exemplars that are more like them than the background is on average."""
        background, length = self.weighed.counted(), self._whitening.length
        return explain_cosines(points, transposed(bag), background, self.window, parts, length)

    @cached_property
    def _whitening(self) -> Whitening:
        return whitening_of(self.background)

    @cached_property
    def weighed(self) -> Weighed:
        """The first rows; `omitting` replaces them."""
        return Weighed(transposed(self.points(self.background[:WEIGHED])))


def _weighing(measure: Either, weighed: Weighed) -> Either:
    """Copy a measure, with what it has computed, for other rows of the background."""
    other = copy(measure)
    other.__dict__["weighed"] = weighed
    return other


def transposed(points: Points) -> Points:
    """Points `[n, B, D]` as the kernels hold exemplars `[B, D, n]`."""
    return np.ascontiguousarray(points.transpose(1, 2, 0))
