"""Death times and their misses of η for p = 1 on the CPU, the case of nearly every training step.

Prim has the lengths in hand when it picks the edges, and the gradient is a sum of signs: kept together they are one
node of the graph in place of a dozen, whose bookkeeping costs more than their arithmetic. Everything else (other norms
and devices, derivatives of death times, forward mode, compile, export, func) takes the operators and `edge_lengths`.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

from corel._jit import jit
from corel.persistence import _ops
from corel.persistence._numba import Array, Scalar

# What else may be at work around a call, by names that torch does not make public: without them this path stands back.
_transforms_active = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)
_modes_active = getattr(torch._C, "_len_torch_dispatch_stack", lambda: True)
_tracing = getattr(torch._C, "_is_tracing", lambda: True)
_is_legacy_batch = getattr(torch._C._functorch, "is_legacy_batchedtensor", lambda _: True)


def applies(points: Any, p: float) -> TypeGuard[Tensor]:
    """Whether these are points for this path. Where they are malformed, the other one has a sentence for it."""
    return (
        p == 1
        and type(points) in (Tensor, nn.Parameter)
        and points.device.type == "cpu"
        and points.layout == torch.strided
        and points.dtype in (torch.float32, torch.float64)
        and points.dim() >= 2
        and min(points.shape[-2:]) >= 1
        and getattr(forward_ad, "_current_level", 0) < 0
        and not torch.compiler.is_compiling()
        and not _tracing()
        and not _transforms_active()
        and not _modes_active()
    )


def merge_lengths(points: Tensor) -> Tensor:
    """Death times ``[..., b-1]`` of ``points [..., b, D]``, ascending, no gradient."""
    _, lengths = _ops.edges_and_powers(_clouds(points), 1.0)
    return torch.from_numpy(lengths).reshape(*points.shape[:-2], points.shape[-2] - 1)


def miss_sums(points: Tensor, eta: float, *, drop_zeros: bool) -> Tensor:
    """Σ_t |η - ε_t| of each cloud, ``[...]``; with `drop_zeros` over the bars that have a length."""
    sums: Tensor = _MissSums.apply(points, eta, drop_zeros)  # type: ignore[no-untyped-call]
    return sums


class _MissSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, points: Tensor, eta: float, drop_zeros: bool) -> Tensor:
        clouds = _clouds(points)
        edges, lengths = _ops.edges_and_powers(clouds, 1.0)
        sums, slopes = np.empty(len(lengths), lengths.dtype), np.empty_like(lengths)
        _miss(lengths, lengths.dtype.type(eta), drop_zeros, sums, slopes)
        ctx.save_for_backward(points, torch.from_numpy(edges), torch.from_numpy(slopes))
        return torch.from_numpy(sums).reshape(points.shape[:-2])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        points, edges, slopes = ctx.saved_tensors
        # A gradient that will be differentiated, or that is many at once, needs operators that know how.
        if torch.is_grad_enabled() or _transforms_active() or _is_legacy_batch(gradient):
            clouds = points.reshape(-1, *points.shape[-2:])
            spread = _spread_by_torch(clouds, edges, slopes * gradient.reshape(-1, 1))
        else:
            forces, each = np.zeros((len(edges), *points.shape[-2:]), slopes.numpy().dtype), gradient.reshape(-1)
            clouds = _clouds(points)
            _spread(clouds.numpy(), edges.numpy(), slopes.numpy(), each.contiguous().resolve_neg().numpy(), forces)
            spread = torch.from_numpy(forces)
        return spread.reshape(points.shape), None, None


def _clouds(points: Tensor) -> Tensor:
    return points.detach().reshape(-1, *points.shape[-2:]).contiguous().resolve_neg()


@jit
def _miss(lengths: Array, eta: Scalar, drop_zeros: bool, sums: Array, slopes: Array) -> None:
    """Σ |ε - η| of each row of lengths, and the sign of every ε - η: 0 for a bar that is dropped."""
    for k in range(lengths.shape[0]):
        total = 0.0
        for step in range(lengths.shape[1]):
            miss = lengths[k, step] - eta
            if drop_zeros and lengths[k, step] == 0:
                miss = eta - eta
            total += abs(miss)
            slopes[k, step] = np.sign(miss)
        sums[k] = total


def _spread_by_torch(clouds: Tensor, edges: Tensor, weights: Tensor) -> Tensor:
    """Each edge pushes its ends apart with its weight, along the sign of every coordinate of the gap."""
    i, j = (end[..., None].expand(-1, -1, clouds.shape[-1]) for end in edges.unbind(-1))
    forces = weights[..., None] * (clouds.gather(1, i) - clouds.gather(1, j)).sign()
    return torch.zeros_like(clouds).scatter_add(1, i, forces).scatter_add(1, j, -forces)


@jit
def _spread(clouds: Array, edges: Array, slopes: Array, gradient: Array, forces: Array) -> None:
    """The same, added to `forces`, with the weight of an edge its slope times its cloud's gradient."""
    for k in range(clouds.shape[0]):
        for step in range(edges.shape[1]):
            i, j = edges[k, step]
            weight = slopes[k, step] * gradient[k]
            for d in range(clouds.shape[2]):
                gap = clouds[k, i, d] - clouds[k, j, d]
                force = (gap > 0) * weight - (gap < 0) * weight  # no branch: signs are impossible to guess
                forces[k, i, d] += force
                forces[k, j, d] -= force
