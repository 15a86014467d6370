"""L1 death times on the CPU without torch's operators, the case of nearly every training step.

Prim's algorithm has the lengths in hand when it picks the edges. Numpy hands both over in a fraction of the time that
torch's dispatcher needs. The connectivity loss builds its gradient on the same two functions.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor, nn

from corel._compute.torch_internals import is_plain_eager
from corel.persistence import ops
from corel.persistence.checks import is_real
from corel.persistence.prim import Array


def applies(points: Any, p: float) -> TypeGuard[Tensor]:
    """Whether `points` may take this path. Malformed input may not: the general path reports it."""
    return (
        is_real(p)
        and p == 1
        and type(points) in (Tensor, nn.Parameter)
        and points.is_cpu
        and points.layout == torch.strided
        and points.dtype in (torch.float32, torch.float64)
        and points.dim() >= 2
        and points.numel() >= 1
        and is_plain_eager()
    )


def sorted_lengths(points: Tensor) -> Tensor:
    """Death times ``[..., b-1]`` of ``points [..., b, D]``, ascending, without a gradient."""
    _, _, lengths = merge(points)
    lengths.sort()
    return torch.from_numpy(lengths.reshape(*points.shape[:-2], points.shape[-2] - 1))


def merge(points: Tensor) -> tuple[Array, Array, Array]:
    """The clouds ``[n, b, D]`` of `points`, their merging edges and the edges' lengths, in no promised order."""
    values = points.numpy(force=True)
    clouds = np.ascontiguousarray(values.reshape(-1, *values.shape[-2:]))
    return clouds, *ops.edges_and_powers(clouds, 1.0, in_order=False)
