"""What is compared: our scores, and the controls that show what the encoder and the score contribute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from corel import objectives
from corel.backbone import WRAPPED, Backbone
from corel.encoders import FeatureHead
from corel.encoders.base import BACKGROUND, channels_last
from corel.evaluation._labeled import LabeledItems
from corel.oneclass import METHODS, ClassBank, backbone_settings, compared_rows, preferred_method

NEIGHBORS = 5  # of the nearest-neighbor controls: minus the mean Euclidean distance to so many exemplars
AROUND = 50  # background latents whose mean distance says how empty the space around an item is
ROWS = 500  # items that meet all exemplars at once: of 200 classes of 120, 48 MB of distances
SAMPLE = 1000  # items by which two latent spaces are brought to one scale

Indices = NDArray[np.int64]
Doubles = NDArray[np.float64]
Latents = NDArray[np.float32]


class Method(NamedTuple):
    """A name, and a function from enrolled train items `[C, m]` to scores `[n, C]` of the test items."""

    name: str
    score: Callable[[Indices], Doubles]


def default_scores(backbone: Backbone) -> tuple[str, ...]:
    """All scores that a backbone has; cosine needs features of the background."""
    return tuple(each for each in METHODS if each != "cosine" or preferred_method(backbone) == "cosine")


def main_score(backbone: Backbone, scores: Sequence[str]) -> str:
    """The score that a new gallery takes, if it is measured; else the last that is."""
    preferred = preferred_method(backbone)
    return preferred if preferred in scores else scores[-1]


def methods(
    backbone: Backbone,
    train: LabeledItems,
    test: LabeledItems,
    scores: Sequence[str],
    *,
    controls: bool,
    progress: bool,
) -> list[Method]:
    """Our scores on the backbone's latents; with `controls`, also on an untrained encoder's, and nearest neighbors."""
    embedded = [backbone.embed(data.items, progress=progress) for data in (train, test)]
    latents = tuple(found.latents for found in embedded)
    ours = [
        _bank_score(score, tuple(compared_rows(score, found) for found in embedded), backbone_settings(backbone, score))
        for score in scores
    ]
    if not controls:
        return ours
    without_training = []
    if backbone.objective not in WRAPPED:  # a wrapped encoder was trained elsewhere, and cannot be untrained
        plain, settings = _untrained(backbone, train, test, latents, progress=progress)
        without_training = [
            _bank_score(f"{score}, untrained encoder", plain, {**settings, "method": score})
            for score in scores
            if score != "cosine"  # which compares features, not latents
        ]
    return [
        *ours,
        *without_training,
        nearest_neighbors(f"{NEIGHBORS} nearest neighbors, latents", latents),
        nearest_neighbors(f"{NEIGHBORS}-NN minus the background's {AROUND}-NN, latents", latents, backbone.background),
        *(
            nearest_neighbors(f"{NEIGHBORS} nearest neighbors, {name}", raw)
            for name, raw in _without_encoder(train, test).items()
        ),
    ]


def _bank_score(name: str, rows: tuple[Latents, ...], settings: dict[str, Any]) -> Method:
    train, test = rows

    def evaluate(chosen: Indices) -> Doubles:
        offsets = np.arange(len(chosen) + 1) * chosen.shape[1]
        return ClassBank(train[chosen.ravel()], offsets, **settings).scores(test)

    return Method(name, evaluate)


def nearest_neighbors(name: str, features: tuple[NDArray[Any], ...], background: NDArray[Any] | None = None) -> Method:
    """Minus the mean Euclidean distance to the nearest exemplars: a score without a radius.

    With a `background`, the mean distance to its `AROUND` nearest rows is added: an item in a sparse region is far from
    everything, and that says nothing about its class.
    """
    train, test = features
    emptiness = 0.0 if background is None else nearest_distances(test, background[None], AROUND)

    def evaluate(chosen: Indices) -> Doubles:
        return emptiness - nearest_distances(test, train[chosen], NEIGHBORS)

    return Method(name, evaluate)


def nearest_distances(queries: NDArray[Any], rows: NDArray[Any], count: int) -> Doubles:
    """Mean Euclidean distance `[n, C]` of each query to the `count` nearest rows of each group `[C, m, d]`."""
    groups, parts = torch.from_numpy(rows.astype(np.float32)), []
    for start in range(0, len(queries), ROWS):
        some = torch.from_numpy(queries[start : start + ROWS].astype(np.float32))
        distances = torch.cdist(some, groups.flatten(0, 1)).reshape(len(some), *groups.shape[:2])
        nearest = distances.topk(min(count, groups.shape[1]), largest=False).values
        parts.append(nearest.double().mean(-1))
    return np.asarray(torch.cat(parts).numpy())


def _without_encoder(train: LabeledItems, test: LabeledItems) -> dict[str, tuple[NDArray[Any], ...]]:
    """Give the items as they are without an encoder, by name.

    Images are their pixels. Vectors come twice: standardized, as a table of measurements is compared, and scaled to
    length 1, as embeddings are compared.
    """
    if train.kind == "images":
        return {"pixels": tuple(data.items.reshape(len(data), -1) for data in (train, test))}
    rows = train.items.astype(np.float64)
    # Because of rounding, a constant has a deviation above zero.
    mean, unit = rows.mean(axis=0), np.where(np.ptp(rows, axis=0) > 0, rows.std(axis=0), 1)
    lengths = (np.linalg.norm(data.items, axis=1, keepdims=True) for data in (train, test))
    return {
        "standardized vectors": tuple((data.items - mean) / unit for data in (train, test)),
        "normalized vectors": tuple(
            data.items / np.where(length > 0, length, 1) for data, length in zip((train, test), lengths, strict=True)
        ),
    }


def _untrained(
    backbone: Backbone, train: LabeledItems, test: LabeledItems, trained: tuple[Latents, ...], *, progress: bool
) -> tuple[tuple[Latents, ...], dict[str, Any]]:
    """Latents of the same encoder before training, and the settings to score them.

    They are scaled branch by branch so that as many pairs of train items lie within the radius as in the trained
    space: a radius that fits only the trained one would decide the comparison. The background are train items, for
    the backbone keeps its own as trained latents only.
    """
    fresh = replace(backbone, network=_initial_network(backbone))
    raw = tuple(fresh.encode(data.items, progress=progress) for data in (train, test))
    rng = np.random.default_rng(0)
    sample = rng.choice(len(train), min(SAMPLE, len(train)), replace=False)
    settings = backbone_settings(backbone)
    scale = _matching_scale(raw[0][sample], trained[0][sample], backbone.branches, settings["radius"])
    latents = tuple(part * scale for part in raw)
    background = latents[0][rng.choice(len(train), min(BACKGROUND, len(train)), replace=False)]
    return latents, {**settings, "background": background}


def _initial_network(backbone: Backbone) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = channels_last(objectives.find(backbone.objective).network_type(**backbone.network.architecture))
    if isinstance(network, FeatureHead) and isinstance(backbone.network, FeatureHead):
        # Training sets the features' units from the data before its first step, so the untrained encoder gets them too.
        network.scale.load_state_dict(backbone.network.scale.state_dict())
    return network


def _matching_scale(raw: Latents, trained: Latents, branches: int, radius: float) -> Latents:
    """A factor per column `[B·D]` that gives `raw` the share of pairs within the radius that `trained` has."""
    factors = []
    for untrained, shaped in zip(np.split(raw, branches, 1), np.split(trained, branches, 1), strict=True):
        share = (_pair_distances(shaped) <= radius).mean()
        reach = np.quantile(_pair_distances(untrained), share)
        factors.append(np.full(untrained.shape[1], radius / max(reach, np.finfo(np.float32).tiny)))
    return np.concatenate(factors).astype(np.float32)


def _pair_distances(points: Latents) -> Latents:
    distances: Latents = torch.pdist(torch.from_numpy(np.ascontiguousarray(points)), p=1).numpy()
    return distances
