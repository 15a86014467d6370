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

from corel._compute.jit import jit
from corel.persistence import _ops
from corel.persistence._prim import Array, Scalar
from corel.persistence._refusals import is_real
from corel.persistence.simd.steps import add_signs

INSTRUCTIONS = "0f0508007e5d5147"  # digest of steps.py and vectors.py: see there
# What else may be at work around a call, by names that torch does not make public: without them this path stands back.
_transforms_active = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)
_modes_active = getattr(torch._C, "_len_torch_dispatch_stack", lambda: True)
_tracing = getattr(torch._C, "_is_tracing", lambda: True)


def applies(points: Any, p: float) -> TypeGuard[Tensor]:
    """Whether these are points for this path. Where they are malformed, the other one has a sentence for it."""
    return (
        is_real(p)
        and p == 1
        and type(points) in (Tensor, nn.Parameter)
        and points.is_cpu
        and points.layout == torch.strided
        and points.dtype in (torch.float32, torch.float64)
        and points.dim() >= 2
        and points.numel() >= 1
        and getattr(forward_ad, "_current_level", 0) < 0
        and not torch.compiler.is_compiling()
        and not _tracing()
        and not _transforms_active()
        and not _modes_active()
    )


def sorted_lengths(points: Tensor) -> Tensor:
    """Death times ``[..., b-1]`` of ``points [..., b, D]``, ascending, no gradient."""
    _, lengths = _ops.edges_and_powers(_clouds(points), 1.0, in_order=False)
    lengths.sort()
    return torch.from_numpy(lengths.reshape(*points.shape[:-2], points.shape[-2] - 1))


def miss_sums(points: Tensor, eta: float, *, drop_zeros: bool, together: bool = False) -> Tensor:
    """Σ_t |η - ε_t| of each cloud, ``[...]``, or of all `together`; with `drop_zeros` over the bars with a length."""
    sums: Tensor = _MissSums.apply(points, eta, drop_zeros, together)  # type: ignore[no-untyped-call]
    return sums


class _MissSums(torch.autograd.Function):
    """The gradient is found with the sums. Where it exists it is locally constant, as are the pairing (the appendix's
    lemma), the signs of the gaps and those of ε - η; so going backward is a product, which autograd can differentiate
    and batch itself.
    """

    @staticmethod
    def forward(ctx: Any, points: Tensor, eta: float, drop_zeros: bool, together: bool) -> Tensor:
        clouds = _clouds(points)
        edges, lengths = _ops.edges_and_powers(clouds, 1.0, in_order=False)
        # Summed there, the whole loss is one node: another for the sum would cost as much as the gradient.
        sums, gradients = np.empty(1 if together else len(clouds), lengths.dtype), np.zeros(clouds.shape, lengths.dtype)
        _differentiate(clouds, edges, lengths, lengths.dtype.type(eta), drop_zeros, sums, gradients)
        ctx.save_for_backward(points, torch.from_numpy(gradients.reshape(points.shape)))
        return torch.from_numpy(sums.reshape(() if together else points.shape[:-2]))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        points, gradients = ctx.saved_tensors
        # Of one number the view would say the same, and take as long as the product.
        product = gradients * (gradient[..., None, None] if gradient.dim() else gradient)
        # The points are kept for this alone: whoever differentiates again finds them in the graph, with derivative 0.
        return product + 0 * points if torch.is_grad_enabled() else product, None, None, None


def _clouds(points: Tensor) -> Array:
    """The points as ``[n, b, D]``; by numpy, which does in a moment what takes torch several."""
    values = points.numpy(force=True)
    return np.ascontiguousarray(values.reshape(-1, *values.shape[-2:]))


@jit
def _differentiate(
    clouds: Array, edges: Array, lengths: Array, eta: Scalar, drop_zeros: bool, sums: Array, gradients: Array
) -> None:
    """Write Σ |ε - η| to `sums`, one number a cloud or one in all, and add its gradient to `gradients`."""
    exact = np.zeros(len(sums))
    for k in range(len(clouds)):
        total = 0.0
        for step in range(edges.shape[1]):
            if drop_zeros and lengths[k, step] == 0:
                continue
            miss = lengths[k, step] - eta
            total += abs(miss)
            add_signs(clouds[k], gradients[k], edges[k, step, 0], edges[k, step, 1], np.sign(miss))
        exact[k % len(sums)] += total
    sums[:] = exact  # rounded here, where an overflow is an infinity without a warning
