"""Ways to learn from views that were tried in place of NT-Xent between two of them, and are no part of the library."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, cross_entropy, normalize

from corel.encoders import images_of
from corel.encoders.base import Network
from corel.objectives import _views, contrastive
from corel.objectives._views import random_views
from corel.training import TrainConfig

SMALL = 16  # pixels of the further crops
BRANCHES = 16  # of every variant that compares distances
_NT_XENT = contrastive.nt_xent  # as it is while another stands in its place
_SAMPLE = _views._sample
KEPT = 0.99  # of the slow encoder's weights at each step


def decoupled(projected: Tensor, temperature: float) -> Tensor:
    """NT-Xent without the other view among those it is compared with (decoupled contrastive learning)."""
    directions = normalize(projected)
    similarities = directions @ directions.T / temperature
    views = torch.arange(len(projected))
    partners = views.roll(len(projected) // 2)
    itself = (views == views[:, None]) | (views == partners[:, None])
    return (similarities.masked_fill(itself, -torch.inf).logsumexp(1) - similarities[views, partners]).mean()


def barlow_twins(projected: Tensor, temperature: float) -> Tensor:
    """No negatives: coordinates agree between the views and not with each other; `temperature` plays no part.

    0.005 weighs the disagreement as its authors do; a tenth of the whole is of NT-Xent's size at the start.
    """
    first, second = ((half - half.mean(0)) / (half.std(0) + 1e-6) for half in projected.chunk(2))
    correlations = first.T @ second / len(first)
    agree = (1 - correlations.diagonal()).square().sum()
    return (agree + 0.005 * (correlations.square().sum() - correlations.diagonal().square().sum())) / 10


def by_distance(projected: Tensor, temperature: float) -> Tensor:
    """NT-Xent of minus the mean over branches of the L1 distance, which is what scores compare, in place of cosines.

    Nothing but the connectivity loss keeps such latents from growing.
    """
    distances = torch.cdist(projected, projected, p=1) / BRANCHES
    others = (-distances / temperature).masked_fill(torch.eye(len(projected), dtype=torch.bool), -torch.inf)
    return cross_entropy(others, torch.arange(len(projected)).roll(len(projected) // 2))


def decorrelated(latents: Tensor, temperature: float) -> Tensor:
    """NT-Xent and a tenth of the squared correlations of a dimension with all others, which a few directions raise."""
    standard = normalize(latents - latents.mean(0), dim=0)
    squares = (standard.T @ standard).square()
    return _NT_XENT(latents, temperature) + 0.1 * (squares.sum() - squares.trace()) / len(squares)


def deeper_projection(inputs: int, hidden: int) -> nn.Module:
    """Three layers with norms between them, as SimCLR's second version has."""
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True),
        nn.Linear(hidden, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True),
        nn.Linear(hidden, contrastive.PROJECTED),
    )  # fmt: skip


def averaged(images: Tensor, theta: Tensor, size: int) -> Tensor:
    """Views from images that are averaged first where a view has fewer pixels than its crop, so that none is skipped.

    Images to recognize are shrunk with an average too.
    """
    shrunk = torch.maximum(theta[:, 0, 0].abs(), theta[:, 1, 1]) * images.shape[-1] / size
    levels = shrunk.log2().round().clamp(min=0).int()
    views = images.new_empty(*images.shape[:2], size, size)
    for level in set(levels.tolist()):
        chosen = levels == level
        views[chosen] = _SAMPLE(avg_pool2d(images[chosen], 2**level), theta[chosen], size)
    return views


class TwoHeads(contrastive.Contrastive):
    """NT-Xent of the latents, and as much of a deeper projection of the pooled features that the latents are made of.

    A loss on a deeper projection leaves more in the features, and these are what the cosine score compares.
    """

    HIDDEN = 512

    def __init__(self, config: TrainConfig, item_shape: tuple[int, ...]) -> None:
        super().__init__(config, item_shape)
        self.head = nn.Sequential(
            nn.Linear(8 * config.width, self.HIDDEN, bias=False), nn.BatchNorm1d(self.HIDDEN), nn.ReLU(inplace=True),
            nn.Linear(self.HIDDEN, contrastive.PROJECTED),
        )  # fmt: skip

    def forward(self, items: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Give the mean of both losses, and the latents of the first views."""
        views = _two_views(self, images_of(self.item_shape, items), self.view_size(), generator)
        features, latents = _features_and_latents(self, views)
        with torch.autocast(items.device.type, enabled=False):
            losses = [
                contrastive.nt_xent(each.float(), self.temperature)
                for each in (self.projection(latents), self.head(features.float()))
            ]
        return torch.stack(losses).mean(), latents[: len(items)]


class Rotations(contrastive.Contrastive):
    """Half of the images are turned by a random number of quarters, which a linear layer has to tell (as CSI does)."""

    SHARE = 0.5  # of cross-entropy beside NT-Xent

    def __init__(self, config: TrainConfig, item_shape: tuple[int, ...]) -> None:
        super().__init__(config, item_shape)
        self.turn = nn.Linear(8 * config.width, 4)

    def forward(self, items: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Give NT-Xent plus the cross-entropy of the quarters, and the latents of the first views."""
        images = images_of(self.item_shape, items)
        quarters = torch.randint(4, (len(images),), generator=generator)
        quarters[: len(images) // 2] = 0
        turned = torch.stack([images.rot90(k, (2, 3)) for k in range(4)])[quarters, torch.arange(len(images))]
        features, latents = _features_and_latents(self, _two_views(self, turned, self.view_size(), generator))
        with torch.autocast(items.device.type, enabled=False):
            told = cross_entropy(self.turn(features.float()), quarters.repeat(2))
            loss = contrastive.nt_xent(self.projection(latents), self.temperature) + self.SHARE * told
        return loss, latents[: len(items)]


class AveragedWeights(contrastive.Contrastive):
    """The file holds a moving average of the weights and of the norms' statistics, not those of the last step."""

    def forward(self, items: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Take this step's weights into the average, then do as ever."""
        if self.training:
            _take_into_average(self.network)
        return super().forward(items, generator)


def several_crops(self: Any, items: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Two views as ever and two small ones, each of which belongs to a large one (multi-crop)."""
    images = self.network.prepare(items)
    latents = self.network.encoder(_two_views(self, images, self.view_size(), generator))
    with _statistics_kept(self.network):
        further = self.network.encoder(_two_views(self, images, SMALL, generator))
    (first, second), (third, fourth) = self.projection(latents).chunk(2), self.projection(further).chunk(2)
    pairs = ((first, second), (first, third), (second, fourth))
    losses = [contrastive.nt_xent(torch.cat(pair), self.temperature) for pair in pairs]
    return torch.stack(losses).mean(), latents[: len(items)]


def momentum(self: Any, items: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Views are compared with those that a slowly following copy of the encoder sees (MoCo v3, without a predictor)."""
    images = self.network.prepare(items)
    views = _two_views(self, images, self.view_size(), generator)
    latents = self.network.encoder(views)
    with torch.no_grad():
        slow = _slow_copy(self)(views).chunk(2)
    # The first views look for their images among the copy's second ones, and the second among its first.
    logits = [normalize(a) @ normalize(b).T for a, b in zip(latents.chunk(2), reversed(slow), strict=True)]
    same = torch.arange(len(items)).repeat(2)
    return cross_entropy(torch.cat(logits) / self.temperature, same), latents[: len(items)]


@torch.no_grad()
def _take_into_average(network: Network) -> None:
    """Let the average that the network will be stored with follow it by one step; a checkpoint does not hold it."""
    now = network.state_dict()
    kept = network.__dict__.setdefault("kept", {name: value.clone() for name, value in now.items()})
    for name, value in now.items():
        if value.is_floating_point():
            kept[name].lerp_(value, 1 - KEPT)
    network.__dict__["stored_state"] = lambda: {
        name: value.half() if value.is_floating_point() and value.ndim > 1 else value for name, value in kept.items()
    }


def _features_and_latents(self: Any, views: Tensor) -> tuple[Tensor, Tensor]:
    """The pooled features of the last stage, and the latents, which are linear in them."""
    features = self.network.encoder[:-1](views)
    return features, self.network.encoder[-1](features)


def _two_views(self: Any, images: Tensor, size: int, generator: torch.Generator) -> Tensor:
    return random_views(torch.cat([images, images]), size, self.view_area, generator)


@contextmanager
def _statistics_kept(network: nn.Module) -> Iterator[None]:
    """What the norms remember for later use is not to come from small views: whole images are encoded by it."""
    with ExitStack() as changed:
        for norm in network.modules():
            if isinstance(norm, nn.BatchNorm2d):
                changed.enter_context(patch.object(norm, "momentum", 0.0))
        yield


def _slow_copy(self: Any) -> nn.Module:
    """The copy, after it has followed the encoder's weights by one step; a checkpoint does not hold it."""
    if "slow" not in self.__dict__:
        self.__dict__["slow"] = copy.deepcopy(self.network.encoder).requires_grad_(False)
    slow: nn.Module = self.__dict__["slow"]
    for kept, weight in zip(slow.parameters(), self.network.encoder.parameters(), strict=True):
        kept.lerp_(weight, 1 - KEPT)
    return slow
