"""What connected batches imply for larger sets: the definitions and statements of the paper's section 4.

The definitions take a finite set as the rows of a tensor or array ``[m, n]``, compute in float64 and build
the m × m distance matrix. Rows are points: two equal rows are two points at distance 0.

Every statement is about sets whose b-point subsets are all α-β-connected. Definition 4 as printed asks for
equal extremes, which different subsets hardly ever have. The proofs need only that all death times lie in [α, β],
and the functions here check that.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from corel._errors import ArgumentError
from corel.persistence import death_times
from corel.persistence.checks import refuse_no_norm

Points: TypeAlias = Tensor | npt.NDArray[np.floating[Any]]


def connectivity_interval(points: Points, p: float = 1.0) -> tuple[float, float]:
    """The tight (α, β) of Definition 4: the smallest and the largest death time, as full distances.

    The set is connected at radius β/2. (Where section 3 calls 𝒱_η connected it means 𝒱_{η/2}, as Definition 1
    filters by half the distance.)

    >>> connectivity_interval(np.array([[0.0], [1.0], [4.0]]))
    (1.0, 3.0)
    """
    distances = pairwise_distances(points, p)
    if len(distances) < 2:
        raise ArgumentError("points", "must be at least two: a single point has no death time, so no α and β")
    deaths = death_times(distances=distances)
    return float(deaths.min()), float(deaths.max())


def is_connected_within(points: Points, alpha: float, beta: float, p: float = 1.0) -> bool:
    """Whether all death times lie in [α, β]: α-β-connectivity (Definition 4) as the proofs use it."""
    smallest, largest = connectivity_interval(points, p)
    return alpha <= smallest and largest <= beta


def annulus_counts(points: Points, alpha: float, beta: float, p: float = 1.0) -> npt.NDArray[np.int64]:
    """For every point z the number of others in the annulus B(z, α, β), that is at a distance in [α, β]."""
    distances = _distances_to_others(points, p)
    return ((alpha <= distances) & (distances <= beta)).sum(1).numpy()


def guaranteed_neighbors(m: int, b: int) -> int:
    """Lemma 1: the annulus B(z, α, β) of every point z holds at least m − b + 1 of the m points, without z itself.

    All b-point subsets must be connected within [α, β]. For m < b the lemma says nothing, and this gives 0.
    """
    _check_batch_size(b)
    return max(m - b + 1, 0)


def is_dense(points: Points, d: int, eps: float, p: float = 1.0) -> bool:
    """Whether every point has at least d others within distance ε: d-ε-density (Definition 5).

    Corollary 1: m points whose b-point subsets are all connected within [α, β] are (m − b + 1)-β-dense.
    """
    return bool(((_distances_to_others(points, p) <= eps).sum(1) >= d).all())


def is_separated(points: Points, eps: float, p: float = 1.0) -> bool:
    """Whether all points keep at least the distance ε from each other: ε-separation (Definition 6)."""
    return bool((_distances_to_others(points, p) >= eps).all())


def metric_entropy(points: Points, eps: float, p: float = 1.0) -> int:
    """N_ε (Definition 6): the size of the largest ε-separated subset of a finite set.

    Exact, by search over subsets, hence exponential in the number of points: meant for a few dozen.
    """
    close = (pairwise_distances(points, p) < eps).tolist()
    # Sets of points are the bits of an integer; every point is close to itself, whatever ε is.
    near = [sum(1 << j for j, is_near in enumerate(row) if is_near or j == i) for i, row in enumerate(close)]

    def largest(left: int) -> int:
        alone = 0
        while left:
            neighbors = [((near[v] & left).bit_count(), v) for v in range(len(near)) if left >> v & 1]
            (fewest, loneliest), (_, busiest) = min(neighbors), max(neighbors)
            if fewest > 2:  # all have two others nearby at least: try with the busiest point, then without it
                return alone + max(1 + largest(left & ~near[busiest]), largest(left & ~(1 << busiest)))
            alone, left = (
                alone + 1,
                left & ~near[loneliest],
            )  # with at most one other nearby: in some largest subset
        return alone

    return largest((1 << len(near)) - 1)


def annulus_entropy_bound(alpha: float, beta: float, eps: float, n: int) -> int:
    """Lemma 2: at most (2β/ε + 1)ⁿ − (2α/ε − 1)ⁿ points of an annulus B(0, α, β) in Rⁿ are ε-separated.

    Exact arithmetic, rounded down, so it never overflows. Open balls of radius ε/2 around the points fit into
    B(0, α − ε/2, β + ε/2) (the proof prints the radii α and β there). Its hole exists only where ε < 2α;
    beyond, the second term is void and counts as 0. The paper states ‖·‖₁, but uses only that volumes grow as
    rⁿ, so the bound holds in every norm.

    >>> annulus_entropy_bound(1.0, 2.0, eps=1.0, n=2)  # 5² − 1²
    24
    """
    _check_interval(alpha, beta)
    if not 0 < eps < math.inf:
        raise ArgumentError("eps", f"must be positive and finite, not {eps}")
    if n < 1 or n != int(n):
        raise ArgumentError("n", f"is the dimension and must be a whole number from 1 on, not {n}")
    outer = 2 * Fraction(float(beta)) / Fraction(float(eps)) + 1
    hole = max(2 * Fraction(float(alpha)) / Fraction(float(eps)) - 1, Fraction(0))
    return math.floor(outer ** int(n) - hole ** int(n))


def separation_sample_size(alpha: float, beta: float, eta: float, n: int, b: int) -> int:
    """Eq. 5 with Corollary 2: from this many points m on, a set in Rⁿ cannot be η-separated.

    All b-point subsets must be connected within [α, β]. The bound grows as a volume does: for the
    branches of the shipped encoders, in R¹⁰, it is 370,000 to 550,000 points, so it says nothing about realistic sets.
    A narrower interval needs fewer points: 59,148 for α = 1.9, β = 2, η = 2 and b = 100.

    >>> separation_sample_size(1.0, 3.0, eta=2.0, n=10, b=100)
    1048676
    """
    _check_batch_size(b)
    return annulus_entropy_bound(alpha, beta, eta, n) + b


def largest_batch_size(alpha: float, beta: float, n: int) -> float:
    """Remark 2: if all b-point subsets of 2b − 1 points in Rⁿ are connected within [α, β], b is at most this.

    Lemma 2's bound at ε = α, that is (2β/α + 1)ⁿ − 1; α = 0 allows every size (infinity).

    >>> largest_batch_size(1.0, 2.0, n=2)
    24
    """
    _check_interval(alpha, beta)
    return annulus_entropy_bound(alpha, beta, alpha, n) if alpha > 0 else math.inf


def smallest_dimension(batch_size: int, alpha: float, beta: float) -> int:
    """Remark 2 solved for n: the smallest n whose `largest_batch_size` is at least ``batch_size``.

    >>> smallest_dimension(100, alpha=1.8, beta=2.2)
    4
    """
    _check_batch_size(batch_size)
    n = 1
    while largest_batch_size(alpha, beta, n) < batch_size:  # ends by n = log₃ b + 1, as 2β/α + 1 ≥ 3
        n += 1
    return n


def rows_of(points: Points) -> Tensor:
    """Give a tensor without gradient, whatever an array's layout is; numbers that are not floats become float64."""
    if isinstance(points, np.ndarray):  # torch takes neither negative strides nor another machine's byte order
        points = np.ascontiguousarray(points, points.dtype.newbyteorder("="))
    rows = torch.as_tensor(points).detach()
    return rows if rows.is_floating_point() else rows.double()


def pairwise_distances(points: Points, p: float) -> Tensor:
    refuse_no_norm(p)
    rows = rows_of(points).double()
    if rows.ndim != 2:
        raise ArgumentError("points", f"must have shape [m, n], one row each, not {tuple(rows.shape)}")
    if not rows.isfinite().all():
        raise ArgumentError("points", "must be finite, but some coordinates are NaN or infinite: remove those rows")
    # The matrix-product form of p = 2 loses digits; then α would not equal the distance it comes from.
    return torch.cdist(rows, rows, float(p), compute_mode="donot_use_mm_for_euclid_dist").cpu()


def _distances_to_others(points: Points, p: float) -> Tensor:
    """Row z holds the m − 1 distances from z to the other points: the matrix without its diagonal."""
    distances = pairwise_distances(points, p)
    m = len(distances)
    return distances[~torch.eye(m, dtype=torch.bool)].view(m, max(m - 1, 0))


def _check_interval(alpha: float, beta: float) -> None:
    if not 0 <= alpha < math.inf:
        raise ArgumentError("alpha", f"must be at least 0 and finite, not {alpha}")
    if not alpha <= beta < math.inf:
        raise ArgumentError("beta", f"must be at least alpha = {alpha} and finite, not {beta}")


def _check_batch_size(b: int) -> None:
    if b < 2:
        raise ArgumentError("b", f"is the size of a batch and must be at least 2, not {b}")
