"""Every way at hand to compute 0-dimensional persistence of a cloud under L1, behind two signatures.

`deaths` maps points ``[b, D]`` (float32) to the ascending finite death times. `edges`, where a library tells
them, maps points to the merging edges ``[b-1, 2]``; gathering through them makes the times differentiable.
A library that is differentiable itself gives `torch_deaths` instead. Each is called the fastest way its
documentation offers, and builds its complex no further than the enclosing radius where it can.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, pdist
from torch import Tensor

import corel

Points: TypeAlias = npt.NDArray[np.float32]
Values: TypeAlias = npt.NDArray[np.floating[Any]]
Pairs: TypeAlias = npt.NDArray[np.integer[Any]]

OURS = "corel"


@dataclass(frozen=True)
class Method:
    """One library: what must be importable, and what it can do with a cloud."""

    name: str
    package: str
    deaths: Callable[[Points], Values]
    edges: Callable[[Points], Pairs] | None = None
    torch_deaths: Callable[[Tensor], Tensor] | None = None

    @property
    def installed(self) -> bool:
        """Whether its package can be imported."""
        return importlib.util.find_spec(self.package) is not None

    @property
    def differentiable(self) -> bool:
        """Whether a training step can be built on it."""
        return self.edges is not None or self.torch_deaths is not None

    def cloud_deaths(self, cloud: Tensor) -> Tensor:
        """Death times of one cloud, attached to its graph where the library allows it."""
        if self.torch_deaths is not None:
            return self.torch_deaths(cloud)
        points = cloud.detach().numpy()
        if self.edges is None:
            return torch.from_numpy(self.deaths(points))
        pairs = torch.from_numpy(self.edges(points).astype(np.int64, copy=False))
        return (cloud[pairs[:, 0]] - cloud[pairs[:, 1]]).abs().sum(-1)


def _finite_deaths(diagram: Values) -> Values:
    deaths: Values = diagram[:, 1]
    return np.sort(deaths[np.isfinite(deaths)])


def _corel(points: Points) -> Values:
    deaths: Values = corel.death_times(torch.from_numpy(points)).numpy()
    return deaths


def _corel_torch(points: Points) -> Values:
    """Our kernel for devices without one of their own, here on the CPU."""
    from corel.persistence import boruvka

    cloud = torch.from_numpy(points)
    pairs = boruvka.merge_edges(boruvka.pairwise(cloud[None], 1.0))[0]
    deaths: Values = (cloud[pairs[:, 0]] - cloud[pairs[:, 1]]).abs().sum(-1).numpy()
    return deaths


def _ripser(points: Points) -> Values:
    from ripser import ripser

    return _finite_deaths(ripser(points, maxdim=0, metric="manhattan")["dgms"][0])


def _giotto(points: Points) -> Values:
    from gph import ripser_parallel

    return _finite_deaths(ripser_parallel(points, maxdim=0, metric="manhattan")["dgms"][0])


def _giotto_edges(points: Points) -> Pairs:
    from gph import ripser_parallel

    generators = ripser_parallel(points, maxdim=0, metric="manhattan", return_generators=True)["gens"][0]
    pairs: Pairs = generators[:, 1:]
    return pairs


def _gudhi(points: Points) -> Values:
    from gudhi.sklearn import RipsPersistence

    rips = RipsPersistence(homology_dimensions=0, input_type="full distance matrix")
    return _finite_deaths(rips.fit_transform([cdist(points, points, "cityblock")])[0])


def _gudhi_edges(points: Points) -> Pairs:
    import gudhi

    distances = cdist(points, points, "cityblock")
    radius = distances.max(axis=1).min()
    tree = gudhi.RipsComplex(distance_matrix=distances, max_edge_length=radius).create_simplex_tree(max_dimension=1)
    tree.compute_persistence()
    pairs: Pairs = tree.flag_persistence_generators()[0][:, 1:]
    return pairs


def _torch_topological(cloud: Tensor) -> Tensor:
    from torch_topological.nn import VietorisRipsComplex

    deaths: Tensor = VietorisRipsComplex(dim=0, p=1)(cloud)[0].diagram[:, 1]
    return deaths


def _scipy_tree(points: Points) -> Any:
    return minimum_spanning_tree(cdist(points, points, "cityblock")).tocoo()


def _sklearn_tree(points: Points) -> Any:
    """The dense Prim inside scikit-learn's HDBSCAN; with zero core distances a plain spanning tree."""
    from sklearn.cluster._hdbscan._linkage import mst_from_data_matrix
    from sklearn.metrics import DistanceMetric

    manhattan = DistanceMetric.get_metric("manhattan")
    return mst_from_data_matrix(points.astype(np.float64), np.zeros(len(points)), manhattan)


def _sklearn_edges(points: Points) -> Pairs:
    tree = _sklearn_tree(points)
    return np.stack([tree["current_node"], tree["next_node"]], axis=1)


def _dionysus(points: Points) -> Values:
    dionysus = importlib.import_module("dionysus")
    distances = pdist(points, "cityblock")
    radius = cdist(points, points, "cityblock").max(axis=1).min()
    filtration = dionysus.fill_rips(distances, 1, float(radius))
    diagram = dionysus.init_diagrams(dionysus.homology_persistence(filtration), filtration)[0]
    return _finite_deaths(np.array([(bar.birth, bar.death) for bar in diagram]))


def _algorithm_3(points: Points) -> Values:
    """The paper's parallel reduction, on the CPU.

    A column of the boundary matrix in dimension 0 has two ones or none, so it is kept as two rows; adding two columns
    with the same low leaves what they do not share. Every round makes all additions of M(B) at once.
    """
    distances = pdist(points, "cityblock")
    order = np.argsort(distances, kind="stable")
    other, low = (ends[order] for ends in np.triu_indices(len(points), 1))
    column = np.arange(len(order))  # of those that are not zero
    while True:
        _, first, group = np.unique(low, return_index=True, return_inverse=True)
        origin = first[group]  # the earliest column with the same low
        targets = origin != np.arange(len(low))
        if not targets.any():
            return np.sort(distances[order[column]])
        left, right = other[origin[targets]], other[targets]
        other[targets], low[targets] = np.minimum(left, right), np.maximum(left, right)
        kept = other != low
        other, low, column = other[kept], low[kept], column[kept]


METHODS = (
    Method(OURS, "corel", _corel, torch_deaths=corel.death_times),
    Method("corel, torch kernel", "corel", _corel_torch),
    Method("scikit-learn Prim", "sklearn", lambda x: np.sort(_sklearn_tree(x)["distance"]), edges=_sklearn_edges),
    Method("giotto-ph", "gph", _giotto, edges=_giotto_edges),
    Method(
        "torch_topological",
        "torch_topological",
        lambda x: np.sort(_torch_topological(torch.from_numpy(x)).numpy()),
        torch_deaths=_torch_topological,
    ),
    Method("gudhi", "gudhi", _gudhi, edges=_gudhi_edges),
    Method(
        "scipy",
        "scipy",
        lambda x: np.sort(_scipy_tree(x).data),
        edges=lambda x: np.stack(_scipy_tree(x).coords, axis=1),
    ),
    Method("ripser", "ripser", _ripser),
    Method("dionysus", "dionysus", _dionysus),
    Method("the paper's Algorithm 3, numpy", "numpy", _algorithm_3),
)
