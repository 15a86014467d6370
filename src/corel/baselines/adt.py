"""Anomaly detection by geometric transformations (Golan & El-Yaniv, NeurIPS 2018)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from corel._errors import ArgumentError
from corel._terminal import track
from corel.baselines._dirichlet import fit_dirichlet
from corel.baselines._shared import SIZE, Baseline, Doubles, symmetric

# Mirrored or not, shifted along x and y, turned by quarters.
TRANSFORMS = tuple(product((False, True), (0, -8, 8), (0, -8, 8), range(4)))


@dataclass(kw_only=True, eq=False)
class ADT(Baseline):
    """ADT: a network learns which of 72 transforms an image went through, best on the class.

    Attributes:
        score: ``"plain"``, the mean probability of the right transform, as the paper describes; or ``"dirichlet"``, the
            likelihood of all probabilities under a Dirichlet model of the class, as in the published numbers.
        width: channels of the first stage of the Wide ResNet, in units of 16.

    """

    epochs: int = math.ceil(200 / len(TRANSFORMS))
    score: Literal["plain", "dirichlet"] = "dirichlet"
    width: int = 4
    weight_decay: float = 5e-4
    _alpha: Doubles = field(init=False, repr=False)

    def scores(self, images: object) -> dict[str, Doubles]:
        """Give both scores ``[n]`` of the images, by the score's name, from one pass."""
        return self._both(self._checked(images))

    def _learn(self, pixels: Tensor) -> None:
        if self.score not in ("plain", "dirichlet"):
            raise ArgumentError("score", f"must be 'plain' or 'dirichlet', got {self.score!r}")
        self._placed(_WideResNet(self.width))
        images, sources = symmetric(pixels.to(self._device())), source_pixels().to(self._device())

        def classification_error(rows: Tensor) -> Tensor:
            numbers, transforms = rows // len(TRANSFORMS), rows % len(TRANSFORMS)
            return functional.cross_entropy(self._network(transform(images[numbers], sources[transforms])), transforms)

        self._minimize(
            self._network, classification_error, len(images) * len(TRANSFORMS), weight_decay=self.weight_decay
        )
        self._alpha = fit_dirichlet(np.stack(list(self._predictions(pixels, "looking back"))))

    def _score(self, pixels: Tensor) -> Doubles:
        return self._both(pixels)[self.score]

    def _both(self, pixels: Tensor) -> dict[str, Doubles]:
        plain, dirichlet = np.zeros(len(pixels)), np.zeros(len(pixels))
        for number, logs in enumerate(self._predictions(pixels, "scoring")):
            plain += np.exp(logs[:, number]) / len(TRANSFORMS)
            dirichlet += logs @ (self._alpha[number] - 1) / len(TRANSFORMS)
        return {"plain": plain, "dirichlet": dirichlet}

    def _predictions(self, pixels: Tensor, title: str) -> Iterator[Doubles]:
        """Send the images through each transform; yield the log-probabilities ``[n, 72]`` of all transforms."""
        for source in track(source_pixels()[:, None].to(self._device()), f"ADT {title}", quiet=not self.progress):
            logits = self._map(partial(self._classify, source), pixels)
            yield torch.log_softmax(logits.double(), dim=1).numpy()

    def _classify(self, source: Tensor, pixels: Tensor) -> Tensor:
        logits: Tensor = self._network(transform(symmetric(pixels), source))
        return logits


def source_pixels() -> Tensor:
    """For each transform ``[72, 32·32]`` where in the flattened image each pixel of the result comes from.

    What a shift uncovers is filled with the image reflected at its border.
    """
    image = np.arange(SIZE * SIZE).reshape(SIZE, SIZE)
    sources = []
    for mirrored, x, y, quarters in TRANSFORMS:
        flipped = np.pad(image[:, ::-1] if mirrored else image, 8, mode="symmetric")
        shifted = flipped[8 - y : 8 - y + SIZE, 8 - x : 8 - x + SIZE]
        sources.append(np.rot90(shifted, quarters).ravel())
    return torch.from_numpy(np.stack(sources))


def transform(images: Tensor, sources: Tensor) -> Tensor:
    """Rearrange the pixels of images ``[n, 3, 32, 32]`` by rows ``[n or 1, 32·32]`` of `source_pixels`."""
    flat = images.flatten(2)
    moved = flat.gather(2, sources[:, None].expand(len(flat), flat.shape[1], -1))
    return moved.reshape(images.shape).contiguous(memory_format=torch.channels_last)


class _WideResNet(nn.Sequential):
    """WRN-10: a convolution, one block a stage, and a linear layer over the means of the last channels."""

    def __init__(self, width: int) -> None:
        a, b, c = (16 * width * factor for factor in (1, 2, 4))
        super().__init__(
            _convolution(3, 16, 3), _Block(16, a, 1), _Block(a, b, 2), _Block(b, c, 2),
            nn.BatchNorm2d(c), nn.ReLU(), nn.AvgPool2d(8), nn.Flatten(), nn.Linear(c, len(TRANSFORMS)),
        )  # fmt: skip


class _Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.activate = nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU())
        self.residual = nn.Sequential(
            _convolution(inputs, outputs, 3, stride),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            _convolution(outputs, outputs, 3),
        )
        self.shortcut = _convolution(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        activated = self.activate(x)
        result: Tensor = self.residual(activated) + self.shortcut(activated)
        return result


def _convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Conv2d:
    layer = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    return layer
