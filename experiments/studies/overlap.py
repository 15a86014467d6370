"""Copies between auxiliary and test images: how many there are, and the AUC without them.

A test image is a near copy if its pixels, averaged to 16 × 16 and centered, correlate with those of an auxiliary image
or its mirror image by at least `NEAR`. Plain images do so by chance: it is an upper bound. From 120 exemplars, the
paper's encoder of CIFAR-100 scores by count, the default encoder by its default score. Writes
experiments/results/overlap.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel._terminal import track
from corel.backbone import Backbone
from corel.evaluation import draw_exemplars
from corel.oneclass import ClassBank, backbone_settings, compared_rows, preferred_method
from experiments._lib.command import folders
from experiments._lib.encoded import class_aucs
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import FULL, paper_encoder, split

PAIRS = (("cifar100", "cifar10"), ("tiny-imagenet", "cifar10"), ("tiny-imagenet", "cifar100"))
NEAR, EXEMPLARS, DRAWS = 0.95, 120, 5
ROWS = 1000  # test images compared at once: 400 MB of correlations with 100,000 images

Floats = NDArray[np.float32]


def directions(pixels: NDArray[np.uint8]) -> Floats:
    """Images averaged to half their side, centered, as unit vectors `[n, d]`; a flat one has none and becomes zeros."""
    count, side = len(pixels), pixels.shape[1] // 2
    small = pixels.reshape(count, side, 2, side, 2, -1).mean((2, 4), dtype=np.float32).reshape(count, -1)
    small -= small.mean(1, keepdims=True)
    lengths = np.linalg.norm(small, axis=1, keepdims=True)
    return np.asarray(np.divide(small, lengths, out=np.zeros_like(small), where=lengths > 0))


def closest(test: NDArray[np.uint8], auxiliary: NDArray[np.uint8]) -> Floats:
    """The largest correlation of each test image with an auxiliary image or its mirror image, `[n]`."""
    known, found = directions(auxiliary).T, np.full(len(test), -1.0, np.float32)
    for seen in (test, test[:, :, ::-1]):
        asked = directions(seen)
        for first in track(range(0, len(test), ROWS), "comparing"):
            rows = slice(first, first + ROWS)
            found[rows] = np.maximum(found[rows], (asked[rows] @ known).max(1))
    return found


def exact(test: NDArray[np.uint8], auxiliary: NDArray[np.uint8]) -> int:
    """How many test images are an auxiliary image, pixel by pixel."""
    known = {image.tobytes() for image in auxiliary}
    return sum(image.tobytes() in known for image in test)


def scores(backbone: Backbone, method: str, evaluated: str, data: Path) -> list[NDArray[np.float64]]:
    """Scores `[n, C]` of the test split, one array a draw of the exemplars."""
    train, test = (split(evaluated, part, data) for part in ("train", "test"))
    draws = [draw_exemplars(train, EXEMPLARS, 0, draw) for draw in range(DRAWS)]
    rows, places = np.unique(np.stack(draws), return_inverse=True)
    known, asked = (
        compared_rows(method, backbone.embed(pixels, progress=True)) for pixels in (train.pixels[rows], test.pixels)
    )
    settings = backbone_settings(backbone, method)
    bags = places.reshape(DRAWS, *draws[0].shape)
    return [ClassBank.of([known[each] for each in chosen], **settings).scores(asked) for chosen in bags]


def measure(auxiliary: str, evaluated: str, data: Path, runs: Path) -> dict[str, Any]:
    """Copies by how close they are, and the AUC with and without the near ones."""
    backbone = paper_encoder(auxiliary, data, runs) if auxiliary == "cifar100" else Backbone.load()
    method = "count" if auxiliary == "cifar100" else preferred_method(backbone)
    test, known = split(evaluated, "test", data), split(auxiliary, "train", data)
    nearest, truth = closest(test.pixels, known.pixels), np.asarray(test.labels)
    apart, found = nearest < NEAR, scores(backbone, method, evaluated, data)
    return {
        "score": method,
        "exact copies": exact(test.pixels, known.pixels),
        "at least": {str(limit): int((nearest >= limit).sum()) for limit in (0.9, NEAR, 0.98, 0.99)},
        "auc": float(np.mean([class_aucs(each, truth).mean() for each in found])),
        "auc without near copies": float(np.mean([class_aucs(each[apart], truth[apart]).mean() for each in found])),
    }


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what is missing."""
    arguments = folders(__name__, __doc__, argv)
    settings = {"near": NEAR, "exemplars": EXEMPLARS, "draws": DRAWS, "encoder": Backbone.load().digest, "epochs": FULL}
    parts = [
        Part(" → ".join(pair), settings, partial(measure, *pair, arguments.data, arguments.runs)) for pair in PAIRS
    ]
    run_parts("overlap", parts, settings)
