"""The contrast score and the controls on test splits: four cells of Table 1, few and many exemplars.

Writes experiments/results/contrast.json.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import corel.images
from corel.backbone import Backbone
from corel.evaluation import evaluate
from experiments._lib.command import folders
from experiments._lib.record import record

BACKBONES = {"cifar10": "cifar10-16x10", "tiny-imagenet": "tiny-imagenet-16x10"}


def report(data: Path) -> None:
    """Evaluate the frozen score on the test splits of all four cells."""
    start, cells = time.perf_counter(), {}
    for auxiliary, name in BACKBONES.items():
        backbone = Backbone.load(name)
        for dataset, classes in (("cifar10", 10), ("tiny-imagenet", 200)):
            train, test = (corel.images.open(dataset, split, root=data) for split in ("train", "test"))
            result = evaluate(backbone, train, test, exemplars=(10, 120), expected_classes=classes)
            cells[f"{auxiliary} → {dataset}"] = result.document()["summary"]
    note = "where a dataset is its own auxiliary set, the background contains unlabelled images of the other classes"
    record("contrast", config={"draws": 5, "note": note}, results=cells, seed=0, seconds=time.perf_counter() - start)


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    report(folders(__name__, __doc__, argv, ("data",)).data)
