"""The label-free encoder trained on with twice the images: Tiny-ImageNet and mini-ImageNet, by the recipe that ships.

The images are resized to 32 pixels first, as a gallery resizes what it recognizes. `general` and `native` cropped views
from larger images and became worse. mini-ImageNet is used without the classes that Imagenette has, so that Imagenette
stays new. Folds of train splits that no training has seen compare the encoder with the one it started from, with two
trainings at a quarter of the schedule, whose seeds alone differ, and with the same recipe on CIFAR-100 alone, the
paper's auxiliary set. Writes experiments/results/photos.json.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from corel.backbone import Backbone
from corel.images import ImageSet
from corel.training import TrainConfig, train
from experiments._lib.command import parser
from experiments._lib.encodings import SEEN
from experiments._lib.parts import Part, named, run_parts
from experiments._lib.trainings import split, trained
from experiments.studies.general import on_folds
from measuring.threads import limited_to

NAME, START = "photos-contrastive-16x10", "tiny-imagenet-contrastive-16x10"
CONFIG, THREADS = TrainConfig.preset("contrastive"), 1
SHORTER = {f"a quarter, seed {seed}": replace(CONFIG, epochs=CONFIG.epochs // 4, seed=seed) for seed in (1, 2)}
CALLED = "250 Tiny-ImageNet train images a class, and mini-ImageNet's train images without Imagenette's classes"
EVALUATED = ("cifar10", "cifar100")
ALONE = "CIFAR-100 alone"


def images(data: Path) -> ImageSet:
    """Both sets at 32 pixels, without labels."""
    tiny, mini = split("tiny-imagenet", "train", data), split("mini-imagenet", "train", data)
    assert mini.labels is not None
    new = mini.take(np.flatnonzero([mini.classes[label] not in SEEN for label in mini.labels]))
    return ImageSet(np.concatenate([tiny.pixels, new.pixels]), None, (), [*tiny.names, *new.names], CALLED)


def encoder(data: Path, runs: Path, config: TrainConfig = CONFIG) -> Backbone:
    """The encoder, trained unless it was."""
    file = runs / f"{NAME}{'' if config == CONFIG else f'-epochs-{config.epochs}-seed-{config.seed}'}.safetensors"
    if not file.exists():
        with limited_to(THREADS):  # their number decides the weights
            train(images(data), config, start=START, run_dir=file.with_suffix("")).save(file)
    return Backbone.load(file)


def main(argv: Sequence[str]) -> None:
    """Read the command line, train unless it was, and compare on folds."""
    command = parser(__name__, __doc__, ("data", "runs"))
    command.add_argument("--only", nargs="+", metavar="PART", help="parts to do now, such as those with 'seed 1'")
    arguments = command.parse_args(argv)
    data, runs = arguments.data, arguments.runs
    compared = {
        NAME: partial(encoder, data, runs),
        START: partial(Backbone.load, START),
        **{name: partial(encoder, data, runs, config) for name, config in SHORTER.items()},
        ALONE: partial(trained, "cifar100", CONFIG, data, runs, THREADS),
    }
    parts = [
        Part(f"{name}, folds of {dataset}", {"epochs": CONFIG.epochs}, partial(_measure, each, dataset, data))
        for dataset in EVALUATED
        for name, each in compared.items()
        if (name, dataset) != (ALONE, "cifar100")  # a closed world
    ]
    settings = {"epochs": CONFIG.epochs, "start": START, "threads": THREADS}
    run_parts("photos", parts, settings, only=named(parts, arguments.only))


def _measure(load: Callable[[], Backbone], dataset: str, data: Path) -> dict[str, Any]:
    return on_folds(load(), dataset, data)
