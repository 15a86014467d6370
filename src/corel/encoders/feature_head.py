"""Branches for features that exist already: standardized, then mapped by a small MLP."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from corel.encoders.base import Embedding, Network


class FeatureHead(Network):
    """Standardize the features, map them into branches by a small MLP, and back.

    Example:
        >>> import numpy as np
        >>> FeatureHead(branches=4, branch_dim=3, width=32, features=7).encode(np.zeros((5, 7))).shape
        torch.Size([5, 12])

    """

    def __init__(self, branches: int, branch_dim: int, width: int, features: int) -> None:
        super().__init__()
        self.architecture = {"branches": branches, "branch_dim": branch_dim, "width": width, "features": features}
        self.encoder = nn.Sequential(Standardize(features), *_mlp(features, width, branches * branch_dim))
        self.decoder = nn.Sequential(*_mlp(branches * branch_dim, width, features))
        self.input_shape = (features,)

    @property
    def scale(self) -> Standardize:
        """The encoder's first layer."""
        return self.encoder[0]  # type: ignore[index, no-any-return]

    def prepare(self, items: Any) -> Tensor:
        """Rows of features ``[n, features]`` in any floating-point type, all finite."""
        return rows_of(self.input_shape[0], items)

    def embed(self, items: Any, batch_size: int = 500, **options: Any) -> Embedding:
        """Embed any number of rows, once all of them have been checked."""
        return super().embed(self.prepare(items), batch_size, **options)


def rows_of(features: int, items: Any) -> Tensor:
    """Turn rows ``[n, features]`` of any floating-point type into float32, or say what is wrong with them."""
    rows = torch.as_tensor(np.require(items, requirements="W") if isinstance(items, np.ndarray) else items)
    if rows.ndim != 2 or rows.shape[1] != features:
        raise ValueError(f"the encoder takes rows of {features} features, [n, {features}], got {list(rows.shape)}")
    if not rows.is_floating_point():
        raise TypeError(f"features must be floating point, got {rows.dtype}; convert them with astype('float32')")
    numbers = rows.float()
    bad = (~numbers.isfinite().all(dim=1)).nonzero().flatten().tolist()
    if bad:
        more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
        raise ValueError(
            f"features must be finite, in float32 too; rows {', '.join(map(str, bad[:5]))}{more} are not: "
            f"drop or impute them"
        )
    return numbers


RESOLVED = 1e-5  # deviations below this share of the mean are a hundred steps of float32 or less


class Standardize(nn.Module):
    """Subtract the mean of each feature and divide by its deviation; both are kept with the network, not learned."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("deviation", torch.ones(features))

    def forward(self, rows: Tensor) -> Tensor:
        """Map ``[n, features]`` to the same shape."""
        return (rows - self.mean) / self.deviation

    def fit(self, rows: Tensor) -> None:
        """Take mean and deviation from these rows; a feature that never changes is only centered."""
        deviation, mean = torch.std_mean(rows.double(), dim=0, correction=0)
        changes = (rows != rows[0]).any(dim=0)
        lost = (changes & (deviation < RESOLVED * mean.abs())).nonzero().flatten().tolist()
        if lost:
            raise ValueError(
                f"feature {lost[0]} varies by {deviation[lost[0]]:.2g} around {mean[lost[0]]:.6g}, too little for "
                f"float32 to tell its values apart: subtract a constant from it first"
            )
        self.mean.copy_(mean)
        self.deviation.copy_(deviation.where(changes, 1))


def _mlp(inputs: int, width: int, outputs: int) -> tuple[nn.Module, ...]:
    activation = nn.LeakyReLU(0.01, inplace=True)
    return nn.Linear(inputs, width), activation, nn.Linear(width, outputs)
