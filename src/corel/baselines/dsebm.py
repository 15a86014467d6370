"""Deep structured energy-based models (Zhai et al., ICML 2016)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from corel.baselines._shared import SIZE, Baseline, ConvEncoder, symmetric


@dataclass(kw_only=True, eq=False)
class DSEBM(Baseline):
    """DSEBM: an energy that is low on the class, learned by denoising; the score is the negative energy.

    Attributes:
        noise: standard deviation of what is added to pixels in [−1, 1].

    """

    noise: float = 0.5

    def _learn(self, pixels: Tensor) -> None:
        self._placed(_Energy())
        images = symmetric(pixels.to(self._device()))

        def denoising_error(rows: Tensor) -> Tensor:
            noisy = (images[rows] + self.noise * torch.randn_like(images[rows])).requires_grad_()
            # The score function of the model: its own gradient is taken next, so the graph is kept.
            (slope,) = torch.autograd.grad(self._network(noisy).sum(), noisy, create_graph=True)
            return functional.mse_loss(noisy - slope, images[rows])

        self._minimize(self._network, denoising_error, len(images))

    def _score(self, pixels: Tensor) -> Tensor:
        return self._map(lambda batch: -self._network(symmetric(batch)), pixels, "scoring")


class _Energy(nn.Module):
    """E(x) = ½‖x − b‖² − Σ h(x), with one image b for all and the rectified codes h of an encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = ConvEncoder(256, nn.ReLU())
        self.bias = nn.Parameter(torch.zeros(3, SIZE, SIZE))

    def forward(self, images: Tensor) -> Tensor:
        squared = (images - self.bias).square().sum(dim=(1, 2, 3))
        energy: Tensor = squared / 2 - self.encoder(images).sum(dim=1)
        return energy
