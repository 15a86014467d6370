"""Embeddings that somebody else's encoder made, taken as they are."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from corel.encoders.base import Network
from corel.encoders.feature_head import rows_of
from corel.encoders.whitening import Whitened, Whitening

SMALL, LARGE = 2.0**-30, 2.0**50  # numbers whose squares, and sums of these, float32 still holds to its precision


class Vectors(Network):
    """Rows ``[n, D]`` → the same rows at length 1, as one branch; centered and whitened if asked.

    Example:
        >>> import numpy as np
        >>> Vectors(branches=1, branch_dim=2).encode(np.array([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])

    """

    def __init__(self, branches: int, branch_dim: int, whitened: int = 0) -> None:
        super().__init__()
        self.architecture = {"branches": branches, "branch_dim": branch_dim}
        if whitened:  # older files, without whitening, have no such entry
            self.architecture["whitened"] = whitened
        self.input_shape = (branch_dim,)
        self.encoder = Whitened(branch_dim) if whitened else Unit()

    def whitened(self, whitening: Whitening) -> Vectors:
        """Give the network that whitens what this one gives."""
        network = Vectors(1, self.input_shape[0], whitened=1)
        assert isinstance(network.encoder, Whitened)
        network.encoder.take(whitening)
        return network

    def prepare(self, items: Any) -> Tensor:
        """Rows in any floating-point type, all finite; only their directions matter."""
        return _squarable(rows_of(self.input_shape[0], items))


def _squarable(rows: Tensor) -> Tensor:
    """Scale rows by a power of two, exactly, where float32 cannot hold the squares of their numbers."""
    largest = rows.abs().amax(dim=1, keepdim=True)
    exponents = torch.frexp(largest).exponent.where((largest < SMALL) | (largest > LARGE), 0)
    return (rows.double() * torch.pow(2.0, -exponents.double())).float() if exponents.any() else rows


class Unit(nn.Module):
    """Give each row the length that the buffer `length` says, which is 1."""

    length: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("length", torch.ones(1))

    def forward(self, rows: Tensor) -> Tensor:
        """Map ``[n, D]`` to the same shape."""
        return normalize(rows) * self.length
