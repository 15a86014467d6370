"""The tight interval of Lemma 1 for a given set, by vertex connectivity; proofs are in docs/theory.md.

All b-point subsets of m points are connected at β exactly when the graph {d ≤ β} is (m − b + 1)-vertex-connected.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from corel._errors import ArgumentError
from corel.theory._statements import Points, pairwise_distances

Matrix: TypeAlias = npt.NDArray[Any]


class Interval(NamedTuple):
    """α and β: every death time of every b-point subset lies between them."""

    alpha: float
    beta: float


class BetaBounds(NamedTuple):
    """The tight β lies between these."""

    lower: float
    upper: float


def exact_interval(points: Points, b: int, p: float = 1.0) -> Interval:
    """The tight (α*, β*) within which all b-point subsets of ``points [m, n]`` are connected.

    α* is the smallest pairwise distance. β* is the smallest β whose graph {d ≤ β} is (m − b + 1)-vertex-connected,
    found by bisection over the distances; each test takes some hundred maximum flows. It speaks of this set alone.

    >>> exact_interval(np.array([[0.0], [1.0], [4.0]]), b=2)
    Interval(alpha=1.0, beta=4.0)
    """
    distances = _checked(points, b, p)
    m = len(distances)
    pairs = distances[np.triu_indices(m, 1)]
    bounds = _beta_bounds(distances, b)
    candidates = np.unique(pairs[(bounds.lower <= pairs) & (pairs <= bounds.upper)])
    low, high = 0, len(candidates) - 1  # the upper bound always suffices
    while low < high:
        middle = (low + high) // 2
        if is_vertex_connected(distances <= candidates[middle], m - b + 1):
            high = middle
        else:
            low = middle + 1
    return Interval(float(pairs.min()), float(candidates[high]))


def beta_bounds(points: Points, b: int, p: float = 1.0) -> BetaBounds:
    """Bounds of the tight β* of `exact_interval` in O(m²): two order statistics of the distances from each point.

    From below, the largest over z of the (m − b + 1)-th smallest distance from z, by Whitney's κ ≤ δ (Corollary 1).
    From above, the same with the ⌈m − (b + 1)/2⌉-th, by κ ≥ 2δ − m + 2.

    >>> beta_bounds(np.array([[0.0], [1.0], [4.0]]), b=3)
    BetaBounds(lower=3.0, upper=3.0)
    """
    return _beta_bounds(_checked(points, b, p), b)


def diameter_bound(m: int, b: int, beta: float) -> float:
    """No two of m points are farther apart, if all b-point subsets are connected at β: at most 2β from m = 2b − 3 on.

    >>> diameter_bound(197, 100, beta=1.0)
    2.0
    """
    _check_sizes(m, b)
    return ((m - 2) // (m - b + 1) + 1) * beta


def stability_radius(points: Points, p: float = 1.0, *, moving: Literal["one", "all"] = "all") -> float:
    """The radius within which points may move without a change of the pairing, each by less than this in the norm p.

    With μ the smallest difference between two pairwise distances it is μ/2 if one point moves (the appendix's first
    lemma) and μ/4 if all do. Equal distances give 0, and fewer than three points infinity.

    >>> stability_radius(np.array([[0.0], [1.0], [4.0]]), moving="one")
    0.5
    """
    if moving not in ("one", "all"):
        raise ArgumentError("moving", f'must be "one" or "all", got {moving!r}')
    distances = pairwise_distances(points, p).numpy()
    gaps = np.diff(np.sort(distances[np.triu_indices(len(distances), 1)]))
    smallest = float(gaps.min()) if len(gaps) else math.inf
    return smallest / (2 if moving == "one" else 4)


def is_vertex_connected(graph: Matrix, k: int) -> bool:
    """Whether a graph, as a symmetric matrix of truths, stays connected without any k − 1 of its vertices.

    Even's test. A cut of fewer than k vertices misses one of the first k. So it separates two of them, or all that it
    leaves of them from some other vertex; a maximum flow finds either.
    """
    m = len(graph)
    if k >= m or (graph.sum(1) - graph.diagonal() < k).any():
        return False
    network = _flow_network(graph, sources=k)
    others = ((2 * m, j) for j in range(k, m))
    among = ((m + i, j) for i, j in itertools.combinations(range(k), 2) if not graph[i, j])
    return all(maximum_flow(network, *ends).flow_value >= k for ends in itertools.chain(others, among))


def _flow_network(graph: Matrix, sources: int) -> Any:
    """Unit capacities. Vertex v is an arc from v to m + v, so that one path may use it; 2m leads to the first ones."""
    m = len(graph)
    network = np.zeros((2 * m + 1, 2 * m + 1), np.int32)
    network[m : 2 * m, :m] = graph
    network[range(m, 2 * m), range(m)] = 0
    network[range(m), range(m, 2 * m)] = 1
    network[2 * m, :sources] = 1
    return csr_array(network)


def _beta_bounds(distances: Matrix, b: int) -> BetaBounds:
    m = len(distances)
    ordered = np.sort(distances, axis=1)  # column k has the k-th smallest distance to another; column 0 is z itself
    return BetaBounds(*(float(ordered[:, k].max()) for k in (m - b + 1, math.ceil(m - (b + 1) / 2))))


def _checked(points: Points, b: int, p: float) -> Matrix:
    distances: Matrix = pairwise_distances(points, p).numpy()
    _check_sizes(len(distances), b)
    return distances


def _check_sizes(m: int, b: int) -> None:
    if not 2 <= b <= m:
        raise ArgumentError("b", f"must be from 2 to the number of points, which is {m}, got {b}")
