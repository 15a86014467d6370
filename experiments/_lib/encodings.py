"""Photographs as the shipped encoder and EfficientNet-Lite0 see them, encoded once and kept under the runs folder.

The data folder holds CIFAR-10 and CIFAR-100 as `corel data fetch` lays them out, and in folders of photos, one folder a
class: ``imagenette/train`` and ``val``, ``clothing/train``, ``validation`` and ``test``, ``mini-imagenet/train``.
Lite0's background is mini-ImageNet without Imagenette's classes: neither background comes from an evaluated set.
What is kept of Lite0 are its own vectors; as a backbone it is `Backbone.wrap` of those, which whitens them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from corel import images
from corel.backbone import Backbone
from corel.encoders.base import Embedding
from corel.encoders.stock import Wrapping
from corel.encoders.wrapping import find_encoder
from experiments._lib.trainings import split

ENCODERS = ("lite0", "shipped")
SIZES = {"cifar10": 160, "cifar100": 160, "imagenette": 224, "clothing": 224}  # pixels that Lite0 sees
# The first images of each class, train and test: fewer than there are, for the sake of time.
IMAGES = {"cifar10": (200, 200), "cifar100": (130, 20), "imagenette": (150, 60), "clothing": (150, 40)}
PARTS = ("train", "test")
FOLDERS: dict[str, dict[str, tuple[str, ...]]] = {
    "imagenette": {"train": ("train",), "test": ("val",)},
    "clothing": {"train": ("train",), "test": ("validation", "test")},
}
BACKGROUND = 20  # photos of each of mini-ImageNet's classes
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
    """A split: what a backbone makes of it, what nearest neighbors compare, and the labels."""

    latents: Rows
    features: Rows
    raw: Rows
    labels: Labels


def load(encoder: str, dataset: str, data: Path, runs: Path) -> Backbone:
    """The shipped default, or Lite0 at the size for a dataset, on its vectors of the background."""
    if encoder == "shipped":
        return Backbone.load()
    return Backbone.wrap("vectors", background(encoder, dataset, data, runs))


def background(encoder: str, dataset: str, data: Path, runs: Path) -> Rows:
    """A wrapped encoder's own vectors of the background, at the size for a dataset."""
    photos = partial(_photos, data / "mini-imagenet", ("train",), BACKGROUND, SEEN)
    return _kept(encoder, SIZES[dataset], f"background-{BACKGROUND}", photos, runs)[0]


def vectors(encoder: str, dataset: str, part: str, data: Path, runs: Path) -> tuple[Rows, Labels]:
    """A wrapped encoder's own vectors of a split, and the labels."""
    latents, _, labels = _split(encoder, dataset, part, data, runs)
    return latents, labels


def encode(backbone: Backbone, encoder: str, dataset: str, part: str, data: Path, runs: Path) -> Encoded:
    """Encode a split, or read its encoding."""
    latents, features, labels = _split(encoder, dataset, part, data, runs)
    if encoder == "shipped":
        return Encoded(latents, features, features, labels)
    whitened = backbone.encode(latents)
    return Encoded(whitened, whitened, latents, labels)


def _split(encoder: str, dataset: str, part: str, data: Path, runs: Path) -> tuple[Rows, Rows, Labels]:
    count = IMAGES[dataset][PARTS.index(part)]
    source = partial(_source, dataset, part, count, data)
    return _kept(encoder, SIZES[dataset], f"{dataset}-{part}-{count}", source, runs)


def _kept(
    encoder: str, size: int, name: str, source: Callable[[], tuple[Any, Labels]], runs: Path
) -> tuple[Rows, Rows, Labels]:
    file = runs / (f"{encoder}-{name}.npz" if encoder == "shipped" else f"{encoder}-{size}-{name}.npz")
    if not file.exists():
        items, labels = source()
        found = _embedded(encoder, size, items)
        np.savez(file, latents=found.latents, features=found.features, labels=labels)
    kept = np.load(file)
    return kept["latents"], kept["features"], kept["labels"]


def _embedded(encoder: str, size: int, items: Any) -> Embedding:
    preparation, embed = _network(encoder, size, items)
    stream = images.stream(items, preparation, strict=True, progress=True)
    found = [embed(batch.values) for batch in stream]
    return Embedding(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _network(encoder: str, size: int, items: Any) -> tuple[Any, Callable[[Any], Any]]:
    """How items are prepared and embedded; nothing of an encoder is loaded unless a file is missing."""
    if encoder == "shipped":
        backbone = Backbone.load()
        return backbone.preparation, backbone.embed
    wrapped = find_encoder(encoder, items, Wrapping(size=size))
    return wrapped.preparation, wrapped.network.embed


def _source(dataset: str, part: str, count: int, data: Path) -> tuple[Any, Labels]:
    if dataset in FOLDERS:
        return _photos(data / dataset, FOLDERS[dataset][part], count)
    opened = split(dataset, part, data)
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
