"""The deep autoencoding Gaussian mixture model (Zong et al., ICLR 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from corel.baselines._shared import Baseline, ConvDecoder, ConvEncoder, glorot, symmetric

CODE = 5
FEATURES = CODE + 2  # the code and two reconstruction errors
COMPONENTS = 3


@dataclass(kw_only=True, eq=False)
class DAGMM(Baseline):
    """DAGMM: an autoencoder and a Gaussian mixture on its codes and reconstruction errors, learned together.

    The score is the log-likelihood. All that concerns the mixture is computed in float64: its covariances are close
    to singular wherever the class varies little, and are so for certain when a batch has fewer images than dimensions.

    Attributes:
        energy_weight: of the mixture's negative log-likelihood in the loss.
        covariance_weight: of the penalty on small variances.
        jitter: what is added to the variances, relative to 1 plus their mean.

    """

    batch_size: int = 256
    energy_weight: float = 0.01
    covariance_weight: float = 0.0005
    jitter: float = 1e-6
    _mixture: Mixture = field(init=False, repr=False)

    def _learn(self, pixels: Tensor) -> None:
        network = _Network()
        self._placed(network)
        images = symmetric(pixels.to(self._device()))

        def loss(rows: Tensor) -> Tensor:
            reconstructed, features = network(images[rows])
            mixture = estimate(features, network.memberships(features), self.jitter)
            variances = mixture.covariances.diagonal(dim1=1, dim2=2)
            return (
                functional.mse_loss(reconstructed, images[rows])
                + self.energy_weight * energies(features, mixture).mean()
                + self.covariance_weight * variances.reciprocal().sum()
            )

        self._minimize(network, loss, len(images))
        features = self._features(pixels)
        memberships = self._map(network.memberships, features)
        self._mixture = estimate(features, memberships, self.jitter)

    def _score(self, pixels: Tensor) -> Tensor:
        return -energies(self._features(pixels), self._mixture)

    def _features(self, pixels: Tensor) -> Tensor:
        return self._map(lambda batch: self._network(symmetric(batch))[1], pixels, "encoding")


class _Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = ConvEncoder(CODE), ConvDecoder(CODE)
        self.memberships = nn.Sequential(
            nn.Linear(FEATURES, 64), nn.Tanh(), nn.Dropout(0.5),
            nn.Linear(64, 10), nn.Tanh(), nn.Dropout(0.5),
            nn.Linear(10, COMPONENTS), nn.Softmax(dim=1),
        ).double()  # fmt: skip
        self.memberships.apply(glorot)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Give the reconstructed images and, in float64, the features ``[n, 7]`` that the mixture describes."""
        codes = self.encoder(images)
        reconstructed = self.decoder(codes)
        x, y = images.flatten(1).double(), reconstructed.flatten(1).double()
        length = torch.linalg.vector_norm(x, dim=1).clamp_min(1e-12)
        error = torch.linalg.vector_norm(x - y, dim=1) / length
        cosine = functional.cosine_similarity(x, y)
        return reconstructed, torch.cat([codes.double(), error[:, None], cosine[:, None]], dim=1)


class Mixture(NamedTuple):
    """Gaussians: weights φ ``[K]``, means μ ``[K, d]``, covariances Σ ``[K, d, d]``."""

    weights: Tensor
    means: Tensor
    covariances: Tensor


def estimate(points: Tensor, memberships: Tensor, jitter: float) -> Mixture:
    """Give the mixture of points ``[n, d]`` that belong to components by `memberships` ``[n, K]``."""
    sizes = memberships.sum(dim=0).clamp_min(1e-12)  # a component may have no members
    means = memberships.T @ points / sizes[:, None]
    centered = points - means[:, None]
    covariances = torch.einsum("nk,kni,knj->kij", memberships, centered, centered) / sizes[:, None, None]
    # Relative, so that Cholesky's rounding cannot outgrow it.
    scale = 1 + covariances.diagonal(dim1=1, dim2=2).mean(dim=1).detach()
    identity = torch.eye(points.shape[1], dtype=points.dtype, device=points.device)
    return Mixture(sizes / len(points), means, covariances + jitter * scale[:, None, None] * identity)


def energies(points: Tensor, mixture: Mixture) -> Tensor:
    """Give the negative log-likelihoods ``[n]`` of points ``[n, d]``."""
    factors = torch.linalg.cholesky(mixture.covariances)
    centered = (points - mixture.means[:, None]).transpose(1, 2)
    squared = torch.linalg.solve_triangular(factors, centered, upper=False).square().sum(dim=1)
    log_determinants = 2 * factors.diagonal(dim1=1, dim2=2).log().sum(dim=1)
    constants = mixture.weights.log() - (log_determinants + points.shape[1] * math.log(2 * math.pi)) / 2
    return -torch.logsumexp(constants[:, None] - squared / 2, dim=0)
