"""Deep support vector data description (Ruff et al., ICML 2018)."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from corel.baselines._shared import Baseline
from corel.encoders import to_unit_tensor

CODE = 128
LEAST_COORDINATE = 0.1  # of the center, in absolute value
COLLAPSED = 1e-3  # spread of the codes of all sorts of images, relative to the length of the center
PROBES = 64


@dataclass(kw_only=True, eq=False)
class DeepSVDD(Baseline):
    """Deep-SVDD: codes pulled toward one center; the score is minus the squared distance to it.

    The known failure is collapse, a network that maps every image to the center. Without biases, and with a center
    that has no zero coordinate, vanishing weights do not minimize the loss; where they vanish even so, `fit` raises.

    Attributes:
        epochs: of the pull toward the center; the learning rate falls to a tenth after `drop_at` of them.
        pretraining_epochs: as an autoencoder before; the learning rate falls after `pretraining_drop_at`.
        weight_decay: of both.

    """

    epochs: int = 150
    drop_at: int = 50
    pretraining_epochs: int = 350
    pretraining_drop_at: int = 250
    batch_size: int = 200
    learning_rate: float = 1e-4
    weight_decay: float = 5e-7
    _range: tuple[Tensor, Tensor] = field(init=False, repr=False)
    _center: Tensor = field(init=False, repr=False)

    def _learn(self, pixels: Tensor) -> None:
        contrast = normalize_contrast(to_unit_tensor(pixels.to(self._device())))
        self._range = contrast.min(), contrast.max()
        images = self._scale(contrast)
        self._placed(_encoder())
        self._pretrain(images)
        self._center = away_from_zero(self._map(self._network, images).mean(dim=0)).to(self._device())
        self._minimize(
            self._network, lambda rows: self._distances(images[rows]).mean(), len(images),
            weight_decay=self.weight_decay, drop_at=self.drop_at,
        )  # fmt: skip
        self._require_spread(images)

    def _pretrain(self, images: Tensor) -> None:
        autoencoder = nn.Sequential(self._network, _decoder().to(self._device()))

        def reconstruction_error(rows: Tensor) -> Tensor:
            error: Tensor = (autoencoder(images[rows]) - images[rows]).square().sum(dim=(1, 2, 3)).mean()
            return error

        self._minimize(
            autoencoder, reconstruction_error, len(images), epochs=self.pretraining_epochs,
            weight_decay=self.weight_decay, drop_at=self.pretraining_drop_at, title="pretraining",
        )  # fmt: skip

    def _score(self, pixels: Tensor) -> Tensor:
        def score(batch: Tensor) -> Tensor:
            return -self._distances(self._scale(normalize_contrast(to_unit_tensor(batch))))

        return self._map(score, pixels, "scoring")

    def _scale(self, contrast: Tensor) -> Tensor:
        low, high = self._range
        return (contrast - low) / (high - low).clamp_min(1e-6)  # a class of blank images has no range

    def _distances(self, images: Tensor) -> Tensor:
        distances: Tensor = (self._network(images) - self._center).square().sum(dim=1)
        return distances

    def _require_spread(self, images: Tensor) -> None:
        # Images of the class should have one code. If noise gets the same code too, the network has collapsed.
        probes = torch.cat([images[:PROBES], torch.rand_like(images[:PROBES])])
        codes = self._map(self._network, probes)
        spread, length = codes.std(dim=0).norm(), self._center.norm().item()
        if not spread > COLLAPSED * length:
            raise RuntimeError(
                f"Deep-SVDD collapsed: noise and the class have the same code (spread {spread:.2g}, the center is "
                f"{length:.2g} from zero), so every image would get the same score; fit with epochs below {self.epochs}"
                f", learning_rate below {self.learning_rate:g} or weight_decay below {self.weight_decay:g}"
            )


def normalize_contrast(images: Tensor) -> Tensor:
    """Subtract each image's mean and divide by its mean absolute deviation; a blank image becomes about zero."""
    centered = images - images.mean(dim=(1, 2, 3), keepdim=True)
    return centered / centered.abs().mean(dim=(1, 2, 3), keepdim=True).clamp_min(1e-6)


def away_from_zero(center: Tensor) -> Tensor:
    """Push coordinates out of (−0.1, 0.1): a coordinate at zero could be matched by vanishing weights."""
    return torch.where(center < 0, center.clamp_max(-LEAST_COORDINATE), center.clamp_min(LEAST_COORDINATE))


def _encoder() -> nn.Sequential:
    return nn.Sequential(
        *_layer(nn.Conv2d, 3, 32), nn.MaxPool2d(2),
        *_layer(nn.Conv2d, 32, 64), nn.MaxPool2d(2),
        *_layer(nn.Conv2d, 64, 128), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(2048, CODE, bias=False),
    )  # fmt: skip


def _decoder() -> nn.Sequential:
    return nn.Sequential(
        nn.BatchNorm1d(CODE, eps=1e-4, affine=False), nn.Unflatten(1, (8, 4, 4)), nn.LeakyReLU(0.01),
        *_layer(nn.ConvTranspose2d, 8, 128), nn.Upsample(scale_factor=2),
        *_layer(nn.ConvTranspose2d, 128, 64), nn.Upsample(scale_factor=2),
        *_layer(nn.ConvTranspose2d, 64, 32), nn.Upsample(scale_factor=2),
        nn.ConvTranspose2d(32, 3, 5, padding=2, bias=False), nn.Sigmoid(),
    )  # fmt: skip


def _layer(kind: type[nn.Conv2d] | type[nn.ConvTranspose2d], inputs: int, outputs: int) -> tuple[nn.Module, ...]:
    norm = nn.BatchNorm2d(outputs, eps=1e-4, affine=False)
    return kind(inputs, outputs, 5, padding=2, bias=False), norm, nn.LeakyReLU(0.01)
