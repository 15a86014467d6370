"""Whether the authors' 50 epochs close the gap of one cell: CIFAR-10 → Tiny-ImageNet after 30 and after 50.

The trainings are those of `python -m experiments backbones`, gone on with. Writes experiments/results/longer.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from corel.backbone import Backbone
from corel.evaluation import evaluate
from corel.training import TrainConfig, train
from experiments import paper
from experiments._lib.command import folders
from experiments._lib.names import SCORES
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import split
from experiments.studies.backbones import DRAWS, EXEMPLARS, SEEDS, STAGES

SOURCE, TARGET, EPOCHS = "cifar10", "tiny-imagenet", paper.EPOCHS


def _auc(backbone: Backbone, data: Path) -> dict[str, float]:
    images, tests = (split(TARGET, part, data) for part in ("train", "test"))
    rows = evaluate(
        backbone, images, tests, exemplars=[EXEMPLARS], draws=DRAWS, scores=SCORES, controls=False
    ).summary()
    return {row.method: row.mean for row in rows}


def _measure(seed: int, data: Path, runs: Path) -> dict[str, Any]:
    """AUC of one training at its two ages; `backbones` has left its checkpoint at the younger."""
    torch.set_num_threads(1)  # as before: the number of threads decides the weights
    found = {}
    for epochs in (STAGES[-1], EPOCHS):
        file = runs / f"{SOURCE}-{seed}" / f"epoch-{epochs:02d}.safetensors"
        if not file.exists():
            config = TrainConfig(epochs=epochs, seed=seed)
            train(split(SOURCE, "train", data), config, run_dir=file.parent).save(file)
        found[str(epochs)] = _auc(Backbone.load(file), data)
    return found


def main(argv: Sequence[str]) -> None:
    """Read the command line and go on with every seed."""
    arguments = folders(__name__, __doc__, argv)
    settings = {"epochs": [STAGES[-1], EPOCHS], "exemplars": EXEMPLARS, "draws": DRAWS}
    parts = [
        Part(f"seed {seed}", settings, partial(_measure, seed, arguments.data, arguments.runs)) for seed in SEEDS[1:]
    ]
    run_parts("longer", parts, {**settings, "auxiliary": SOURCE, "evaluated": TARGET})
