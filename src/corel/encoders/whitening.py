"""Vectors at length 1, centered and whitened by the background, so that distances do not depend on a few directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

Rows = NDArray[np.float32]

# The share of the identity, times the mean variance, in the covariance. Chosen on folds of train splits by
# `python -m experiments encoder_folds`, which has other shares and none.
SHRINKAGE = 0.5


class Whitening(NamedTuple):
    """Subtracts the center ``[D]`` and multiplies by the matrix ``[D, D]``, whose values half precision holds."""

    center: Rows
    matrix: Rows

    @classmethod
    def of(cls, rows: Rows, shrinkage: float = SHRINKAGE) -> Whitening:
        """Learn it from vectors ``[n, D]`` of length 1."""
        values = rows.astype(np.float64)
        center = values.mean(axis=0)
        covariance = (values - center).T @ (values - center) / len(values)
        variance = np.trace(covariance) / len(center) or 1.0
        variances, directions = np.linalg.eigh(
            (1 - shrinkage) * covariance + shrinkage * variance * np.eye(len(center))
        )
        matrix = (directions / np.sqrt(variances)) @ directions.T
        matrix /= np.abs(matrix).max()  # only the direction of a result matters
        return cls(center.astype(np.float32), matrix.astype(np.float16).astype(np.float32))

    def __call__(self, rows: Rows) -> Rows:
        """Give vectors of length 1."""
        turned = (rows.astype(np.float64) - self.center) @ self.matrix
        lengths = np.linalg.norm(turned, axis=1, keepdims=True)
        unit: Rows = (turned / np.maximum(lengths, 1e-12)).astype(np.float32)
        return unit


class Whitened(nn.Module):
    """The same as a layer: rows ``[n, D]`` of any length to length 1, whitened, at length 1 again."""

    center: Tensor
    matrix: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("center", torch.zeros(width))
        self.register_buffer("matrix", torch.eye(width))

    def take(self, whitening: Whitening) -> None:
        """Whiten so from now on."""
        self.center.copy_(torch.from_numpy(whitening.center))
        self.matrix.copy_(torch.from_numpy(whitening.matrix))

    def forward(self, rows: Tensor) -> Tensor:
        """Map ``[n, D]`` to the same shape, in double precision: a latent depends on no kernel's order of summation."""
        turned = (normalize(rows) - self.center).double() @ self.matrix.double()
        return normalize(turned).float()
