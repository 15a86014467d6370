"""Many classes on one encoder: their exemplars side by side, scored and ranked in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from corel.oneclass import _cpu, _kernel
from corel.oneclass._kernel import Doubles, Integers, Points

Score = Literal["auto", "count", "contrast"]
Ties = Literal["conservative", "random"]
Seed = int | np.random.Generator | None

# Chosen on folds of CIFAR-10's train split by `python -m experiments.contrast`, which also compares the alternatives.
PRIOR = 100.0  # pseudo-exemplars, spread like the background, that smooth a class's rate


class Assessment(NamedTuple):
    """Scores and p-values `[n, C]` of the same points against the same classes."""

    scores: Doubles
    p_values: Doubles


class Explanation(NamedTuple):
    """Why one image got its score from one class, branch by branch."""

    counts: Integers  # [B] exemplars inside the ball
    background_rates: Doubles | None  # [B] share of the background inside the same ball
    neighbours: tuple[Integers, ...]  # per branch the exemplars inside the ball, nearest first
    distances: tuple[Doubles, ...]  # and how far they are


@dataclass(frozen=True, eq=False)
class ClassBank:
    """The exemplars of C classes, frozen: latents `[M, B·D]`, class `c` owning rows ``offsets[c]:offsets[c + 1]``.

    Scores against a class do not depend on which other classes are in the bank, nor on how the points are
    batched, to the last bit. A class may be empty. Latents are compared in the type of the exemplars: float64 if
    they are float64, else float32.

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
    score: Score = "auto"

    def __post_init__(self) -> None:
        exemplars = np.asarray(self.exemplars)
        exemplars = as_latents(exemplars, np.float64 if exemplars.dtype == np.float64 else np.float32)
        _check_settings(self.branches, self.radius, exemplars.shape[1])
        object.__setattr__(self, "exemplars", exemplars)
        object.__setattr__(self, "offsets", _check_offsets(self.offsets, len(exemplars)))
        if self.background is not None:
            object.__setattr__(self, "background", self._latents(self.background, "background"))
        object.__setattr__(self, "score", resolve_score(self.score, self.background))

    @classmethod
    def of(cls, bags: Sequence[ArrayLike], **settings: Any) -> ClassBank:
        """Make a bank of one array `[m_c, B·D]` per class; `settings` are the fields from `branches` on."""
        arrays = [np.asarray(bag) for bag in bags]
        if not arrays:
            raise ValueError("a bank needs at least one class; enrol one first")
        offsets = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
        return cls(np.concatenate([a for a in arrays if len(a)] or arrays[:1]), offsets, **settings)

    @property
    def sizes(self) -> Integers:
        """Exemplars per class `[C]`."""
        return np.diff(self.offsets)

    def scores(self, z: ArrayLike) -> Doubles:
        """Scores `[n, C]`, higher = more in-class, of latents `z [n, B·D]`."""
        points = self._split(self._latents(z, "z"))
        weights = self._weights(points)
        raw = _cpu.score(points, self._columns, self.offsets, self.radius, weights, self._logarithmic)
        return raw + self._constants

    def p_values(self, z: ArrayLike, ties: Ties = "conservative", seed: Seed = None) -> Doubles:
        """Exact full-conformal p-values `[n, C]`; see `assess`."""
        return self.assess(z, ties, seed).p_values

    def assess(self, z: ArrayLike, ties: Ties = "conservative", seed: Seed = None) -> Assessment:
        """Scores and exact full-conformal p-values of `z [n, B·D]` in one pass.

        The p-value is the share of the bag {exemplars, z} that scores no higher than z against the rest of the bag.
        `ties="random"` breaks ties by one uniform number per p-value, drawn from `seed` in row order: a generator
        that is passed on from batch to batch gives what one batch would have given.
        """
        if ties not in ("conservative", "random"):
            raise ValueError(f'ties must be "conservative" or "random", not {ties!r}')
        points = self._split(self._latents(z, "z"))
        weights = self._weights(points)
        ranks = _cpu.rank(points, self._columns, self.offsets, self.radius, weights, self._logarithmic, *self._standing)
        tied = ranks.tied + 1.0  # the point ties with itself
        if ties == "random":
            tied *= np.random.default_rng(seed).random(tied.shape)
        return Assessment(ranks.scores + self._constants, (ranks.below + tied) / (self.sizes + 1))

    def leave_one_out(self) -> Doubles:
        """The score `[M]` of each exemplar against the others of its class, in a bag with one point far from all."""
        scores = np.zeros(len(self.exemplars))
        for branch in self._standing[0]:
            scores += branch
        return scores + np.repeat(self._constants, self.sizes)

    def thresholds(self, rate: float) -> Doubles:
        """Per class the ⌊rate·(m + 1)⌋-th smallest leave-one-out score, −∞ where m + 1 < 1/rate.

        A test point can only raise the exemplars' scores, so a score strictly below the threshold has a
        p-value of at most `rate`.
        """
        scores = self.leave_one_out()
        return np.array(
            [
                _kth_smallest(scores[first:last], allowed_rejections(rate, int(last - first)))
                for first, last in zip(self.offsets[:-1], self.offsets[1:], strict=True)
            ]
        )

    def explain(self, z: ArrayLike, index: int = 0) -> list[Explanation]:
        """One `Explanation` for each row of `z` of its score from class `index`; exemplars numbered within it."""
        points = self._split(self._latents(z, "z"))
        rates = None if self.background is None else self._rates(points)
        bag = self._split(self.exemplars)[self.offsets[index] : self.offsets[index + 1]]
        return [
            _explain(point, bag, self.radius, None if rates is None else rates[t]) for t, point in enumerate(points)
        ]

    def _latents(self, z: ArrayLike, name: str) -> Points:
        latents = as_latents(z, self.exemplars.dtype.type, name)
        if latents.shape[1] != self.exemplars.shape[1]:
            raise ValueError(
                f"{name} has {latents.shape[1]} columns but the exemplars have {self.exemplars.shape[1]}; "
                "encode both with the same backbone"
            )
        return latents

    def _split(self, latents: Points) -> Points:
        return latents.reshape(len(latents), self.branches, -1)

    @property
    def _logarithmic(self) -> bool:
        return self.score == "contrast"

    @cached_property
    def _columns(self) -> Points:
        return _transposed(self._split(self.exemplars))

    @cached_property
    def _background_columns(self) -> Points:
        assert self.background is not None
        return _transposed(self._split(self.background))

    @cached_property
    def _constants(self) -> Doubles:
        """What smoothing adds to each class's score whatever the point: B·log(s / (m + s))."""
        if not self._logarithmic:
            return np.zeros(len(self.sizes))
        constants: Doubles = self.branches * np.log(PRIOR / (self.sizes + PRIOR))
        return constants

    @cached_property
    def _standing(self) -> tuple[Doubles, Doubles]:
        """What each branch adds to each leave-one-out score `[B, M]`: as it is, and with one neighbour more."""
        points = self._split(self.exemplars)
        counts = _cpu.count_peers(points, self._columns, self.offsets, self.radius)
        weights = self._weights(points)
        return tuple(self._terms(counts + extra, weights) for extra in (0, 1))  # type: ignore[return-value]

    def _terms(self, counts: Integers, weights: Doubles) -> Doubles:
        terms = np.empty(counts.shape)
        _kernel.branch_terms(counts, weights, self._logarithmic, terms)
        return np.ascontiguousarray(terms.T)

    def _rates(self, points: Points) -> Doubles:
        """Smoothed share of the background within the radius `[n, B]`; never zero."""
        counts = _cpu.count(points, self._background_columns, self.radius)
        rates: Doubles = (counts + 1) / (self._background_columns.shape[2] + 1)
        return rates

    def _weights(self, points: Points) -> Doubles:
        """1 / (s·q): with it a branch's term is log(1 + c/(s·q)) = log((c + s·q)/((m + s)·q)) − log(s/(m + s))."""
        if not self._logarithmic:
            return np.ones(points.shape[:2])
        return 1 / (PRIOR * self._rates(points))


def as_latents(z: ArrayLike, dtype: type[np.floating[Any]], name: str = "exemplars") -> Points:
    """`z` as a contiguous finite matrix of `dtype`."""
    latents = np.ascontiguousarray(z, dtype)
    if latents.ndim != 2:
        raise ValueError(f"{name} must be a matrix [n, branches·dim], not an array of shape {latents.shape}")
    if not np.isfinite(latents).all():
        row = int(np.flatnonzero(~np.isfinite(latents).all(1))[0])
        raise ValueError(f"{name} has NaN or infinity in row {row}; drop such rows before scoring")
    return latents


def resolve_score(score: Score, background: object) -> Literal["count", "contrast"]:
    """The score that `"auto"` stands for: contrast where there is a background, else count."""
    if score not in ("auto", "count", "contrast"):
        raise ValueError(f'score must be "auto", "count" or "contrast", not {score!r}')
    if score == "contrast" and background is None:
        raise ValueError('score="contrast" compares with a background; pass background=latents [G, branches·dim]')
    if score == "auto":
        return "count" if background is None else "contrast"
    return score


def allowed_rejections(rate: float, size: int) -> int:
    """⌊rate·(m + 1)⌋, forgiving the rounding of products such as 0.29·100."""
    return int(rate * (size + 1) + 1e-9)


def _kth_smallest(scores: Doubles, k: int) -> float:
    return -np.inf if k < 1 else float(np.partition(scores, k - 1)[k - 1]) if k <= len(scores) else np.inf


def _transposed(points: Points) -> Points:
    return np.ascontiguousarray(points.transpose(1, 2, 0))


def _check_settings(branches: int, radius: float, columns: int) -> None:
    if branches < 1 or columns % branches:
        raise ValueError(f"{columns} latent columns cannot be split into branches={branches} parts of equal size")
    if not 0 <= radius < np.inf:
        raise ValueError(f"radius must be a finite number ≥ 0, not {radius}")


def _check_offsets(offsets: Integers, rows: int) -> Integers:
    bounds = np.asarray(offsets, np.int64)
    if bounds.ndim != 1 or len(bounds) < 2 or bounds[0] != 0 or bounds[-1] != rows or (np.diff(bounds) < 0).any():
        raise ValueError(f"offsets must rise from 0 to the {rows} exemplars, one step a class; got {bounds}")
    return bounds


def _explain(point: Points, bag: Points, radius: float, rates: Doubles | None) -> Explanation:
    distances = _sequential_l1(point, bag)
    limit = bag.dtype.type(radius)
    order = [np.argsort(column, kind="stable") for column in distances.T]
    inside = [near[distances[near, j] <= limit] for j, near in enumerate(order)]
    return Explanation(
        counts=np.array([len(near) for near in inside], np.int64),
        background_rates=rates,
        neighbours=tuple(inside),
        distances=tuple(distances[near, j].astype(np.float64) for j, near in enumerate(inside)),
    )


def _sequential_l1(point: Points, bag: Points) -> Points:
    """Distances `[m, B]` summed over coordinates in their order, as the kernels sum them."""
    total = np.zeros(bag.shape[:2], bag.dtype)
    for d in range(bag.shape[2]):
        total += np.abs(point[:, d] - bag[:, :, d])
    return total
