"""The connectivity of latents as measured over random batches, and what the theory makes of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from corel._errors import ArgumentError, warn_renamed
from corel._terminal import counted
from corel.losses import split_branches
from corel.persistence import death_times
from corel.theory._exact import beta_bounds, exact_interval
from corel.theory._statements import (
    Points,
    guaranteed_neighbors,
    largest_batch_size,
    rows_of,
    separation_sample_size,
)

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Consequences:
    """What follows for m points of one branch if every batch of b points is connected within [α, β]."""

    alpha: float
    beta: float
    neighbors: int  # Lemma 1, Corollary 1: at least so many within β of every point
    separation_sample_size: int  # Eq. 5: from so many points on two are closer than η
    largest_batch_size: float  # Remark 2: necessary for the premise itself, from 2b − 1 points on

    @classmethod
    def of(cls, alpha: float, beta: float, *, eta: float, n: int, b: int, m: int) -> Consequences:
        """Apply the statements to an interval [α, β]."""
        separation = separation_sample_size(alpha, beta, eta, n, b)
        return cls(alpha, beta, guaranteed_neighbors(m, b), separation, largest_batch_size(alpha, beta, n))

    @property
    def neighbours(self) -> int:
        """The old spelling of `neighbors`."""
        warn_renamed("neighbours", "neighbors")
        return self.neighbors


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Death times of random batches per branch, and what the theory makes of them; `str` gives the table.

    ``lowest``, ``mean`` and ``highest`` are taken over the batches and have shape ``[branches, 3]``, for the
    smallest, the average and the largest death time of a batch. So ``mean`` holds the paper's (α̂, ε̂, β̂).
    """

    eta: float
    n: int
    batch_size: int
    batches: int
    sample_size: int
    lowest: Floats
    mean: Floats
    highest: Floats
    near_eta: Floats  # per branch, the share of bars within 10% of η
    sets: int  # how many random sets of `sample_size` points were measured; 0 if there is none, or it is below b
    beta_bounds: Floats  # [branches, 2]: both bounds of a set's tight β*, mean over the sets
    exact_beta: Floats | None = None  # per branch, β* of the first set, if asked for

    @property
    def heuristics(self) -> list[Consequences]:
        """Per branch, from the means α̂ and β̂ as the paper reads them: typical, not guaranteed."""
        return [
            Consequences.of(alpha, beta, eta=self.eta, n=self.n, b=self.batch_size, m=self.sample_size)
            for alpha, beta in zip(self.mean[:, 0].tolist(), self.mean[:, 2].tolist(), strict=True)
        ]

    def __str__(self) -> str:
        lines = [*_measured_table(self), "", *_theory_table(self), "", *_remarks(self)]
        return "\n".join(line.rstrip() for line in lines)


def diagnose(
    latents: Points,
    eta: float = 2.0,
    branches: int = 1,
    batch_size: int = 100,
    *,
    sample_size: int = 120,
    batches: int = 200,
    p: float = 1.0,
    seed: int = 0,
    sets: int = 20,
    exact: bool = False,
) -> Diagnosis:
    """Measure the connectivity of latents ``[N, branches·D]`` over random batches and apply the theory to it.

    ``sample_size`` is the m of the statements: how many examples of a class will be stored. ``sets`` random sets of so
    many points are bounded by `beta_bounds`; with ``exact`` the first one also by `exact_interval`, which takes a few
    seconds a branch for m = 120. What is measured holds for the sets drawn and promises nothing about others.

    >>> latents = np.random.default_rng(0).normal(size=(500, 40))
    >>> diagnosis = diagnose(latents, eta=2.0, branches=4, batch_size=100)  # print it for the table
    >>> diagnosis.mean.shape
    (4, 3)
    """
    points = rows_of(latents)
    if points.ndim != 2:
        raise ArgumentError("latents", f"must have shape [N, branches·D], not {tuple(points.shape)}")
    if batch_size < 2:
        raise ArgumentError("batch_size", f"must be at least 2, got {batch_size}")
    if len(points) < batch_size:
        raise ArgumentError("latents", f"are {len(points)}, fewer than a batch of {batch_size}; give more")
    if batches < 1:
        raise ArgumentError("batches", f"must be at least 1, got {batches}")
    if not 0 < eta < math.inf:
        raise ArgumentError("eta", f"must be positive and finite, got {eta}")
    clouds = split_branches(points, branches)
    _refuse_non_finite(clouds)
    rows = _random_batches(len(points), batch_size, batches, seed).to(points.device)
    deaths = death_times(clouds[:, rows], p).double()  # [branches, batches, b − 1]
    summary = torch.stack([deaths.amin(-1), deaths.mean(-1), deaths.amax(-1)], dim=-1)
    near_eta = ((deaths - eta).abs() <= 0.1 * eta).double().mean((1, 2))
    lowest, mean, highest = summary.amin(1), summary.mean(1), summary.amax(1)
    low, middle, high, near = (tensor.cpu().numpy() for tensor in (lowest, mean, highest, near_eta))
    drawn = _random_sets(clouds, batch_size, sample_size, sets, seed)
    bounds = np.full((len(clouds), 2), np.nan)
    if drawn:
        bounds = np.mean([[beta_bounds(branch, batch_size, p) for branch in each] for each in drawn], axis=0)
    betas = [exact_interval(branch, batch_size, p).beta for branch in drawn[0]] if exact and drawn else None
    found = None if betas is None else np.array(betas)
    return Diagnosis(
        eta, clouds.shape[-1], batch_size, batches, sample_size, low, middle, high, near, len(drawn), bounds, found
    )


def _random_sets(clouds: Tensor, batch_size: int, sample_size: int, sets: int, seed: int) -> list[Tensor]:
    """Random sets of `sample_size` points, each ``[branches, m, D]``; all points make a single one."""
    points = clouds.shape[1]
    if not batch_size <= sample_size <= points:
        return []
    rows = _random_batches(points, sample_size, 1 if sample_size == points else sets, seed + 1)
    return [clouds[:, each.to(clouds.device)] for each in rows]


def _refuse_non_finite(clouds: Tensor) -> None:
    """Name the latent itself: in a random batch it would be hard to find."""
    bad = (~clouds.isfinite()).any(-1).nonzero()
    if len(bad):
        branch, row = bad[0].tolist()
        raise ArgumentError(
            "latents", f"must be finite, but latent {row} has NaN or infinity in branch {branch}: remove it"
        )


def _random_batches(points: int, batch_size: int, batches: int, seed: int) -> Tensor:
    rng = np.random.default_rng(seed)
    rows = [rng.choice(points, batch_size, replace=False) for _ in range(batches)]
    return torch.from_numpy(np.stack(rows))


def _decimals_and_width(found: Diagnosis) -> tuple[int, int]:
    """How death times are written: three digits of a typical one, whatever the scale of the latents."""
    typical = float(found.mean[:, 1].mean())
    decimals = max(2, 2 - math.floor(math.log10(typical))) if typical > 0 else 2
    return decimals, max(6, len(f"{found.highest.max():.{decimals}f}"))


def _measured_table(found: Diagnosis) -> list[str]:
    columns = zip(found.lowest.T, found.mean.T, found.highest.T, strict=True)
    cells = np.concatenate([np.stack(column, axis=1) for column in columns], axis=1)  # [branches, 9]
    rows = zip(cells, found.near_eta, strict=True)
    decimals, width = _decimals_and_width(found)
    three = 3 * width + 2
    return [
        f"Death times in {found.batches} random batches of {found.batch_size} points, "
        f"per branch in R^{found.n} (η = {found.eta:g})",
        f"{'':>6}  {'smallest in a batch':^{three}}  {'average':^{three}}  {'largest':^{three}}  within",
        "branch" + f"  {'min':>{width}} {'mean':>{width}} {'max':>{width}}" * 3 + "  10% of η",
        *(
            f"{branch:>6}"
            + "".join(f"{'  ' if k % 3 == 0 else ' '}{cell:{width}.{decimals}f}" for k, cell in enumerate(row))
            + f"  {share:8.0%}"
            for branch, (row, share) in enumerate(rows)
        ),
    ]


def _theory_table(found: Diagnosis) -> list[str]:
    decimals, wide = _decimals_and_width(found)
    exact = np.full(len(found.mean), np.nan) if found.exact_beta is None else found.exact_beta
    betas = np.column_stack([found.mean[:, 2], found.beta_bounds, exact])

    def cells(branch: int, c: Consequences) -> str:
        numbers = ("-" if math.isnan(beta) else f"{beta:.{decimals}f}" for beta in betas[branch])
        sizes = f"{c.neighbors:>5} {_short(c.separation_sample_size):>9} {_short(c.largest_batch_size):>9}"
        return " ".join([*(f"{number:>{max(wide, 8)}}" for number in numbers), sizes])

    heading = " ".join(f"{name:>{max(wide, 8)}}" for name in ("β̂", "β* ≥", "β* ≤", "β*"))
    return [
        f"What the theory says for sets of m = {found.sample_size}",
        f"branch  {heading} {'near':>5} {'m, Eq. 5':>9} {'max b':>9}",
        *(f"{branch:>6}  {cells(branch, c)}" for branch, c in enumerate(found.heuristics)),
    ]


def _remarks(found: Diagnosis) -> list[str]:
    m, b = found.sample_size, found.batch_size
    separated = sum(m >= c.separation_sample_size for c in found.heuristics)
    excluded = sum(c.largest_batch_size < b for c in found.heuristics)
    return [
        "All numbers are those of the batches and sets drawn. They promise nothing about other sets.",
        "β̂        the largest death time of a batch, mean over the batches; not the radius of Corollary 1",
        f"β*        the smallest distance at which all batches of {b} from one set of m are connected,",
        f"          bounded on both sides, mean over {counted(found.sets, 'random set')}"
        + (f": says nothing, as m < b = {b}" if m < b else "" if found.sets else ": there are fewer points than m"),
        "near      at least so many points of such a set lie within its β* of each of them (Corollary 1)",
        "m, Eq. 5  a set of so many points has two closer than η, if α̂ and β̂ bound all its batches;",
        f"          {_verdict('reached', f'm = {m}', separated, len(found.mean))}",
        "max b     the largest b with which all batches of 2b − 1 points can lie within [α̂, β̂] (Remark 2);",
        f"          {_verdict('exceeded', f'b = {b}', excluded, len(found.mean))}",
    ]


def _verdict(what: str, size: str, times: int, branches: int) -> str:
    return f"{what} by {size} in {times} of {branches} branches" if times else f"not {what} by {size}"


def _short(number: float) -> str:
    """Up to six digits in full, beyond that as a power of ten (Decimal, as an int may exceed every float)."""
    return str(number) if number < 10**6 or number == math.inf else f"{Decimal(number):.1e}"
