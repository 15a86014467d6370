"""The connectivity loss, Eq. 4 of the paper: every death time is pulled to η."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from corel._errors import ArgumentError, ArgumentTypeError
from corel.losses import _fused_l1
from corel.persistence import direct_l1
from corel.persistence.api import merge_lengths
from corel.persistence.checks import is_real

Reduction = Literal["sum", "mean", "none"]
ZeroBars = Literal["keep", "drop"]


def connectivity_loss(
    z: Tensor | None = None,
    eta: float = 2.0,
    p: float = 1.0,
    reduction: Reduction = "sum",
    zero_bars: ZeroBars = "keep",
    *,
    distances: Tensor | None = None,
) -> Tensor:
    """L_η = Σ_t |η - ε_t| of each cloud (Eq. 4), reduced over the clouds.

    Args:
        z: clouds ``[..., b, D]``; each contributes one loss.
        eta: the death time to reach, the same unit as the distances.
        p: the norm.
        reduction: "sum" over clouds is the paper's text, "mean" the authors' code, "none" keeps ``[...]``.
        zero_bars: "keep" counts a pair of duplicates as |η - 0|, "drop" leaves it out as the authors did. Either
            way it has no gradient.
        distances: in place of z, symmetric matrices ``[..., b, b]``.

    >>> z = torch.tensor([[0.0], [1.0], [4.0]], requires_grad=True)
    >>> connectivity_loss(z, eta=2.0)
    tensor(2., grad_fn=<_MissSumsBackward>)
    """
    if not is_real(eta) or not 0 < eta < math.inf:
        raise ArgumentError(
            "eta", f"must be a positive number, not {eta!r}: the distance at which components should merge"
        )
    eta = float(eta)
    if zero_bars not in ("keep", "drop"):
        raise ArgumentError("zero_bars", f'must be "keep" or "drop", not {zero_bars!r}')
    if reduction not in ("sum", "mean", "none"):
        raise ArgumentError("reduction", f'must be "sum", "mean" or "none", not {reduction!r}')
    if distances is None and direct_l1.applies(z, p):
        losses = _fused_l1.miss_sums(z, eta, drop_zeros=zero_bars == "drop", together=reduction != "none")
        return losses / math.prod(z.shape[:-2]) if reduction == "mean" else losses
    # Autocast would round the distances to half precision; the pairing and its lengths must see the same numbers.
    with torch.autocast(_device_type(z, distances), enabled=False):
        deaths = merge_lengths(z, p, distances=distances)
        misses = (eta - deaths).abs()
        if zero_bars == "drop":
            misses = misses.where(deaths > 0, 0)
        return _reduced(misses.sum(-1), reduction)


class ConnectivityLoss(nn.Module):
    """`connectivity_loss` on latents ``[b, branches·D]``, one cloud a branch.

    >>> loss = ConnectivityLoss(eta=2.0, branches=16)
    >>> loss(torch.randn(100, 160)).shape
    torch.Size([])
    """

    def __init__(
        self,
        eta: float = 2.0,
        branches: int = 1,
        p: float = 1.0,
        reduction: Reduction = "sum",
        zero_bars: ZeroBars = "keep",
    ) -> None:
        super().__init__()
        self.eta, self.branches, self.p = eta, branches, p
        self.reduction: Reduction = reduction
        self.zero_bars: ZeroBars = zero_bars

    def forward(self, z: Tensor) -> Tensor:
        """The loss of one batch of latents."""
        return connectivity_loss(split_branches(z, self.branches), self.eta, self.p, self.reduction, self.zero_bars)

    def extra_repr(self) -> str:
        """The parameters, for print()."""
        names = ("eta", "branches", "p", "reduction", "zero_bars")
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)


def split_branches(z: Tensor, branches: int) -> Tensor:
    """Latents ``[b, branches·D]`` as clouds ``[branches, b, D]``: Algorithm 4's slices, all at once."""
    if not isinstance(z, Tensor):
        raise ArgumentTypeError(
            "latents", f"must be a torch tensor, not {type(z).__name__}: use torch.as_tensor(latents)"
        )
    if z.dim() != 2 or branches < 1 or z.shape[1] % branches:
        raise ArgumentError("latents", f"must be [b, branches·D] with {branches} branches, not {[*z.shape]}")
    return z.reshape(z.shape[0], branches, z.shape[1] // branches).transpose(0, 1)


def _reduced(losses: Tensor, reduction: Reduction) -> Tensor:
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


def _device_type(z: Tensor | None, distances: Tensor | None) -> str:
    given = z if distances is None else distances
    # Autocast does not know the meta device, and what is no tensor is refused elsewhere.
    return given.device.type if isinstance(given, Tensor) and not given.is_meta else "cpu"
