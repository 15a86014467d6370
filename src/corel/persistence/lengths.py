"""Lengths of given edges, differentiable any number of times, even where points coincide.

The plain vector norm has NaN second derivatives there: of a zero vector for p = 2, of any zero coordinate for
1 < p < 2. For p = 2 a zero coordinate of another vector has derivatives as any other coordinate. A length of zero has
no gradient here, the subgradient that leaves duplicates where they are.
"""

from __future__ import annotations

import torch
from torch import Tensor


def edge_lengths(points: Tensor, edges: Tensor, p: float) -> Tensor:
    """‖z_i - z_j‖_p as ``[..., b-1]`` for ``points [..., b, D]`` and ``edges [..., b-1, 2]``."""
    ends = edges[..., None].expand(*edges.shape, points.shape[-1])
    return norm(points.gather(-2, ends[..., 0, :]) - points.gather(-2, ends[..., 1, :]), p)


def norm(gap: Tensor, p: float) -> Tensor:
    """‖gap‖_p over the last dimension, with zero derivatives of every order where it is not smooth."""
    if p == 1:
        return gap.abs().sum(-1)
    if p == torch.inf:
        return gap.abs().amax(-1)
    # The largest coordinate is taken out first: a high power of a small number would vanish.
    largest = gap.detach().abs().amax(-1, keepdim=True)
    unit = torch.where(largest > 0, largest, 1)
    powers = (gap / unit).square() if p == 2 else _power(gap.abs() / unit, p)  # a square is smooth at 0
    return unit.squeeze(-1) * _power(powers.sum(-1), 1 / p)


def _power(base: Tensor, exponent: float) -> Tensor:
    positive = base > 0
    return torch.where(positive, torch.where(positive, base, 1) ** exponent, 0)
