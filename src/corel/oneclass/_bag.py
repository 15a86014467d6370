"""The exemplars of one class, prepared for scoring."""

from __future__ import annotations

from functools import cached_property

from corel.oneclass._kernel import Integers, Points
from corel.oneclass._measures import Measure, transposed


class Bag:
    """The exemplars of one class, and what is computed from them and the background alone, each on first use.

    Nothing here depends on other classes or on which rows of the background are omitted, so a bank that is updated
    takes over the bags of the classes that did not change.
    """

    def __init__(self, rows: Points, measure: Measure) -> None:
        self.rows, self._measure = rows, measure

    @cached_property
    def points(self) -> Points:
        """The exemplars as they are compared `[m, B, D]`."""
        return self._measure.points(self.rows)

    @cached_property
    def peers(self) -> Integers:
        """The mass of the other exemplars around each one, per branch `[B, m]`."""
        masses: Integers = self._measure.cpu.mass_peers(self.points, transposed(self.points), self._measure.window)
        return masses

    @cached_property
    def around(self) -> Integers:
        """The background's mass around each exemplar, per branch `[m, B]`."""
        return self._measure.around(self.points, self._measure.cpu)
