"""The recipe of the shipped label-free encoder with views cropped from Tiny-ImageNet's 64 pixels instead of 32.

The images and the seed are the same, and there are no labels; it has 20 epochs where the shipped one had 28. Folds of
the train splits of CIFAR-10 and CIFAR-100, which both encoders have not seen, compare it with what ships. Writes
experiments/results/native.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import corel.images
from corel.backbone import Backbone
from corel.training import TrainConfig, train
from experiments._lib.command import folders
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import titled
from experiments.studies.general import START as SHIPPED
from experiments.studies.general import on_folds, with_native_background
from measuring.threads import limited_to

NAME, AUXILIARY, SIDE, THREADS = "tiny-imagenet-64-contrastive-16x10", "tiny-imagenet", 64, 1
CONFIG = TrainConfig.preset("contrastive", epochs=20, image_size=32)
EVALUATED = ("cifar10", "cifar100")


def encoder(data: Path, runs: Path) -> Backbone:
    """The encoder, trained unless it was."""
    file = runs / f"{NAME}.safetensors"
    if not file.exists():
        images = titled(corel.images.open(AUXILIARY, "train", root=data, size=SIDE), AUXILIARY)
        with limited_to(THREADS):  # their number decides the weights
            trained = train(images, CONFIG, run_dir=file.with_suffix(""))
        with_native_background(trained, data, (AUXILIARY,)).save(file)
    return Backbone.load(file)


def main(argv: Sequence[str]) -> None:
    """Read the command line, train unless it was, and compare on folds."""
    arguments = folders(__name__, __doc__, argv)
    compared = {NAME: encoder(arguments.data, arguments.runs), SHIPPED: Backbone.load(SHIPPED)}
    parts = [
        Part(f"{name}, folds of {dataset}", {"digest": each.digest}, partial(on_folds, each, dataset, arguments.data))
        for dataset in EVALUATED
        for name, each in compared.items()
    ]
    run_parts("native", parts, {"epochs": CONFIG.epochs, "threads": THREADS})
