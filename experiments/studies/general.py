"""The label-free encoder trained on: CIFAR-100's train split and half of Tiny-ImageNet, from the shipped weights.

Views are cropped from Tiny-ImageNet's 64 pixels; CIFAR-100's pixels are doubled to the same side. Folds of CIFAR-10's
train split compare it with what it started from. Writes experiments/results/general.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import corel.images
from corel.backbone import Backbone
from corel.images import ImageSet
from corel.training import TrainConfig, train
from experiments._lib.command import folders
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import split
from experiments.studies.cosine_folds import controls, folds, measure
from measuring.threads import limited_to

NAME, START = "general-contrastive-16x10", "tiny-imagenet-contrastive-16x10"
SOURCES, SIDE, THREADS, POOLED = ("cifar100", "tiny-imagenet"), 64, 2, 2000
# The start has learned from small views already. The processors at hand multiply bfloat16 without tiles.
CONFIG = TrainConfig.preset("contrastive", epochs=20, image_size=32, view_size=24, precision="bfloat16")
CALLED = "CIFAR-100 train split and 250 Tiny-ImageNet train images a class"


def images(data: Path) -> ImageSet:
    """Both sets at 64 pixels a side. A doubled image that is halved again is what it was."""
    small = split("cifar100", "train", data)
    large = corel.images.open("tiny-imagenet", "train", root=data, size=SIDE)
    pixels = np.concatenate([small.pixels.repeat(2, axis=1).repeat(2, axis=2), large.pixels])
    return ImageSet(pixels, None, (), [*small.names, *large.names], CALLED)


def with_native_background(backbone: Backbone, data: Path, sources: Sequence[str] = SOURCES) -> Backbone:
    """The same encoder, with a background of images that were resized as a gallery's are: as many of each set."""
    share = len(backbone.background) // len(sources)
    rng = np.random.default_rng(CONFIG.seed)
    drawn = [split(name, "train", data).pixels[rng.permutation(50_000)[:share]] for name in sources]
    mixed = np.stack(drawn, axis=1).reshape(-1, *drawn[0].shape[1:])  # alternating, so that any beginning is mixed
    latents, features = backbone.embed(mixed, progress=True)
    pooled = features[:POOLED].astype(np.float16).astype(np.float32)
    return replace(backbone, background=latents.astype(np.float16).astype(np.float32), pooled_background=pooled)


def encoder(data: Path, runs: Path) -> Backbone:
    """The encoder, trained unless it was."""
    file = runs / f"{NAME}.safetensors"
    if not file.exists():
        with limited_to(THREADS):  # their number decides the weights
            trained = train(images(data), CONFIG, start=START, run_dir=file.with_suffix(""))
        with_native_background(trained, data).save(file)
    return Backbone.load(file)


def on_folds(backbone: Backbone, dataset: str, data: Path) -> dict[str, Any]:
    """Mean AUC of every score on folds of a train split."""
    return measure(folds(backbone, dataset, data), partial(controls, backbone=backbone))


def main(argv: Sequence[str]) -> None:
    """Read the command line, train unless it was, and compare on folds."""
    arguments = folders(__name__, __doc__, argv)
    compared = {NAME: encoder(arguments.data, arguments.runs), START: Backbone.load(START)}
    parts = [
        Part(f"{name}, folds of cifar10", {"digest": each.digest}, partial(on_folds, each, "cifar10", arguments.data))
        for name, each in compared.items()
    ]
    run_parts("general", parts, {"epochs": CONFIG.epochs, "start": START, "threads": THREADS})
