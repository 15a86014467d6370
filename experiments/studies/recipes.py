"""What a longer label-free training should change, judged by the score that a new gallery takes.

Each recipe is one idea away from the preset: trained on 20,000 images for about as long as each other, and
measured on folds of CIFAR-10's train split, so that no test image decides anything. The study `contrastive` compared
latents; the cosine score compares pooled features, which other recipes may suit. Writes
experiments/results/recipes.json.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import corel.images
from corel.images import ImageSet
from corel.objectives import _views, contrastive
from corel.training import TrainConfig
from experiments._lib import pretexts
from experiments._lib.command import parser
from experiments._lib.parts import Part, named, run_parts
from experiments._lib.trainings import split, train_once
from experiments.studies.general import on_folds

IMAGES, EPOCHS, EVALUATED = 20_000, 3, "cifar10"
TINY, NATIVE, BOTH = "Tiny-ImageNet", "Tiny-ImageNet at 64 pixels", "CIFAR-100 and Tiny-ImageNet"
AT_32 = {  # equal shares of these sets, at 32 pixels
    TINY: ("tiny-imagenet",),
    "CIFAR-100": ("cifar100",),
    "Tiny-ImageNet and CIFAR-100": ("tiny-imagenet", "cifar100"),
    "Tiny-ImageNet and mini-ImageNet": ("tiny-imagenet", "mini-imagenet"),
}
# By what name a recipe asks for it: where in the library it goes, and what.
PRETEXTS: dict[str, tuple[Any, str, Any]] = {
    "two heads": (contrastive, "OBJECTIVE", pretexts.TwoHeads),
    "averaged": (_views, "_sample", pretexts.averaged),
    "rotations": (contrastive, "OBJECTIVE", pretexts.Rotations),
    "averaged weights": (contrastive, "OBJECTIVE", pretexts.AveragedWeights),
    "decoupled": (contrastive, "nt_xent", pretexts.decoupled),
    "decorrelated": (contrastive, "nt_xent", pretexts.decorrelated),
    "several crops": (contrastive.Contrastive, "forward", pretexts.several_crops),
    "momentum": (contrastive.Contrastive, "forward", pretexts.momentum),
}


@dataclass(frozen=True)
class Recipe:
    """Fields of the preset that are other than usual, other pretexts, and other images."""

    config: dict[str, Any] = field(default_factory=dict)
    pretexts: tuple[str, ...] = ()
    images: str = TINY

    def training(self) -> TrainConfig:
        """The preset with this recipe's changes."""
        return TrainConfig.preset("contrastive", **{"epochs": EPOCHS, **self.config})

    def settings(self) -> dict[str, Any]:
        """Everything that decides the training, as JSON has it."""
        return {"config": asdict(self.training()), "pretexts": self.pretexts, "images": self.images, "count": IMAGES}

    def file(self, runs: Path) -> Path:
        """Where the trained encoder lies."""
        digest = hashlib.sha256(json.dumps(self.settings(), sort_keys=True).encode()).hexdigest()
        return runs / f"recipe-{digest[:12]}.safetensors"


RECIPES: dict[str, Recipe] = {
    "the preset": Recipe(),
    "a deeper head on the features beside the latents": Recipe(pretexts=("two heads",)),
    "quarter turns of half of the images": Recipe(pretexts=("rotations",)),
    "temperature 0.1": Recipe({"temperature": 0.1}),
    "a moving average of the weights": Recipe(pretexts=("averaged weights",)),
    "no connectivity loss": Recipe({"weight": 0.0}),
    "views from 64 pixels": Recipe({"image_size": 32}, images=NATIVE),
    "views from 64 pixels, half of the images from CIFAR-100": Recipe({"image_size": 32}, images=BOTH),
    "views from 64 pixels, averaged where they shrink": Recipe({"image_size": 32}, ("averaged",), NATIVE),
    "averaged where views shrink": Recipe(pretexts=("averaged",)),
    "half of the images from mini-ImageNet": Recipe(images="Tiny-ImageNet and mini-ImageNet"),
    "half of the images from CIFAR-100": Recipe(images="Tiny-ImageNet and CIFAR-100"),
    "all images from CIFAR-100": Recipe(images="CIFAR-100"),
    "width 40, 2 epochs": Recipe({"width": 40, "epochs": 2}),
    "decoupled loss": Recipe(pretexts=("decoupled",)),
    "correlations between dimensions cost": Recipe(pretexts=("decorrelated",)),
    "two further views of 16 pixels, 2 epochs": Recipe({"epochs": 2}, ("several crops",)),
    "compared with a slow copy's views, 2 epochs": Recipe({"epochs": 2}, ("momentum",)),
}


def learned_from(which: str, data: Path) -> ImageSet:
    """The images that a recipe is trained on."""
    if which in AT_32:
        names = AT_32[which]
        return _mixed([_drawn(split(name, "train", data), IMAGES // len(names)) for name in names], which)
    large = corel.images.open("tiny-imagenet", "train", root=data, size=64)
    if which == NATIVE:
        return _drawn(large, IMAGES)
    small, native = (_drawn(images, IMAGES // 2) for images in (split("cifar100", "train", data), large))
    # A doubled image that is halved again is what it was.
    doubled = replace(small, pixels=small.pixels.repeat(2, axis=1).repeat(2, axis=2))
    return _mixed([doubled, native], BOTH)


def _mixed(sets: list[ImageSet], called: str) -> ImageSet:
    if len(sets) == 1:
        return sets[0]
    order = np.random.default_rng(1).permutation(IMAGES)  # a background of the first rows has all
    names = [name for each in sets for name in each.names]
    return ImageSet(np.concatenate([each.pixels for each in sets])[order], None, (), [names[i] for i in order], called)


def _drawn(images: ImageSet, count: int) -> ImageSet:
    return images.take(np.random.default_rng(0).permutation(len(images))[:count])


def measure(recipe: Recipe, data: Path, runs: Path) -> dict[str, Any]:
    """AUC of every score on the folds, and the death times and seconds of the training."""
    with ExitStack() as changed:
        for pretext in recipe.pretexts:
            changed.enter_context(patch.object(*PRETEXTS[pretext]))
        backbone = train_once(lambda: learned_from(recipe.images, data), recipe.training(), recipe.file(runs))
    return {
        "deaths": backbone.deaths.mean(0).tolist(),
        "seconds": sum(epoch["seconds"] for epoch in backbone.metadata["history"]),
        "auc": on_folds(backbone, EVALUATED, data),
    }


def main(argv: Sequence[str]) -> None:
    """Read the command line, train and measure what is missing."""
    command = parser(__name__, __doc__, ("data", "runs"))
    command.add_argument("--only", nargs="+", metavar="RECIPE", help="recipes to train now, such as 'width 40'")
    arguments = command.parse_args(argv)
    parts = [
        Part(name, recipe.settings(), partial(measure, recipe, arguments.data, arguments.runs))
        for name, recipe in RECIPES.items()
    ]
    config = {"images": IMAGES, "evaluated": "CIFAR-10, folds of the train split"}
    run_parts("recipes", parts, config, only=named(parts, arguments.only))
