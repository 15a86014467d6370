"""Many classes on one encoder: their exemplars side by side, scored and ranked in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import ArrayLike

from corel.oneclass import _cpu, _kernel, _torch
from corel.oneclass._checks import (
    Latents,
    Score,
    Seed,
    Ties,
    as_latents,
    check_offsets,
    check_rate,
    check_settings,
    check_ties,
    computing_device,
    resolve_score,
)
from corel.oneclass._explain import Explanation, explain_point
from corel.oneclass._kernel import Doubles, Integers, Points

# Pseudo-exemplars, spread like the background, that smooth a class's rate: chosen on folds of CIFAR-10's
# train split by `python -m experiments.contrast`, which also compares what was not chosen.
PRIOR = 100.0


class Space(Protocol):
    """What scoring reads of a backbone."""

    @property
    def branches(self) -> int: ...
    @property
    def eta(self) -> float: ...
    @property
    def p(self) -> float: ...
    @property
    def background(self) -> Points: ...


def backbone_settings(backbone: Space) -> dict[str, Any]:
    """The `branches`, `radius` and `background` with which a backbone's latents are to be scored."""
    if backbone.p != 1:
        raise ValueError(f"scores count in L1 balls but the backbone was trained with p={backbone.p:g}; train with p=1")
    return {"branches": backbone.branches, "radius": backbone.eta, "background": backbone.background}


class Assessment(NamedTuple):
    """Scores and p-values `[n, C]` of the same points against the same classes."""

    scores: Doubles
    p_values: Doubles


class _Query(NamedTuple):
    """Points `[n, B, D]` where they are to be compared, the kernels that do it, and the weights of their terms."""

    points: Any
    kernels: ModuleType
    weights: Doubles


@dataclass(frozen=True, eq=False)
class ClassBank:
    """The exemplars of C classes, frozen: latents `[M, B·D]`, class `c` owning rows ``offsets[c]:offsets[c + 1]``.

    A score against a class does not depend on the other classes in the bank, nor on how the points are batched,
    to the last bit. A class may be empty. Latents are compared in the type of the exemplars: float64 if they are
    float64, else float32. Points that are tensors on an accelerator are scored there.

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
        given = np.asarray(self.exemplars)
        exemplars = as_latents(given, np.float64 if given.dtype == np.float64 else np.float32, "exemplars")
        check_settings(self.branches, self.radius, exemplars.shape[1])
        self._set(exemplars=exemplars, offsets=check_offsets(self.offsets, len(exemplars)))
        background = None if self.background is None else self._latents(self.background, "background")
        self._set(background=background, score=resolve_score(self.score, background))

    @classmethod
    def of(cls, bags: Sequence[ArrayLike], **settings: Any) -> ClassBank:
        """Make a bank of one array `[m_c, B·D]` per class; `settings` are the fields from `branches` on."""
        arrays = [np.asarray(bag) for bag in bags]
        if not arrays:
            raise ValueError("a bank needs at least one class; enrol one first")
        offsets = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
        return cls(np.concatenate(arrays), offsets, **settings)

    @property
    def sizes(self) -> Integers:
        """Exemplars per class `[C]`."""
        return np.diff(self.offsets)

    def scores(self, z: Latents) -> Doubles:
        """Scores `[n, C]` of latents `z [n, B·D]`; higher = more in-class."""
        points, kernels, weights = self._query(z)
        raw: Doubles = kernels.score(points, self._columns, self.offsets, self.radius, weights, self._logarithmic)
        return self._constants + raw

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
        points, kernels, weights = self._query(z)
        ranks: _cpu.Ranks = kernels.rank(
            points, self._columns, self.offsets, self.radius, weights, self._logarithmic, *self._standing
        )
        tied = ranks.tied + 1.0  # the point ties with itself
        if ties == "random":
            tied *= np.random.default_rng(seed).random(tied.shape)
        return Assessment(ranks.scores + self._constants, (ranks.below + tied) / (self.sizes + 1))

    def leave_one_out(self) -> Doubles:
        """The score `[M]` of each exemplar in its class's bag with one more point, far from all."""
        raw: Doubles = np.add.accumulate(self._standing[0], axis=0)[-1]
        return np.repeat(self._constants, self.sizes) + raw

    def thresholds(self, rate: float) -> Doubles:
        """Per class the ⌊rate·(m + 1)⌋-th smallest leave-one-out score, −∞ where m + 1 < 1/rate.

        A test point can only raise the exemplars' scores, so a score strictly below the threshold has a
        p-value of at most `rate`.
        """
        check_rate(rate)
        bags = np.split(self.leave_one_out(), self.offsets[1:-1])
        return np.array([_kth_smallest(bag, allowed_rejections(rate, len(bag))) for bag in bags])

    def explain(self, z: Latents, index: int = 0) -> list[Explanation]:
        """Explain the score of each row of `z` from class `index`, whose exemplars are numbered from 0."""
        points = self._split(self._latents(z, "z"))
        rates = [None] * len(points) if self.background is None else self._rates(points, _cpu)
        bag = self._split(self.exemplars)[self.offsets[index] : self.offsets[index + 1]]
        return [explain_point(point, bag, self.radius, rate) for point, rate in zip(points, rates, strict=True)]

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _latents(self, z: Latents, name: str) -> Points:
        latents = as_latents(z, self.exemplars.dtype.type, name)
        if latents.shape[1] != self.exemplars.shape[1]:
            raise ValueError(
                f"{name} has {latents.shape[1]} columns but the exemplars have {self.exemplars.shape[1]}; "
                "encode both with the same backbone"
            )
        return latents

    def _split(self, latents: Points) -> Points:
        return latents.reshape(len(latents), self.branches, latents.shape[1] // self.branches)

    def _query(self, z: Latents) -> _Query:
        points, device = self._split(self._latents(z, "z")), computing_device(z)
        if device is None:
            return _Query(points, _cpu, self._weights(points, _cpu))
        moved = torch.from_numpy(points).to(device)
        return _Query(moved, _torch, self._weights(moved, _torch))

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
        constants: Doubles = self.branches * np.log(PRIOR / (self.sizes + PRIOR))
        return constants * self._logarithmic

    @cached_property
    def _standing(self) -> tuple[Doubles, Doubles]:
        """What each branch adds to each leave-one-out score `[B, M]`: as it is, and with one neighbour more."""
        points = self._split(self.exemplars)
        counts = _cpu.count_peers(points, self._columns, self.offsets, self.radius)
        weights = self._weights(points, _cpu)
        return self._terms(counts, weights), self._terms(counts + 1, weights)

    def _terms(self, counts: Integers, weights: Doubles) -> Doubles:
        terms = np.empty(counts.shape)
        _kernel.branch_terms(counts, weights, self._logarithmic, terms)
        return np.ascontiguousarray(terms.T)

    def _rates(self, points: Any, kernels: ModuleType) -> Doubles:
        """Share q of the background within the radius `[n, B]`, counting the point itself so that it is never zero."""
        counts: Integers = kernels.count(points, self._background_columns, self.radius)
        rates: Doubles = (counts + 1) / (self._background_columns.shape[2] + 1)
        return rates

    def _weights(self, points: Any, kernels: ModuleType) -> Doubles:
        """1/(s·q): a branch's term log(1 + c/(s·q)) is log((c + s·q)/((m + s)·q)), the log-ratio, less a constant."""
        return 1 / (PRIOR * self._rates(points, kernels)) if self._logarithmic else np.ones(points.shape[:2])


def allowed_rejections(rate: float, size: int) -> int:
    """⌊rate·(m + 1)⌋, forgiving the rounding of products such as 0.29·100."""
    return int(rate * (size + 1) + 1e-9)


def _kth_smallest(scores: Doubles, k: int) -> float:
    """The k-th smallest score; −∞ for k = 0, and +∞ beyond the last."""
    return float(np.concatenate([[-np.inf], np.sort(scores), [np.inf]])[k])


def _transposed(points: Points) -> Points:
    return np.ascontiguousarray(points.transpose(1, 2, 0))
