"""The connectivity loss for p = 1 on the CPU as one node of the graph, with its gradient.

The L1 gradient of a length is a vector of signs, so value and gradient come from one pass over the edges. The general
path makes a dozen nodes, and their bookkeeping takes longer than their arithmetic. It serves everything else: other
norms and devices, derivatives of death times, forward mode, compile, export, func.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from corel._compute.jit import jit
from corel.persistence import direct_l1
from corel.persistence.prim import Array, Scalar


def miss_sums(points: Tensor, eta: float, *, drop_zeros: bool, together: bool = False) -> Tensor:
    """Σ_t |η - ε_t| of each cloud, ``[...]``, or of all `together`; `drop_zeros` leaves out bars of length zero.

    Only for points that `direct_l1.applies` to.
    """
    sums: Tensor = _MissSums.apply(points, eta, drop_zeros, together)  # type: ignore[no-untyped-call]
    return sums


class _MissSums(torch.autograd.Function):
    """Computes the sums and their gradient in one pass.

    Where the gradient exists it is locally constant: so are the pairing (the appendix's first lemma), the signs of the
    coordinate gaps and the signs of ε - η. Backward is therefore a product, which autograd can differentiate and batch.
    """

    @staticmethod
    def forward(ctx: Any, points: Tensor, eta: float, drop_zeros: bool, together: bool) -> Tensor:
        clouds, edges, lengths = direct_l1.merge(points)
        # Summing here keeps the loss a single node: a separate sum would cost as much as the gradient.
        sums, gradients = np.empty(1 if together else len(clouds), lengths.dtype), np.zeros(clouds.shape, lengths.dtype)
        _differentiate(clouds, edges, lengths, lengths.dtype.type(eta), drop_zeros, sums, gradients)
        ctx.save_for_backward(points, torch.from_numpy(gradients.reshape(points.shape)))
        return torch.from_numpy(sums.reshape(() if together else points.shape[:-2]))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        points, gradients = ctx.saved_tensors
        # A scalar broadcasts by itself; making a view of it would take as long as the product.
        product = gradients * (gradient[..., None, None] if gradient.dim() else gradient)
        # The points are saved only for this: a second derivative finds them in the graph, with derivative 0.
        return product + 0 * points if torch.is_grad_enabled() else product, None, None, None


@jit
def _differentiate(
    clouds: Array, edges: Array, lengths: Array, eta: Scalar, drop_zeros: bool, sums: Array, gradients: Array
) -> None:
    """Write Σ |ε - η| to `sums`, one number per cloud or one in total, and add its gradient to `gradients`."""
    exact, signs = np.zeros(len(sums)), np.empty(clouds.shape[2], clouds.dtype)
    for k in range(len(clouds)):
        total = 0.0
        for step in range(edges.shape[1]):
            if drop_zeros and lengths[k, step] == 0:
                continue
            miss = lengths[k, step] - eta
            total += abs(miss)
            slope, i, j = np.sign(miss), edges[k, step, 0], edges[k, step, 1]
            x, y, at_x, at_y = clouds[k, i], clouds[k, j], gradients[k, i], gradients[k, j]
            # Three loops vectorize where one does not: the compiler must assume that the gradients overlap.
            for d in range(len(signs)):
                signs[d] = slope * np.sign(x[d] - y[d])
            for d in range(len(signs)):
                at_x[d] += signs[d]
            for d in range(len(signs)):
                at_y[d] -= signs[d]
        exact[k % len(sums)] += total
    sums[:] = exact  # rounded here, where an overflow is an infinity without a warning
