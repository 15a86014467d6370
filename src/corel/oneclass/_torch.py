"""The kernels on another device, in plain torch and bounded memory: as on the CPU but for the logarithm's rounding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from corel.oneclass._kernel import FACTORS, Classes, Doubles, Integers, Points, Ranks, Standing, Window

CELLS = 1 << 24  # point × exemplar × branch weights held at once: 64 MB


def mass(points: Tensor, columns: Points, window: Window) -> NDArray[np.int64]:
    """As `_cpu.mass`."""
    return torch.cat([weights.sum(2).T for _, weights in _weights(points, columns, window)]).cpu().numpy()


def score(points: Tensor, scales: Doubles, classes: Classes) -> Doubles:
    """As `_cpu.score`."""
    own = torch.from_numpy(scales).to(points.device)
    chunks = _weights(points, classes.exemplars, classes.window)
    return torch.cat([_scores(weights, own[rows], classes) for rows, weights in chunks]).cpu().numpy()


def rank(points: Tensor, scales: Doubles, classes: Classes, standing: Standing) -> Ranks:
    """As `_cpu.rank`."""
    own, others, factors = (torch.from_numpy(values).to(points.device) for values in (scales, *standing))
    offsets, parts = classes.offsets, []
    for rows, weights in _weights(points, classes.exemplars, classes.window):
        scores = _scores(weights, own[rows], classes)
        raised = _combine(weights + others[:, None], factors[:, None], classes.logarithmic)
        bar = scores[:, _owners(offsets, points.device)]
        parts.append((scores, _per_class(raised < bar, offsets), _per_class(raised == bar, offsets)))
    return Ranks(*(torch.cat(column).cpu().numpy() for column in zip(*parts, strict=True)))


def _weights(points: Tensor, columns: Points, window: Window) -> Iterator[tuple[slice, Tensor]]:
    """Give chunks of rows and, for each, the exemplars' weights at its points `[B, rows, M]`."""
    exemplars = torch.from_numpy(columns).to(points.device)
    step = max(1, CELLS // max(1, exemplars.shape[0] * exemplars.shape[2]))
    for start in range(0, max(1, len(points)), step):
        chunk = points[start : start + step]
        weights = [_weigh(_distances(chunk[:, j], branch, window), window) for j, branch in enumerate(exemplars)]
        yield slice(start, start + step), torch.stack(weights)


def _distances(points: Tensor, exemplars: Tensor, window: Window) -> Tensor:
    """Distances `[rows, M]` of `points [rows, D]` to `exemplars [D, M]`, as the window weighs them.

    L1 distances add the coordinates in their order. Products of unit vectors are exact in any order, in float64 also
    where matrix products of float32 are allowed to round more.
    """
    if window.largest:
        return float(window.largest) - (points.double() @ exemplars.double()).float()
    total = points.new_zeros(len(points), exemplars.shape[1])
    for coordinate, values in zip(points.unbind(1), exemplars, strict=True):
        total += (coordinate[:, None] - values).abs_()
    return total


def _weigh(distances: Tensor, window: Window) -> Tensor:
    if not len(window.weights):
        return (distances <= float(window.radius)).int()
    table = torch.from_numpy(window.weights).to(distances.device)
    return table[(distances * float(window.steps)).clamp_(max=len(table) - 1).long()]


def _scores(weights: Tensor, scales: Tensor, classes: Classes) -> Tensor:
    masses = torch.stack([_per_class(branch, classes.offsets) for branch in weights])
    return _combine(masses, scales.T[:, :, None], classes.logarithmic)


def _combine(masses: Tensor, scales: Tensor, logarithmic: bool) -> Tensor:
    """Add up the branches, the first dimension, as the CPU's kernels do."""
    if not logarithmic:
        return masses.sum(0).double()
    chunks = torch.split(masses * scales + 1.0, FACTORS)
    return sum((_product(chunk).log() for chunk in chunks), torch.zeros((), device=masses.device))


def _product(factors: Tensor) -> Tensor:
    total = factors[0].clone()
    for factor in factors[1:]:
        total *= factor
    return total


def _per_class(values: Tensor, offsets: Integers) -> Tensor:
    """Sums over the exemplars of each class `[rows, C]`."""
    sums = torch.zeros(len(values), len(offsets) - 1, dtype=torch.int64, device=values.device)
    return sums.index_add_(1, _owners(offsets, values.device), values.long())


def _owners(offsets: Integers, device: torch.device) -> Tensor:
    sizes = torch.from_numpy(np.diff(offsets)).to(device)
    return torch.repeat_interleave(torch.arange(len(sizes), device=device), sizes)
