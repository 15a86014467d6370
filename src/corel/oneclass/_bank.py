"""Many classes on one encoder: their exemplars side by side, scored and ranked in one call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from corel._errors import ArgumentError
from corel.oneclass import _cpu, _torch
from corel.oneclass._bag import Bag
from corel.oneclass._checks import (
    Latents,
    Method,
    Seed,
    Ties,
    as_latents,
    check_offsets,
    check_rate,
    check_settings,
    check_ties,
    computing_device,
    resolve_method,
)
from corel.oneclass._explain import Votes, divided
from corel.oneclass._kernel import Classes, Doubles, Integers, Points, Ranks, Standing
from corel.oneclass._measures import Balls, Cosines, Measure, no_rows, transposed


class Assessment(NamedTuple):
    """Scores and p-values `[n, C]` of the same points against the same classes."""

    scores: Doubles
    p_values: Doubles


class _Query(NamedTuple):
    """Points `[n, B, D]` on the device that compares them, the kernels for it, and the scales of their masses."""

    points: Any
    kernels: ModuleType
    scales: Doubles


@dataclass(frozen=True, eq=False)
class ClassBank:
    """The exemplars of C classes, frozen: latents `[M, B·D]`, class `c` owning rows ``offsets[c]:offsets[c + 1]``.

    A score against a class does not depend on the other classes in the bank, nor on how the points are batched,
    to the last bit. A class may be empty. Latents are compared in the type of the exemplars: float64 if they are
    float64, else float32. Points that are tensors on an accelerator are scored there.

    Name the rows of the background that equal an exemplar in `omitted`, and score a point that equals a row by the bank
    `without` that row. Otherwise its own copy in the background lowers its score, and p-values are no longer exact.

    Example:
        >>> bank = ClassBank.of([[[0.0], [1.0]], [[9.0]]], branches=1, radius=2.0)
        >>> bank.scores([[0.5], [8.0]])
        array([[2., 0.],
               [0., 1.]])

    """

    exemplars: Points
    offsets: Integers
    branches: int
    radius: float
    background: Points | None = None
    method: Method = "auto"
    omitted: Integers = field(default_factory=no_rows)

    def __post_init__(self) -> None:
        given = np.array(self.exemplars)  # a copy: what is enrolled stays as it was
        exemplars = as_latents(given, np.float64 if given.dtype == np.float64 else np.float32, "exemplars")
        check_settings(self.branches, self.radius, exemplars.shape[1])
        self._set(exemplars=exemplars, offsets=check_offsets(self.offsets, len(exemplars)))
        background = None if self.background is None else self._latents(self.background, "background").copy()
        self._set(background=background, method=resolve_method(self.method, background))
        self._set(omitted=np.unique(np.asarray(self.omitted, np.int64)))

    @classmethod
    def of(cls, bags: Sequence[ArrayLike], **settings: Any) -> ClassBank:
        """Make a bank of one array `[m_c, B·D]` per class; `settings` are the fields from `branches` on."""
        arrays = [np.asarray(bag) for bag in bags]
        if not arrays:
            raise ArgumentError("bags", "must be at least one class; enroll one first")
        offsets = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
        return cls(np.concatenate(arrays), offsets, **settings)

    @property
    def sizes(self) -> Integers:
        """Exemplars per class `[C]`."""
        return np.diff(self.offsets)

    def without(self, row: int) -> ClassBank:
        """This bank with one row of the background fewer: for a point that equals the row, and for it alone.

        Only the exemplars' weights with that row are computed anew.
        """
        weighed = self._measure.weighed
        if weighed is None or not weighed.holds(row) or row in self.omitted:
            return self
        bank, omitted = copy(self), np.append(self.omitted, row)
        measure, around = self._measure.omitting(omitted), self._around - self._masses_of([row])
        bank._set(
            omitted=omitted, _measure=measure, _around=around,
            _standing=Standing(self._standing.masses, np.ascontiguousarray(measure.scales(around).T)),
        )  # fmt: skip
        return bank

    def updated(self, classes: Sequence[int | ArrayLike], omitted: ArrayLike = ()) -> ClassBank:
        """The bank of other classes on the same background, without preparing anew the classes that both have.

        Args:
            classes: For each class its number in this bank, or its exemplars `[m, B·D]`.
            omitted: The rows of the background that equal an exemplar.

        The result is the same, to the last bit, as that of a bank made from all exemplars.

        """
        bags = [self._bags[each] if isinstance(each, int | np.integer) else self._prepared(each) for each in classes]
        offsets = np.cumsum([0, *(len(bag.rows) for bag in bags)], dtype=np.int64)
        exemplars = np.concatenate([bag.rows for bag in bags])
        # The background is set below: a new bank copies the one it is given, and this one is a copy already.
        bank = replace(self, exemplars=exemplars, offsets=offsets, background=None, method="count",
                       omitted=np.asarray(omitted, np.int64))  # fmt: skip
        bank._set(background=self.background, method=self.method, _whole=self._whole, _bags=bags)
        return bank

    @property
    def slack(self) -> float:
        """The most by which the likeness of an exemplar can fall when one row leaves the background."""
        weighed = self._measure.weighed
        if weighed is None or not self._measure.logarithmic:
            return 0.0
        branches = 1 if self.method == "cosine" else self.branches
        return float(branches * np.log(weighed.size / max(weighed.size - 1, 1)))

    def scores(self, z: Latents) -> Doubles:
        """Scores `[n, C]` of latents `z [n, B·D]`; higher = more in-class."""
        points, kernels, scales = self._query(z)
        raw: Doubles = kernels.score(points, scales, self._classes)
        return self._constants + raw

    def likeness(self, z: Latents, divisors: ArrayLike | None = None) -> Doubles:
        """Scores `[n, C]` to compare classes by: as if each had the bank's mean size, spread like its own exemplars.

        A class's score is smoothed by s pseudo-exemplars however small the class is, so a small class scores low for
        every point. Where all classes have one size, the likeness is the score.

        Args:
            z: Latents `[n, B·D]`.
            divisors: What the sum over each class is divided by `[C]`; default: the class's size.

        """
        points, kernels, scales = self._query(z)
        if not self._measure.logarithmic:
            return self._per_mean_size(kernels.score(points, scales, self._classes), self._divisors(divisors))
        likeness, growths = np.empty((len(points), len(self.sizes))), self._growths(divisors)
        for growth in np.unique(growths):
            chosen = np.flatnonzero(growths == growth)
            likeness[:, chosen] = kernels.score(points, scales * growth, self._only(chosen))
        return np.asarray(likeness + self._mean_constant)

    def peer_likeness(self, divisors: ArrayLike | None = None) -> Doubles:
        """Each exemplar's likeness `[M]` to its own class, itself left out; divisors `[C]` as in `likeness`."""
        peers, scales = self._standing
        if not self._measure.logarithmic:
            sums = _cpu.combine(peers, scales, False)
            return self._per_mean_size(sums, np.repeat(self._divisors(divisors), self.sizes))
        growths = np.repeat(self._growths(divisors), self.sizes)
        return np.asarray(_cpu.combine(peers, scales * growths, True) + self._mean_constant)

    @property
    def are_apart(self) -> bool:
        """Whether no exemplar has another of its class within the radius, in any branch: then all are the same."""
        return len(self.exemplars) > 1 and not self._standing.masses.any()

    def p_values(self, z: Latents, ties: Ties = "conservative", seed: Seed = None) -> Doubles:
        """Exact full-conformal p-values `[n, C]`, as `assess` gives them."""
        return self.assess(z, ties, seed).p_values

    def assess(self, z: Latents, ties: Ties = "conservative", seed: Seed = None) -> Assessment:
        """Scores and exact full-conformal p-values of `z [n, B·D]` in one pass.

        The p-value is the share of the bag {exemplars, z} that scores no higher than z, each member scored against
        the others. `ties="random"` breaks ties by one uniform number per p-value, drawn from `seed` in row order:
        a generator passed on from batch to batch gives what one batch would have given.
        """
        check_ties(ties)
        points, kernels, scales = self._query(z)
        ranks: Ranks = kernels.rank(points, scales, self._classes, self._standing)
        tied = ranks.tied + 1.0  # the point ties with itself
        if ties == "random":
            tied *= np.random.default_rng(seed).random(tied.shape)
        return Assessment(ranks.scores + self._constants, (ranks.below + tied) / (self.sizes + 1))

    def leave_one_out(self) -> Doubles:
        """The score `[M]` of each exemplar by the others of its class, once a point far from all has joined them."""
        peers, scales = self._standing
        return np.repeat(self._constants, self.sizes) + _cpu.combine(peers, scales, self._measure.logarithmic)

    def thresholds(self, rate: float) -> Doubles:
        """Per class the ⌊rate·(m + 1)⌋-th smallest leave-one-out score, −∞ where m + 1 < 1/rate.

        A test point can only raise the exemplars' scores, so a score strictly below the threshold has a
        p-value of at most `rate`.
        """
        check_rate(rate)
        bags = np.split(self.leave_one_out(), self.offsets[1:-1])
        return np.array([_kth_smallest(bag, allowed_rejections(rate, len(bag))) for bag in bags])

    def explain(self, z: Latents, index: int = 0) -> list[Votes]:
        """Explain the score of each row of `z` from class `index`, whose exemplars are numbered from 0."""
        measure, points, bag = self._measure, self._measure.points(self._latents(z, "z")), self._bags[index].points
        masses: Integers = measure.cpu.mass(points, transposed(bag), measure.window)
        parts: Doubles = masses.astype(np.float64)
        if measure.logarithmic:
            shared = self._constants[index] / masses.shape[1]
            parts = np.log1p(masses * self._scales(points, measure.cpu)) + shared
        return measure.explain(points, bag, parts)

    def votes(self, z: Latents, index: int = 0) -> Doubles:
        """What each exemplar of class `index` adds to the likeness of each row of `z`: `[n, m]`, none below zero.

        What a branch adds is divided between the exemplars by their weight there. The sum of a row is therefore the
        likeness minus `least_likeness`.
        """
        measure, points, bag = self._measure, self._measure.points(self._latents(z, "z")), self._bags[index].points
        scales = self._scales(points, measure.cpu) * self._growths(None)[index]
        votes = np.empty((len(points), len(bag)))
        for row, point in enumerate(points):
            # Weights are symmetric, so the point's weight at each exemplar is the exemplar's weight at the point.
            weights: Integers = measure.cpu.mass(bag, transposed(point[None]), measure.window)
            votes[row] = divided(weights, scales[row], logarithmic=measure.logarithmic)
        return votes

    @property
    def least_likeness(self) -> float:
        """The likeness of a point that is far from all exemplars: their weights are zero."""
        return float(self._mean_constant)

    def _growths(self, divisors: ArrayLike | None) -> Doubles:
        """The factors `[C]` that bring each class's sums to the bank's mean size."""
        return np.asarray(self.sizes.mean() / self._divisors(divisors))

    def _divisors(self, given: ArrayLike | None) -> Integers:
        return np.maximum(self.sizes if given is None else np.asarray(given), 1)

    def _per_mean_size(self, sums: Doubles, divisors: Integers) -> Doubles:
        """Divide whole numbers and scale them to the bank's mean size, rounding once: equal ratios stay equal."""
        return np.asarray(sums * self.sizes.sum() / (divisors * len(self.sizes)))

    @property
    def _mean_constant(self) -> Doubles:
        return self._measure.constants(self.sizes.mean())

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _latents(self, z: Latents, name: str) -> Points:
        latents = as_latents(z, self.exemplars.dtype.type, name)
        if latents.shape[1] != self.exemplars.shape[1]:
            raise ArgumentError(
                name,
                f"has {latents.shape[1]} columns but the exemplars have {self.exemplars.shape[1]}; "
                "encode both with the same backbone",
            )
        return latents

    def _query(self, z: Latents) -> _Query:
        points, device = self._measure.points(self._latents(z, "z")), computing_device(z)
        if device is None:
            return _Query(points, self._measure.cpu, self._scales(points, self._measure.cpu))
        moved = torch.from_numpy(points).to(device)
        return _Query(moved, _torch, self._scales(moved, _torch))

    def _scales(self, points: Any, kernels: ModuleType) -> Doubles:
        """The factor for the mass around each point, per branch `[n, B]`."""
        return self._measure.scales(self._measure.around(points, kernels))

    @cached_property
    def _whole(self) -> Measure:
        """How points are compared where no row of the background is omitted."""
        if self.method == "cosine":
            assert self.background is not None
            return Cosines(self.background)
        dtype, logarithmic = self.exemplars.dtype.type, self.method == "contrast"
        return Balls(self.branches, self.radius, dtype, self.background, logarithmic)

    @cached_property
    def _measure(self) -> Measure:
        return self._whole.omitting(self.omitted)

    @cached_property
    def _bags(self) -> list[Bag]:
        return [Bag(rows, self._whole) for rows in np.split(self.exemplars, self.offsets[1:-1])]

    def _prepared(self, rows: ArrayLike) -> Bag:
        return Bag(self._latents(np.array(rows), "exemplars"), self._whole)

    @cached_property
    def _classes(self) -> Classes:
        columns = np.concatenate([transposed(bag.points) for bag in self._bags], axis=2)
        return Classes(columns, self.offsets, self._measure.window, self._measure.logarithmic)

    def _only(self, chosen: Integers) -> Classes:
        """Some of the classes."""
        rows = np.concatenate([np.arange(*self.offsets[c : c + 2]) for c in chosen])
        offsets = np.concatenate([[0], np.cumsum(self.sizes[chosen])])
        return self._classes._replace(exemplars=self._classes.exemplars[:, :, rows], offsets=offsets)

    @cached_property
    def _constants(self) -> Doubles:
        return self._measure.constants(self.sizes)

    @cached_property
    def _standing(self) -> Standing:
        masses = np.concatenate([bag.peers for bag in self._bags], axis=1)
        return Standing(masses, np.ascontiguousarray(self._measure.scales(self._around).T))

    @cached_property
    def _around(self) -> Integers:
        """The background's mass around each exemplar, per branch `[M, B]`, without the rows omitted."""
        around = np.concatenate([bag.around for bag in self._bags])
        weighed = self._measure.weighed
        omitted = no_rows() if weighed is None else weighed.omitted
        return around - self._masses_of(omitted) if len(omitted) else around

    def _masses_of(self, rows: Any) -> Integers:
        """The mass of these rows of the background around each exemplar, per branch `[M, B]`."""
        measure, weighed = self._measure, self._measure.weighed
        assert weighed is not None
        columns = weighed.some(rows)
        return np.concatenate([measure.cpu.mass(bag.points, columns, measure.window) for bag in self._bags])


def allowed_rejections(rate: float, size: int) -> int:
    """⌊rate·(m + 1)⌋; a product that rounds to just below a whole number, such as 0.29·100, counts as that number."""
    return int(rate * (size + 1) + 1e-9)


def check_support(rate: float, sizes: Iterable[int]) -> None:
    """Raise on an invalid rate; warn if a class is too small for it."""
    check_rate(rate)
    smallest = min((m for m in sizes if allowed_rejections(rate, m) < 1), default=None)
    if smallest is not None:
        warnings.warn(
            f"{smallest} exemplars cannot support rate={rate}: nothing will be rejected. Enroll at least "
            f"{int(np.ceil(1 / rate)) - 1} or raise the rate to {1 / (smallest + 1):.3g}.",
            stacklevel=3,
        )


def _kth_smallest(scores: Doubles, k: int) -> float:
    """The k-th smallest score; −∞ for k = 0, and +∞ beyond the last."""
    return float(np.concatenate([[-np.inf], np.sort(scores), [np.inf]])[k])
