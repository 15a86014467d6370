"""Photographs as the shipped encoder and EfficientNet-Lite0 see them, encoded once and kept under the runs folder.

The data folder holds CIFAR-10 and CIFAR-100 as `corel data fetch` lays them out, and in folders of photos, one folder a
class: ``imagenette/train`` and ``val``, ``clothing/train``, ``validation`` and ``test``, ``mini-imagenet/train``.
Lite0's background is mini-ImageNet without Imagenette's classes: neither background comes from an evaluated set.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from corel import images
from corel.backbone import Backbone
from experiments._lib.trainings import split

ENCODERS = ("shipped", "lite0")
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

Part: TypeAlias = Literal["train", "test"]
Rows: TypeAlias = NDArray[np.float32]
Labels: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Encoded:
    """What an encoder makes of one split: what each method compares, and the labels."""

    latents: Rows
    features: Rows
    labels: Labels


def load(encoder: str, dataset: str, data: Path, runs: Path) -> Backbone:
    """The shipped default, or Lite0 at the size for a dataset, wrapped unless it was."""
    if encoder == "shipped":
        return Backbone.load()
    size = SIZES[dataset]
    file = runs / f"{encoder}-{size}-{BACKGROUND}.safetensors"
    if not file.exists():
        photos = _photos(data / "mini-imagenet", ("train",), BACKGROUND, SEEN)[0]
        Backbone.wrap(encoder, photos, size=size, partial=file.with_suffix(".partial"), progress=True).save(file)
    return Backbone.load(file)


def encode(backbone: Backbone, dataset: str, part: Part, data: Path, runs: Path) -> Encoded:
    """Encode a split once. The file's name says by what: another background changes nothing in it."""
    file = runs / f"{_identity(backbone)}-{dataset}-{part}-{IMAGES[dataset][PARTS.index(part)]}.npz"
    if not file.exists():
        source, labels = _source(dataset, part, data)
        stream = images.stream(source, backbone.preparation, strict=True, progress=True)
        found = [backbone.embed(batch.values) for batch in stream]
        latents, features = (np.concatenate(column) for column in zip(*found, strict=True))
        np.savez(file, latents=latents, features=features, labels=labels)
    kept = np.load(file)
    return Encoded(kept["latents"], kept["features"], kept["labels"])


def _identity(backbone: Backbone) -> str:
    content = hashlib.sha256(repr(backbone.preparation.document()).encode())
    for name, tensor in sorted(backbone.network.state_dict().items()):
        content.update(name.encode() + tensor.numpy().tobytes())
    return content.hexdigest()[:12]


def _source(dataset: str, part: Part, data: Path) -> tuple[Any, Labels]:
    count = IMAGES[dataset][PARTS.index(part)]
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
