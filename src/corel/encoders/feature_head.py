"""Branches for features that exist already: standardized, then mapped by a small MLP."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from corel._errors import ALL_ZERO, NOT_FINITE, ArgumentError, ArgumentTypeError, refuse_rows
from corel.encoders.base import Embedding, Network
from corel.persistence import death_times


class FeatureHead(Network):
    """Standardize the features, map them into branches by a small MLP, and back.

    `embeddings` are compared by their direction: standardized rows get length 1, and the maps are linear.

    Example:
        >>> import numpy as np
        >>> FeatureHead(branches=4, branch_dim=3, width=32, features=7).encode(np.zeros((5, 7))).shape
        torch.Size([5, 12])

    """

    def __init__(self, branches: int, branch_dim: int, width: int, features: int, embeddings: int = 0) -> None:
        super().__init__()
        self.architecture = {"branches": branches, "branch_dim": branch_dim, "width": width, "features": features}
        latents = branches * branch_dim
        if embeddings:  # files without linear heads have no such entry
            self.architecture["embeddings"] = embeddings
            self.encoder = nn.Sequential(Standardize(features), UnitRows(), nn.Linear(features, latents))
            self.decoder = nn.Sequential(nn.Linear(latents, features))
        else:
            self.encoder = nn.Sequential(Standardize(features), *_mlp(features, width, latents))
            self.decoder = nn.Sequential(*_mlp(latents, width, features))
        self.input_shape = (features,)

    @property
    def scale(self) -> Standardize:
        """The encoder's first layer."""
        return self.encoder[0]  # type: ignore[index, no-any-return]

    def scaled(self, rows: Tensor) -> Tensor:
        """Give rows as the first linear map gets them and the decoder gives them back."""
        for layer in self.encoder.children():
            if isinstance(layer, nn.Linear):
                break
            rows = layer(rows)
        return rows

    @torch.no_grad()
    def begin_with_principal_components(self, rows: Tensor, eta: float, batch: int) -> None:
        """Let the maps of embeddings be those of their principal components, each branch with mean death time `eta`.

        Components are dealt to the branches in turn, so that each gets large and small ones.
        """
        branches, dim = self.architecture["branches"], self.architecture["branch_dim"]
        scaled = self.scaled(self.prepare(rows)).double()
        center = scaled.mean(dim=0)
        directions = torch.linalg.eigh(torch.cov((scaled - center).T))[1].flip(1)  # the largest variance first
        order = torch.arange(branches * dim).reshape(dim, branches).T.flatten()
        axes = directions[:, order % directions.shape[1]]  # again from the first where there are too few
        split = ((scaled[:batch] - center) @ axes).reshape(-1, branches, dim).transpose(0, 1)
        deaths = death_times(split.contiguous()).mean(dim=1)
        factors = (eta / deaths.where(deaths > 0, 1)).repeat_interleave(dim)
        there, back = (cast("nn.Linear", list(each.children())[-1]) for each in (self.encoder, self.decoder))
        there.weight.copy_((axes * factors).T)
        there.bias.copy_(-center @ (axes * factors))
        back.weight.copy_(axes / factors)
        back.bias.copy_(center)

    def prepare(self, items: Any) -> Tensor:
        """Rows of features ``[n, features]`` in any floating-point type, all finite."""
        return rows_of(self.input_shape[0], items)

    def embed(self, items: Any, batch_size: int = 512, **options: Any) -> Embedding:
        """Embed any number of rows, once all of them have been checked."""
        return super().embed(self.prepare(items), batch_size, **options)


def rows_of(features: int, items: Any) -> Tensor:
    """Turn rows ``[n, features]`` of any floating-point type into float32, or say what is wrong with them."""
    rows = torch.as_tensor(np.require(items, requirements="W") if isinstance(items, np.ndarray) else items)
    if rows.ndim != 2 or rows.shape[1] != features:
        raise ArgumentError("images", f"must be rows of {features} features, [n, {features}], got {list(rows.shape)}")
    if not rows.is_floating_point():
        raise ArgumentTypeError("images", f"must be floating point, got {rows.dtype}; use astype('float32')")
    numbers = rows.float()
    refuse_rows("images", (~numbers.isfinite().all(dim=1)).nonzero().flatten().tolist(), NOT_FINITE)
    lost = (rows != 0).any(dim=1) & (numbers == 0).all(dim=1)
    refuse_rows("images", lost.nonzero().flatten().tolist(), ALL_ZERO)
    return numbers


RESOLVED = 1e-5  # a smaller deviation, as a share of the mean, is less than a hundred rounding steps of float32


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
            raise ArgumentError(
                "images",
                f"have feature {lost[0]}, which varies by {deviation[lost[0]]:.2g} around {mean[lost[0]]:.6g}, too "
                "little for float32 to tell its values apart: subtract a constant from it first",
            )
        self.mean.copy_(mean)
        self.deviation.copy_(deviation.where(changes, 1))


class UnitRows(nn.Module):
    """Give each row length 1; one without a direction stays zero."""

    def forward(self, rows: Tensor) -> Tensor:
        """Map ``[n, features]`` to the same shape."""
        return normalize(rows)


def _mlp(inputs: int, width: int, outputs: int) -> tuple[nn.Module, ...]:
    activation = nn.LeakyReLU(0.01, inplace=True)
    return nn.Linear(inputs, width), activation, nn.Linear(width, outputs)
