"""Whether the fast training step costs accuracy: the plain eager loop, channels_last, and bfloat16 convolutions.

    python -m experiments precision --data DIR

Five epochs of CIFAR-10 each way with three seeds, one-vs-all AUC on folds of its train split.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

# Where a virtual machine hides how its matrix tiles are laid out, oneDNN's use of them ends the process. Without tiles
# bfloat16 rounds the same and is only slower; this must be said before torch is imported.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

import numpy as np
import torch

import corel.images
from corel.backbone import Backbone
from corel.images import ImageSet
from corel.training import TrainConfig, train
from experiments._lib import command
from experiments._lib.record import record
from experiments.studies.backbones import fold_auc
from measuring.plain import plain_training

SEEDS, EPOCHS = (0, 1, 2), 5


def plain(images: ImageSet, seed: int) -> Backbone:
    """The plain loop's encoder in the backbone of a training that lasted one step, whose weights it replaces."""
    torch.manual_seed(seed)
    network = plain_training(images.pixels, EPOCHS)
    shell = train(images.take(np.arange(100)), TrainConfig(epochs=1, seed=seed, precision="float32"))
    return replace(shell, network=network)


def library(precision: str) -> Callable[[ImageSet, int], Backbone]:
    """`corel.train` with this type of convolutions."""
    return lambda images, seed: train(images, TrainConfig(epochs=EPOCHS, seed=seed, precision=precision))  # type: ignore[arg-type]


WAYS: dict[str, Callable[[ImageSet, int], Backbone]] = {
    "plain eager float32": plain,
    "corel.train, float32": library("float32"),
    "corel.train, bfloat16": library("bfloat16"),
}


def main(argv: Sequence[str]) -> None:
    """Train all ways, print and record."""
    started = time.perf_counter()
    images = corel.images.open("cifar10", root=command.folders(__name__, __doc__, argv, ("data",)).data)
    results: dict[str, Any] = {}
    for name, way in WAYS.items():
        aucs = [fold_auc(way(images, seed), images) for seed in SEEDS]
        results[name] = {"auc": aucs, "mean": float(np.mean(aucs)), "spread": float(np.std(aucs, ddof=1))}
        print(name, results[name], flush=True)
    config = {"epochs": EPOCHS, "seeds": SEEDS, "images": "CIFAR-10, train split"}
    record("precision", config=config, results=results, seed=None, seconds=time.perf_counter() - started)
