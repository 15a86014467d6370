"""The branched layer: one linear map a branch, none between them."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from corel._errors import ArgumentError

LANES = 32  # a multiple of every processor's vector of float32


class BranchedLinear(nn.Module):
    """The paper's I-Linear: a linear layer with a block-diagonal matrix, stored as its blocks.

    Branch j sees the j-th part of the input alone and gives the j-th part of the output. Always computed in float32,
    also under autocast: rounding latents to half precision would move the death times.

    Example:
        >>> layer = BranchedLinear(2048, 160, branches=16)
        >>> sum(p.numel() for p in layer.parameters())  # a dense layer has 327,840
        20640

    """

    def __init__(self, in_features: int, out_features: int, branches: int) -> None:
        super().__init__()
        if branches < 1 or in_features % branches or out_features % branches:
            raise ArgumentError(
                "branches",
                f"is {branches}, which does not divide {in_features} inputs and {out_features} outputs; "
                "choose a number that divides both",
            )
        # The authors draw from the bound of the full fan-in, as if the zeros off the diagonal were weights.
        bound = 1 / math.sqrt(in_features)
        blocks = (branches, in_features // branches, out_features // branches)
        self.weight = nn.Parameter(torch.empty(blocks).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(branches, 1, out_features // branches).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Map ``[n, in_features]`` to ``[n, out_features]``."""
        with torch.autocast(x.device.type, enabled=False):
            branches = x.float().reshape(x.shape[0], *self.weight.shape[:2]).transpose(0, 1)
            if torch.is_grad_enabled() or torch.compiler.is_compiling():
                return torch.baddbmm(self.bias, branches, self.weight).transpose(0, 1).flatten(1)
            return self._in_lanes(branches)[:, :, : len(x)].permute(2, 0, 1).flatten(1)

    def _in_lanes(self, branches: Tensor) -> Tensor:
        """Map ``[B, n, in]`` to ``[B, out, n or more]`` with an item a lane.

        A matrix product may sum a row in another order at another place of the batch. Here items are columns, padded to
        full vectors, and all are summed in the same order: the result for an item does not depend on its batch.
        """
        padded = nn.functional.pad(branches, (0, 0, 0, -branches.shape[1] % LANES))
        return torch.baddbmm(self.bias.mT, self.weight.mT, padded.mT)
