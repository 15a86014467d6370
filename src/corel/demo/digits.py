"""The demo on digits, which need no download: train with and without the loss, compare, report, enroll."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from corel import images
from corel._terminal import console
from corel.backbone import Backbone
from corel.evaluation import Evaluation, LabeledItems, evaluate, read_labeled
from corel.gallery import Gallery, Scores
from corel.images import ImageSet
from corel.oneclass import LATENT_METHODS
from corel.report import write_report
from corel.training import TrainConfig, train

FOR_DIGITS = "tiny-imagenet-16x10"  # the default encoder is for color photographs
ENROLLED = 5  # digits enrolled in the gallery: 0 to 4. The others are strangers to it


@dataclass(frozen=True, eq=False)
class Comparison:
    """What the encoder with the connectivity loss and the one without it achieve, and the page that shows it."""

    evaluation: Evaluation
    report: Path


@dataclass(frozen=True, eq=False)
class EnrolledDigits:
    """A gallery of a few digits, images scored by it, and what each image truly is."""

    gallery: Path
    images: Path
    scores: Scores
    truth: tuple[str, ...]


def compare(
    out: Path, *, epochs: int = 20, width: int = 16, exemplars: int = 30, draws: int = 5, quiet: bool = False
) -> Comparison:
    """Train on one half of the digits with and without the loss, measure both on the other half, write the report."""
    say = console()
    say.quiet = quiet
    auxiliary, (enrolled, test) = _open("train"), _halves(_open("test"))
    backbones = {}
    for name, weight in (("with the loss", 20.0), ("without the loss", 0.0)):
        say.print(f"Training on {len(auxiliary)} unlabeled digits {name} (λ = {weight:g})")
        config = TrainConfig(epochs=epochs, width=width, weight=weight)
        backbones[name] = train(auxiliary, config, progress=not quiet)
    say.print(f"Telling {len(test.classes)} digits apart on {len(test)} images that no encoder has seen")
    evaluation = _measured(backbones, enrolled, test, exemplars, draws, quiet=quiet)
    report = write_report(
        out / "report.html", backbones, images=auxiliary, evaluation=evaluation, enrolled=enrolled, test=test,
        title="corel on handwritten digits", progress=not quiet,
    )  # fmt: skip
    return Comparison(evaluation, report)


def enroll(out: Path, *, backbone: str | Path = FOR_DIGITS, quiet: bool = False) -> EnrolledDigits:
    """Enroll some digits in a gallery on a shipped encoder, which never saw a digit, and score others by it."""
    train_half, test_half = read_labeled(Backbone.load(backbone), "digits")
    # Names of the demo's own: whatever else is in the folder, only an earlier demo's files are replaced.
    path, folder = out / "demo.gallery", out / "demo_images"
    path.unlink(missing_ok=True)
    truth = test_half.classes
    files = _write_first_of_each(test_half, folder)
    with Gallery.open(path, backbone, create=True) as gallery:
        gallery.enroll(None, train_half.take(train_half.labels < ENROLLED).pictures, progress=not quiet)
        return EnrolledDigits(path, folder, gallery.score(files), truth)


def _open(split: str) -> ImageSet:
    return images.open("digits", split, progress=False)


def _halves(digits: ImageSet) -> tuple[ImageSet, ImageSet]:
    """Every other image of each class, and the rest."""
    labels = np.asarray(digits.labels)
    first = np.zeros(len(digits), bool)
    for label in range(len(digits.classes)):
        first[np.flatnonzero(labels == label)[::2]] = True
    return digits.take(first), digits.take(~first)


def _measured(
    backbones: dict[str, Backbone], enrolled: ImageSet, test: ImageSet, exemplars: int, draws: int, *, quiet: bool
) -> Evaluation:
    """The encoder with the loss and all controls, then the one without: at η, and at a radius that suits it.

    Latents trained without the loss have no scale, so a radius of 2 does not suit them. Their own mean death time,
    which needs no labels, takes the place of η.
    """
    shaped, plain = backbones.values()
    settings: dict[str, Any] = {
        "exemplars": [exemplars],
        "scores": LATENT_METHODS,  # the loss shapes latents, not features
        "draws": draws,
        "progress": not quiet,
    }
    found = evaluate(shaped, enrolled, test, **settings)
    records = list(found.records)
    fitted = replace(plain, eta=float(plain.deaths[:, 1].mean()))
    for name, backbone in (("without the loss", plain), ("without the loss, radius fitted", fitted)):
        control = evaluate(backbone, enrolled, test, controls=False, **settings)
        records += [replace(record, method=f"{record.method}, {name}") for record in control.records]
    return replace(found, records=tuple(records))


def _write_first_of_each(digits: LabeledItems, folder: Path) -> list[Path]:
    """Save one image of each digit, for the commands that the demo suggests."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for label, name in enumerate(digits.classes):
        paths.append(folder / f"{name}.png")
        Image.fromarray(digits.items[np.flatnonzero(digits.labels == label)[0]]).save(paths[-1])
    return paths
