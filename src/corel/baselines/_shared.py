"""What the baselines share: their contract, their convolutional networks and one training loop."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from torch import Tensor, nn

from corel._errors import ArgumentError
from corel._terminal import progress_bar, track
from corel.encoders import to_unit_tensor
from corel.encoders.base import channels_last
from corel.images import ImageSet

SIZE = 32  # pixels a side: the published networks know no other
SCORED_AT_ONCE = 500

Self = TypeVar("Self", bound="Baseline")
Doubles = NDArray[np.float64]


@dataclass(kw_only=True, eq=False)
class Baseline(ABC):
    """A method that learns one class from its images alone.

    Attributes:
        epochs: passes over the training images.
        batch_size: images a step; a last batch of one joins the one before it, for batch normalization needs two.
        learning_rate: of Adam.
        seed: decides the first weights and every other draw.
        device: such as ``"cpu"`` or ``"cuda"``; the GPU where there is one, by default.
        progress: show bars, if standard error is a terminal.

    """

    epochs: int = 200
    batch_size: int = 128
    learning_rate: float = 1e-3
    seed: int = 0
    device: str | None = None
    progress: bool = True
    _fitted: bool = field(default=False, init=False, repr=False)
    _network: nn.Module = field(init=False, repr=False)

    def fit(self: Self, images: Any) -> Self:
        """Learn from an `ImageSet` or uint8 images ``[m, 32, 32, 3]`` of one class, at least two."""
        pixels = _pixels(images)
        if len(pixels) < 2:
            raise ArgumentError(
                "images", f"must be two or more for {type(self).__name__} to learn from, got {len(pixels)}"
            )
        device = self._device()
        self._fitted = False
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(self.seed)
            self._learn(pixels)
        self._fitted = True
        return self

    def score_samples(self, images: Any) -> Doubles:
        """Give a score for each of n images, float64 ``[n]``, higher where it looks more like the class."""
        pixels = self._checked(images)
        scores = np.asarray(self._score(pixels), np.float64) if len(pixels) else np.empty(0)
        if not np.isfinite(scores).all():
            first = int(np.isfinite(scores).argmin())
            raise FloatingPointError(
                f"{type(self).__name__} diverged: the score of image {first} is {scores[first]}; "
                f"fit again with a learning_rate below {self.learning_rate:g}"
            )
        return scores

    @property
    def parameters(self) -> int:
        """How many numbers the fitted networks have learned."""
        return sum(parameter.numel() for parameter in self._network.parameters())

    @abstractmethod
    def _learn(self, pixels: Tensor) -> None:
        """Build `_network` and train it on uint8 images; torch's random state is seeded."""

    @abstractmethod
    def _score(self, pixels: Tensor) -> Tensor | Doubles:
        """Score one or more uint8 images."""

    def _checked(self, images: Any) -> Tensor:
        if not self._fitted:
            raise NotFittedError(f"this {type(self).__name__} has not learned a class yet; call fit(images) first")
        return _pixels(images)

    def _device(self) -> torch.device:
        return torch.device(self.device or ("cuda" if torch.cuda.is_available() else "cpu"))

    def _placed(self, network: nn.Module) -> None:
        """Keep the network as the one to train, on the device and laid out as its convolutions want it."""
        self._network = channels_last(network).to(self._device())

    def _minimize(
        self, network: nn.Module, loss: Callable[[Tensor], Tensor], count: int, *, epochs: int | None = None,
        weight_decay: float = 0.0, drop_at: int | None = None, title: str = "",
    ) -> None:  # fmt: skip
        """Run Adam over shuffled batches of `count` items; `loss` maps their numbers to a scalar.

        The learning rate falls to a tenth after `drop_at` epochs.
        """
        epochs = self.epochs if epochs is None else epochs
        name = f"{type(self).__name__} {title}".strip()
        if epochs < 1:
            raise ArgumentError("epochs", f"must be at least 1 for {name}, got {epochs}")
        if self.batch_size < 2:
            raise ArgumentError("batch_size", f"must be at least 2 for {name}, got {self.batch_size}")
        optimizer = torch.optim.Adam(network.parameters(), self.learning_rate, weight_decay=weight_decay)
        schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [drop_at or epochs])
        network.train()
        with progress_bar(name, epochs * len(batches(count, self.batch_size)), quiet=not self.progress) as advance:
            for epoch in range(1, epochs + 1):
                for rows in batches(count, self.batch_size):
                    value = loss(rows.to(self._device()))
                    if not math.isfinite(value.item()):
                        raise FloatingPointError(
                            f"the loss of {name} is {value.item()} in epoch {epoch}; "
                            f"fit again with a learning_rate below {self.learning_rate:g}"
                        )
                    optimizer.zero_grad()
                    torch.autograd.backward(value)
                    optimizer.step()
                    advance(note=f"epoch {epoch}/{epochs}  loss {value.item():.4g}")
                schedule.step()

    @torch.no_grad()
    def _map(self, function: Callable[[Tensor], Tensor], items: Tensor, title: str | None = None) -> Tensor:
        """Apply a function of the trained network to items in batches; with a title, show a bar."""
        self._network.eval()
        quiet = title is None or not self.progress
        parts = track(torch.split(items, SCORED_AT_ONCE), f"{type(self).__name__} {title}", quiet=quiet)
        return torch.cat([function(part.to(self._device())).cpu() for part in parts])


def batches(count: int, batch_size: int) -> list[Tensor]:
    """Cut a random order of `count` items into batches, none of a single item where there are two."""
    parts = list(torch.split(torch.randperm(count), batch_size))
    if len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    return parts


def symmetric(pixels: Tensor) -> Tensor:
    """Turn uint8 images into float32 ``[n, 3, 32, 32]`` in [−1, 1]."""
    return to_unit_tensor(pixels) * 2 - 1


class ConvEncoder(nn.Sequential):
    """The encoder of OC-SVM (CAE), DSEBM and DAGMM: three halvings to 4×4, then a code."""

    def __init__(self, code: int, *activation: nn.Module) -> None:
        channels = (3, 64, 128, 256)
        halvings = [
            layer
            for inputs, outputs in pairwise(channels)
            for layer in (nn.Conv2d(inputs, outputs, 3, 2, padding=1), _norm(nn.BatchNorm2d, outputs), nn.ReLU())
        ]
        super().__init__(*halvings, nn.Flatten(), nn.Linear(4096, code), *activation)
        self.apply(glorot)


class ConvDecoder(nn.Sequential):
    """The encoder's mirror image: codes to images in [−1, 1]."""

    def __init__(self, code: int) -> None:
        super().__init__(
            nn.Linear(code, 4096), _norm(nn.BatchNorm1d, 4096), nn.ReLU(), nn.Unflatten(1, (256, 4, 4)),
            _double(256, 128), _norm(nn.BatchNorm2d, 128), nn.ReLU(),
            _double(128, 64), _norm(nn.BatchNorm2d, 64), nn.ReLU(),
            _double(64, 3), nn.Tanh(),
        )  # fmt: skip
        self.apply(glorot)


def glorot(layer: nn.Module) -> None:
    """Draw a layer's first weights as Keras does."""
    if isinstance(layer, (nn.Linear, nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.xavier_uniform_(layer.weight)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)


def _norm(kind: Callable[..., nn.Module], channels: int) -> nn.Module:
    return kind(channels, eps=1e-3, momentum=0.01)  # Keras's 0.99 is the share that stays


def _double(inputs: int, outputs: int) -> nn.Module:
    return nn.ConvTranspose2d(inputs, outputs, 3, stride=2, padding=1, output_padding=1)


def _pixels(images: Any) -> Tensor:
    array = np.asarray(images.pixels if isinstance(images, ImageSet) else images)
    if array.dtype != np.uint8 or array.ndim != 4 or array.shape[1:] != (SIZE, SIZE, 3):
        raise ArgumentError(
            "images",
            f"must be uint8 [n, {SIZE}, {SIZE}, 3], got {array.dtype} {list(array.shape)}; "
            f"corel.images.open(..., size={SIZE}) gives them so",
        )
    return torch.from_numpy(np.require(array, requirements=["C", "W"]))
