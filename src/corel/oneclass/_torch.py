"""The counting kernels on another device, in plain torch and bounded memory.

The device compares distances and adds; logarithms are taken on the CPU by the same code as ever. Scores and
ranks are therefore those of the CPU to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from corel.oneclass import _kernel
from corel.oneclass._cpu import Ranks
from corel.oneclass._kernel import Doubles, Integers, Points

CELLS = 1 << 26  # point × exemplar × branch comparisons held at once: 64 MB of booleans, half as much of each double


def count(points: Tensor, columns: Points, radius: float) -> NDArray[np.int64]:
    """As `_cpu.count`."""
    parts = [inside.sum(2).T for _, inside in _inside(points, columns, radius)]
    return torch.cat(parts).cpu().numpy()


def score(
    points: Tensor, columns: Points, offsets: Integers, radius: float, weights: Doubles, logarithmic: bool
) -> Doubles:
    """As `_cpu.score`."""
    chunks = _inside(points, columns, radius)
    return np.concatenate([_scores(inside, offsets, weights[rows], logarithmic) for rows, inside in chunks])


def rank(
    points: Tensor,
    columns: Points,
    offsets: Integers,
    radius: float,
    weights: Doubles,
    logarithmic: bool,
    apart: Doubles,
    joined: Doubles,
) -> Ranks:
    """As `_cpu.rank`."""
    alone, together = (torch.from_numpy(values).to(points.device) for values in (apart, joined))
    parts = []
    for rows, inside in _inside(points, columns, radius):
        scores = _scores(inside, offsets, weights[rows], logarithmic)
        raised = torch.zeros(inside.shape[1:], dtype=torch.float64, device=points.device)
        for branch, low, high in zip(inside, alone, together, strict=True):
            raised += torch.where(branch, high, low)
        own = torch.from_numpy(scores).to(points.device)[:, _owners(offsets, points.device)]
        parts.append((scores, _per_class(raised < own, offsets), _per_class(raised == own, offsets)))
    return Ranks(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _inside(points: Tensor, columns: Points, radius: float) -> Iterator[tuple[slice, Tensor]]:
    """Row chunks and, `[B, rows, M]`, which exemplars lie within `radius`; coordinates are added in their order."""
    exemplars = torch.from_numpy(columns).to(points.device)
    step = max(1, CELLS // max(1, exemplars.shape[0] * exemplars.shape[2]))
    for start in range(0, max(1, len(points)), step):
        chunk = points[start : start + step]
        inside = [_distances(chunk[:, j], branch) <= radius for j, branch in enumerate(exemplars)]
        yield slice(start, start + step), torch.stack(inside)


def _distances(points: Tensor, exemplars: Tensor) -> Tensor:
    """L1 distances `[rows, M]` of `points [rows, D]` to `exemplars [D, M]`."""
    total = points.new_zeros(len(points), exemplars.shape[1])
    for coordinate, values in zip(points.unbind(1), exemplars, strict=True):
        total += (coordinate[:, None] - values).abs_()
    return total


def _scores(inside: Tensor, offsets: Integers, weights: Doubles, logarithmic: bool) -> Doubles:
    counts = np.stack([_per_class(branch, offsets) for branch in inside], axis=-1)
    rows, classes, branches = counts.shape
    terms = np.empty((rows * classes, branches))
    _kernel.branch_terms(counts.reshape(-1, branches), np.repeat(weights, classes, axis=0), logarithmic, terms)
    return np.add.accumulate(terms, axis=1)[:, -1].reshape(rows, classes)


def _per_class(flags: Tensor, offsets: Integers) -> NDArray[np.int64]:
    """How many of the exemplars of each class are flagged `[rows, C]`."""
    sums = torch.zeros(len(flags), len(offsets) - 1, dtype=torch.int64, device=flags.device)
    return sums.index_add_(1, _owners(offsets, flags.device), flags.long()).cpu().numpy()


def _owners(offsets: Integers, device: torch.device) -> Tensor:
    sizes = torch.from_numpy(np.diff(offsets)).to(device)
    return torch.repeat_interleave(torch.arange(len(sizes), device=device), sizes)
