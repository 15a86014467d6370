"""Which encoder for which images: the shipped encoder beside EfficientNet-Lite0, at the resolution of each.

python -m experiments encoders --data DIR --runs DIR

DIR of the data holds CIFAR-10 and CIFAR-100 as `corel data fetch` lays them out, and in folders of photos, one folder a
class: ``imagenette/train`` and ``val``, ``clothing/train``, ``validation`` and ``test``, ``mini-imagenet/train``.
Lite0's background is mini-ImageNet without Imagenette's classes; neither background comes from an evaluated set. Images
are the first ones of each class, `PER_CLASS` of them: fewer than there are, for the sake of time, and of CIFAR-100
too few for 120 exemplars. Encodings are kept under --runs, so that scoring anew is cheap. Lite0 was trained with
ImageNet's labels: it has seen Imagenette's classes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel import images
from corel.backbone import Backbone
from corel.oneclass import ClassBank, backbone_settings, compared_rows
from experiments._lib.command import folders
from experiments._lib.encoded import one_vs_all
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import split

DRAWS, RATE, NEIGHBORS = 5, 0.05, 5
EXEMPLARS = (10, 30, 120)
METHODS = ("count", "contrast", "cosine")
ENCODERS = ("shipped", "lite0")
SIZES = {"cifar10": 160, "cifar100": 160, "imagenette": 224, "clothing": 224}
PER_CLASS = {  # train and test; CIFAR-100 has enough for 30 exemplars
    "cifar10": (200, 200), "cifar100": (40, 10), "imagenette": (150, 60), "clothing": (150, 40),
}  # fmt: skip
PARTS = {"imagenette": (("train",), ("val",)), "clothing": (("train",), ("validation", "test"))}
BACKGROUND = 20  # photos of each of mini-ImageNet's classes
# Imagenette's classes that mini-ImageNet may have too.
SEEN = frozenset(
    {
        "n01440764", "n02102040", "n02979186", "n03000684", "n03028079",
        "n03394916", "n03417042", "n03425413", "n03445777", "n03888257",
    }
)  # fmt: skip

Rows = NDArray[np.float32]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Encoded:
    """What an encoder makes of one split: what each method compares, labels, and the CPU's milliseconds an image."""

    latents: Rows
    features: Rows
    labels: NDArray[np.int64]
    milliseconds: float


def measure(encoder: str, dataset: str, m: int, data: Path, runs: Path) -> dict[str, Any]:
    """AUC and the share of strangers that are detected, by each method, from m exemplars a class."""
    backbone = load(encoder, SIZES[dataset], data, runs)
    known, asked = (encode(backbone, dataset, part, data, runs) for part in (0, 1))
    rows = {method: _method(backbone, method, known, asked, m) for method in METHODS}
    rows["5-NN cosine"] = _summary([(_neighbors(known, asked, chosen), None) for chosen in _draws(known, m)], asked)
    compared = {method: compared_rows(method, known).shape[1] for method in METHODS}
    return {
        "methods": rows,
        "bytes a class": {method: 4 * m * width for method, width in compared.items()},
        "CPU ms an image": round(asked.milliseconds, 2),
        "test images": len(asked.labels),
        "classes": int(asked.labels.max()) + 1,
    }


def load(encoder: str, size: int, data: Path, runs: Path) -> Backbone:
    """The shipped default, or Lite0 at a size, wrapped unless it was."""
    if encoder == "shipped":
        return Backbone.load()
    file = runs / f"{encoder}-{size}.safetensors"
    if not file.exists():
        photos = _photos(data / "mini-imagenet", ("train",), BACKGROUND, SEEN)[0]
        Backbone.wrap(encoder, photos, size=size, partial=file.with_suffix(".partial"), progress=True).save(file)
    return Backbone.load(file)


def encode(backbone: Backbone, dataset: str, part: int, data: Path, runs: Path) -> Encoded:
    """Encode a split once; the encoding is kept."""
    file = runs / f"{backbone.digest[:12]}-{dataset}-{('train', 'test')[part]}.npz"
    if not file.exists():
        source, labels = _source(dataset, part, data)
        found, seconds = [], 0.0
        for batch in images.stream(source, backbone.preparation, strict=True, progress=True):
            started = time.process_time()
            found.append(backbone.embed(batch.values))
            seconds += time.process_time() - started
        columns = [np.concatenate(column) for column in zip(*found, strict=True)]
        np.savez(file, latents=columns[0], features=columns[1], labels=labels, ms=1000 * seconds / len(labels))
    kept = np.load(file)
    return Encoded(kept["latents"], kept["features"], kept["labels"], float(kept["ms"]))


def _source(dataset: str, part: int, data: Path) -> tuple[Any, NDArray[np.int64]]:
    count = PER_CLASS[dataset][part]
    if dataset in PARTS:
        return _photos(data / dataset, PARTS[dataset][part], count)
    opened = split(dataset, ("train", "test")[part], data)
    labels = np.asarray(opened.labels)
    rows = np.concatenate([np.flatnonzero(labels == label)[:count] for label in range(len(opened.classes))])
    return opened.pixels[rows], labels[rows]


@cache
def _photos(
    folder: Path, parts: tuple[str, ...], count: int, without: frozenset[str] = frozenset()
) -> tuple[list[Path], NDArray[np.int64]]:
    names = sorted({each.name for part in parts for each in (folder / part).iterdir() if each.is_dir()} - without)
    found = [sorted(f for part in parts for f in (folder / part / name).iterdir())[:count] for name in names]
    labels = np.repeat(np.arange(len(names)), [len(each) for each in found])
    return [file for each in found for file in each], labels


def _method(backbone: Backbone, method: str, known: Encoded, asked: Encoded, m: int) -> dict[str, Any]:
    settings = backbone_settings(backbone, method)
    train, test = compared_rows(method, known), compared_rows(method, asked)
    found = []
    for chosen in _draws(known, m):
        bank = ClassBank.of([train[rows] for rows in chosen], **settings)
        result = bank.assess(test)
        found.append((result.scores, result.p_values))
    return _summary(found, asked)


def _draws(known: Encoded, m: int) -> list[list[NDArray[np.int64]]]:
    """Exemplars of each class, drawn anew; fewer where a class has fewer."""
    classes = range(int(known.labels.max()) + 1)
    return [
        [
            np.random.default_rng([0, draw, label]).permutation(np.flatnonzero(known.labels == label))[:m]
            for label in classes
        ]
        for draw in range(DRAWS)
    ]


def _neighbors(known: Encoded, asked: Encoded, chosen: Sequence[NDArray[np.int64]]) -> Doubles:
    """The mean cosine to the 5 nearest exemplars of each class."""
    train, test = (_unit(each.features) for each in (known, asked))
    nearest = [np.sort(test @ train[rows].T, axis=1)[:, -NEIGHBORS:].mean(axis=1) for rows in chosen]
    return np.stack(nearest, axis=1).astype(np.float64)


def _unit(rows: Rows) -> Rows:
    unit: Rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return unit


def _summary(found: Sequence[tuple[Doubles, Doubles | None]], asked: Encoded) -> dict[str, Any]:
    aucs = [one_vs_all(scores, asked.labels) for scores, _ in found]
    strangers = [_detected(p_values, asked.labels) for _, p_values in found if p_values is not None]
    return {
        "auc": float(np.mean(aucs)),
        "standard error": float(np.std(aucs, ddof=1) / np.sqrt(len(aucs))),
        "strangers detected": float(np.mean(strangers)) if strangers else None,
    }


def _detected(p_values: Doubles, labels: NDArray[np.int64]) -> float:
    """The share of images that every class but their own rejects: as if their own had not been enrolled."""
    others = p_values.copy()
    others[np.arange(len(labels)), labels] = 0
    return float((others.max(axis=1) <= RATE).mean())


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what is missing."""
    arguments = folders(__name__, __doc__, argv)
    data, runs = arguments.data, arguments.runs
    runs.mkdir(parents=True, exist_ok=True)
    settings = {"draws": DRAWS, "rate": RATE, "methods": METHODS, "background": BACKGROUND}
    parts = [
        Part(f"{encoder} → {dataset}, m = {m}",
             {**settings, "exemplars": m, "images a class": PER_CLASS[dataset], "size": SIZES[dataset]},
             partial(measure, encoder, dataset, m, data, runs))
        for encoder, dataset, m in product(ENCODERS, SIZES, EXEMPLARS)
        if m <= PER_CLASS[dataset][0]
    ]  # fmt: skip
    run_parts("encoders", parts, {**settings, "encoders": ENCODERS, "evaluated": list(SIZES), "seen": "imagenette"})
