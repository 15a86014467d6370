"""What the contrastive objective needs, on folds of CIFAR-10's train split.

Every variant is one idea away from a short form of the first recipe, or joins ideas that helped: trained on 20,000
images of Tiny-ImageNet for a few minutes, about as long as each other, and measured on images of CIFAR-10's train
split, so that no test image decides anything. Beside the radius η, scores are measured at radii that hold a given share
of the distances between background latents, so that the scale of the latents plays no part. Writes
experiments/results/contrastive.json.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from corel.backbone import Backbone
from corel.encoders.base import BACKGROUND
from corel.images import ImageSet
from corel.objectives import _views, contrastive
from corel.oneclass import backbone_settings
from corel.training import TrainConfig
from experiments._lib import pretexts
from experiments._lib.command import folders
from experiments._lib.encoded import DRAWS, Encoded, Latents
from experiments._lib.names import SCORES
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import auxiliary_images, split, train_once
from experiments.studies.control import in_batch_distances

AUXILIARY, IMAGES = "tiny-imagenet", 20_000
EXEMPLARS = 120
SHARES = (0.02, 0.05, 0.1)
TESTED, ENROLLABLE = 5_000, 10_000
# Where the exploration began; the preset is where it ended.
FIRST: dict[str, Any] = {
    "batch_size": 256, "learning_rate": 3e-3, "temperature": 0.2, "view_area": 0.2, "projection": 256,
}  # fmt: skip
EPOCHS = 3
SMALLER: dict[str, Any] = {"batch_size": 128, "learning_rate": 2e-3}
CLOSER: dict[str, Any] = {"view_area": 0.08}
MEASURED = {"exemplars": EXEMPLARS, "shares": SHARES, "tested": TESTED, "enrollable": ENROLLABLE}


# By what name a variant asks for it: where in the library it goes, and what.
PRETEXTS: dict[str, tuple[Any, str, Any]] = {
    "decoupled": (contrastive, "nt_xent", pretexts.decoupled),
    "Barlow Twins": (contrastive, "nt_xent", pretexts.barlow_twins),
    "L1 distance": (contrastive, "nt_xent", pretexts.by_distance),
    "decorrelated": (contrastive, "nt_xent", pretexts.decorrelated),
    "three layers": (contrastive, "projection", pretexts.deeper_projection),
    "several crops": (contrastive.Contrastive, "forward", pretexts.several_crops),
    "momentum": (contrastive.Contrastive, "forward", pretexts.momentum),
}


@dataclass(frozen=True)
class Variant:
    """Fields of the first recipe and constants of the objective that are other than usual, and perhaps its loss."""

    config: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    loss: str | None = None
    mirrored: bool = False  # whether latents are the mean over an image and its mirror image

    def training_settings(self) -> dict[str, Any]:
        """Everything that decides the training, as JSON has it."""
        return {"config": asdict(self.training()), "constants": self.constants, "loss": self.loss, "images": IMAGES}

    def settings(self) -> dict[str, Any]:
        """Everything that decides the result."""
        return {**self.training_settings(), "mirrored": self.mirrored, **MEASURED}

    def file(self, runs: Path) -> Path:
        """Where the trained encoder lies."""
        digest = hashlib.sha256(json.dumps(self.training_settings(), sort_keys=True).encode()).hexdigest()
        return runs / f"variant-{digest[:12]}.safetensors"

    def training(self) -> TrainConfig:
        """The first recipe with this variant's changes."""
        return TrainConfig.preset("contrastive", **{**FIRST, "epochs": EPOCHS, **self.config})

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """The objective with this variant's constants and loss."""
        with ExitStack() as changed:
            for name, value in self.constants.items():
                module = next(each for each in (contrastive, _views) if hasattr(each, name))
                changed.enter_context(patch.object(module, name, value))
            if self.loss:
                changed.enter_context(patch.object(*PRETEXTS[self.loss]))
            yield


VARIANTS: dict[str, Variant] = {
    "the first recipe, shortened": Variant(),
    "latents averaged with the mirror image's": Variant(mirrored=True),
    "batches of 128, step size 2e-3": Variant(SMALLER),
    "temperature 0.1": Variant({"temperature": 0.1}),
    "crops of 8 % and more": Variant(CLOSER),
    "batches of 128, temperature 0.1, crops of 8 %": Variant({**SMALLER, **CLOSER, "temperature": 0.1}),
    "no projection": Variant({"projection": 0}),
    "no projection, batches of 128, crops of 8 %": Variant({**SMALLER, **CLOSER, "projection": 0}),
    "no projection, batches of 128, crops of 8 %, temperature 0.1": Variant(
        {**SMALLER, **CLOSER, "projection": 0, "temperature": 0.1}
    ),
    "views stay at 16 pixels for half the training, 4 epochs": Variant({"epochs": 4}, {"GROWING": (0.5, 0.75)}),
    "decoupled loss": Variant(loss="decoupled"),
    "no growing: views of 32 pixels, 2 epochs": Variant({"epochs": 2, "view_size": None}),
    "no turn of colors": Variant(constants={"HUE": 0.0}),
    "32 branches of 5": Variant({"branches": 32, "branch_dim": 5}),
    "Barlow Twins in place of NT-Xent": Variant(loss="Barlow Twins"),
    "connectivity of all 256 latents": Variant({"cloud_size": 256, "weight": 1 / 255}),
    "connectivity four times heavier": Variant({"weight": 4 / 127}),
    "projection of three layers with norms": Variant(loss="three layers"),
    "no projection, batches of 128, crops of 8 %; correlations between dimensions cost": Variant(
        {**SMALLER, **CLOSER, "projection": 0}, loss="decorrelated"
    ),
    "no projection, batches of 128, crops of 8 %; no connectivity loss": Variant(
        {**SMALLER, **CLOSER, "projection": 0, "weight": 0.0}
    ),
    "no projection, batches of 128, crops of 8 %; L1 distances for cosines, temperature 0.5": Variant(
        {**SMALLER, **CLOSER, "projection": 0, "temperature": 0.5}, loss="L1 distance"
    ),
    "no projection, batches of 128, crops of 8 %; two further views of 16 pixels, 2 epochs": Variant(
        {**SMALLER, **CLOSER, "projection": 0, "epochs": 2}, loss="several crops"
    ),
    "no projection, batches of 128, crops of 8 %; compared with a slow copy's views, 2 epochs": Variant(
        {**SMALLER, **CLOSER, "projection": 0, "epochs": 2}, loss="momentum"
    ),
}


def fold(backbone: Backbone, data: Path, mirrored: bool) -> Encoded:
    """Part of CIFAR-10's train split to test on and another to enroll from, encoded, and the background likewise."""
    images = split("cifar10", "train", data)
    order = np.random.default_rng(0).permutation(len(images))
    tests, rest = images.take(order[:TESTED]), images.take(order[TESTED : TESTED + ENROLLABLE])
    asked, known = (encode(backbone, part, mirrored) for part in (tests, rest))
    settings = backbone_settings(backbone)
    if mirrored:
        settings["background"] = encode(backbone, learned_from(data).take(np.arange(BACKGROUND)), mirrored)
    return Encoded(rest, known, asked, np.asarray(tests.labels), settings)


def encode(backbone: Backbone, images: ImageSet, mirrored: bool) -> Latents:
    """Latents of the images, or their mean with those of the mirror images."""
    latents = backbone.encode(images, progress=True)
    if mirrored:
        latents += backbone.encode(images.pixels[:, :, ::-1], progress=True)
        latents /= 2
    return latents


def radii_of(backbone: Backbone, background: Latents, shares: tuple[float, ...] = SHARES) -> dict[str, float]:
    """η, and the radii that hold the shares of distances between background latents, all branches together."""
    distances = in_batch_distances(background, backbone.branches, backbone.batch_size)
    return {"η": backbone.eta, **{f"{share:.0%}": float(np.quantile(distances, share)) for share in shares}}


def measure(backbone: Backbone, data: Path, mirrored: bool = False) -> dict[str, Any]:
    """AUC by score and radius, and the death times that go with it."""
    encoded = fold(backbone, data, mirrored)
    radii = radii_of(backbone, encoded.settings["background"])
    ways = {name: replace(encoded, settings={**encoded.settings, "radius": r}) for name, r in radii.items()}
    return {
        "deaths": backbone.deaths.mean(0).tolist(),
        "seconds": sum(epoch["seconds"] for epoch in backbone.metadata["history"]),
        "radii": radii,
        "auc": {score: {name: way.auc(EXEMPLARS, score) for name, way in ways.items()} for score in SCORES},
    }


def learned_from(data: Path) -> ImageSet:
    """The images that variants are trained on."""
    images = auxiliary_images(AUXILIARY, data)
    return images.take(np.random.default_rng(0).permutation(len(images))[:IMAGES])


def _measure(variant: Variant, data: Path, runs: Path) -> dict[str, Any]:
    with variant.in_force():
        backbone = train_once(lambda: learned_from(data), variant.training(), variant.file(runs))
    return measure(backbone, data, variant.mirrored)


def main(argv: Sequence[str]) -> None:
    """Read the command line, train and measure what is missing."""
    arguments = folders(__name__, __doc__, argv)
    parts = [
        Part(name, variant.settings(), partial(_measure, variant, arguments.data, arguments.runs))
        for name, variant in VARIANTS.items()
    ]
    shown = {"auxiliary": AUXILIARY, "images": IMAGES, "evaluated": "CIFAR-10, folds of the train split"}
    run_parts("contrastive", parts, {**shown, "exemplars": EXEMPLARS, "draws": DRAWS})
