"""The connectivity loss, Eq. 4 of the paper: every death time is pulled to η."""

from __future__ import annotations

import math
import operator
from typing import SupportsIndex

import torch
from torch import Tensor, nn

from corel._errors import ArgumentError, ArgumentTypeError
from corel.losses import _fused_l1
from corel.losses.presets import PRESETS, BranchReduction, ZeroBars
from corel.persistence import direct_l1
from corel.persistence.api import merge_lengths
from corel.persistence.checks import is_real, refuse_no_norm


def connectivity_loss(
    points: Tensor | None = None,
    eta: float = 2.0,
    p: float = 1.0,
    branch_reduction: BranchReduction = "mean",
    zero_bars: ZeroBars = "drop",
    *,
    distances: Tensor | None = None,
) -> Tensor:
    """L_η = Σ_t |η - ε_t| of each cloud (Eq. 4), by default averaged over the clouds.

    The defaults are those of `TrainConfig`, so that a weight λ means the same in both.

    Args:
        points: clouds ``[..., b, D]``; each contributes one loss.
        eta: the death time to reach, the same unit as the distances.
        p: the norm.
        branch_reduction: how the losses of the clouds, one per branch, become one: "mean" as in the authors' code,
            "sum" as in the paper's text, "none" keeps ``[...]``.
        zero_bars: "drop" leaves out pairs of duplicates as the authors did, "keep" counts each as |η - 0|. Either way
            they have no gradient.
        distances: in place of points, symmetric matrices ``[..., b, b]``.

    >>> z = torch.tensor([[0.0], [1.0], [4.0]], requires_grad=True)
    >>> connectivity_loss(z, eta=2.0).item()
    2.0
    """
    _check_settings(eta, branch_reduction, zero_bars)
    eta = float(eta)
    if distances is None and direct_l1.applies(points, p):
        losses = _fused_l1.miss_sums(points, eta, drop_zeros=zero_bars == "drop", together=branch_reduction != "none")
        return losses / math.prod(points.shape[:-2]) if branch_reduction == "mean" else losses
    # Autocast would round the distances to half precision; the pairing and its lengths must see the same numbers.
    with torch.autocast(_device_type(points, distances), enabled=False):
        deaths = merge_lengths(points, p, distances=distances)
        misses = (eta - deaths).abs()
        if zero_bars == "drop":
            misses = misses.where(deaths > 0, 0)
        return _reduced(misses.sum(-1), branch_reduction)


class ConnectivityLoss(nn.Module):
    """`connectivity_loss` on latents ``[b, branches·D]``, one cloud per branch.

    The default is the preset "authors", as in `TrainConfig`: the mean over branches, without bars of length zero. The
    preset "paper" sums over branches and counts those bars. `branch_reduction` and `zero_bars` override the preset.

    >>> loss = ConnectivityLoss(eta=2.0, branches=16)
    >>> loss(torch.randn(100, 160)).shape
    torch.Size([])
    """

    def __init__(
        self,
        eta: float = 2.0,
        branches: int = 1,
        p: float = 1.0,
        branch_reduction: BranchReduction | None = None,
        zero_bars: ZeroBars | None = None,
        *,
        preset: str = "authors",
    ) -> None:
        super().__init__()
        if preset not in PRESETS:
            raise ArgumentError("preset", f"must be one of {', '.join(PRESETS)}, got {preset!r}")
        self.eta, self.branches, self.p = eta, _whole_number(branches), p
        self.branch_reduction: BranchReduction = branch_reduction or PRESETS[preset]["branch_reduction"]
        self.zero_bars: ZeroBars = zero_bars or PRESETS[preset]["zero_bars"]
        _check_settings(eta, self.branch_reduction, self.zero_bars)  # here too, before data are loaded and encoded
        refuse_no_norm(p)
        if self.branches < 1:
            raise ArgumentError("branches", f"must be at least 1, not {branches}")

    def forward(self, latents: Tensor) -> Tensor:
        """The loss of one batch of latents."""
        clouds = split_branches(latents, self.branches)
        return connectivity_loss(clouds, self.eta, self.p, self.branch_reduction, self.zero_bars)

    def extra_repr(self) -> str:
        """The parameters, for print()."""
        names = ("eta", "branches", "p", "branch_reduction", "zero_bars")
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)


def split_branches(latents: Tensor, branches: int) -> Tensor:
    """Latents ``[b, branches·D]`` as clouds ``[branches, b, D]``: Algorithm 4's slices, all at once."""
    if not isinstance(latents, Tensor):
        raise ArgumentTypeError(
            "latents", f"must be a torch tensor, not {type(latents).__name__}: use torch.as_tensor(latents)"
        )
    if latents.dim() != 2 or branches < 1 or latents.shape[1] % branches:
        raise ArgumentError("latents", f"must be [b, branches·D] with {branches} branches, not {[*latents.shape]}")
    return latents.reshape(latents.shape[0], branches, latents.shape[1] // branches).transpose(0, 1)


def _check_settings(eta: float, branch_reduction: BranchReduction, zero_bars: ZeroBars) -> None:
    if not is_real(eta) or not 0 < eta < math.inf:
        raise ArgumentError(
            "eta", f"must be a positive number, not {eta!r}: the distance at which components should merge"
        )
    if zero_bars not in ("keep", "drop"):
        raise ArgumentError("zero_bars", f'must be "keep" or "drop", not {zero_bars!r}')
    if branch_reduction not in ("sum", "mean", "none"):
        raise ArgumentError("branch_reduction", f'must be "mean", "sum" or "none", not {branch_reduction!r}')


def _whole_number(branches: SupportsIndex) -> int:
    """Give an int; numpy's integers are taken too."""
    try:
        return operator.index(branches)
    except TypeError:
        raise ArgumentError(
            "branches", f"must be a whole number, not {branches!r}: latents are split into so many clouds"
        ) from None


def _reduced(losses: Tensor, reduction: BranchReduction) -> Tensor:
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


def _device_type(points: Tensor | None, distances: Tensor | None) -> str:
    given = points if distances is None else distances
    # Autocast does not know the meta device, and what is no tensor is refused elsewhere.
    return given.device.type if isinstance(given, Tensor) and not given.is_meta else "cpu"
