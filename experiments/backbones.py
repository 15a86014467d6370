"""Train the backbones that ship with corel, three seeds each, and measure them as the authors did.

python -m experiments.backbones train --data DIR --runs DIR
python -m experiments.backbones ship --data DIR --runs DIR
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

import corel.images
from corel.backbone import Backbone
from corel.images import ImageSet
from corel.training import TrainConfig, train

SOURCES = {"cifar10": "CIFAR-10, train split", "tiny-imagenet": "Tiny-ImageNet, 250 train images a class"}
SEEDS = (0, 1, 2)
EPOCHS = (5, 10, 15, 20, 25, 30)  # the AUC on folds is measured at each
EXEMPLARS, DRAWS = 120, 5


def train_all(data: Path, runs: Path, sources: list[str], seeds: list[int]) -> None:
    """Train one backbone a source and seed; run again after any interruption, it continues."""
    folds = corel.images.open("cifar10", root=data)
    for seed in seeds:
        for source in sources:
            images = replace(corel.images.open(source, root=data), source=SOURCES[source])
            _train_one(images, runs / f"{source}-{seed}", seed, folds)


def _train_one(images: ImageSet, folder: Path, seed: int, folds: ImageSet) -> None:
    for epochs in EPOCHS:
        curve = folder / f"folds-{epochs:02d}.json"
        if curve.exists():
            continue
        backbone = train(images, TrainConfig(epochs=epochs, seed=seed), run_dir=folder)
        backbone.save(folder / "backbone.safetensors")
        auc = fold_auc(backbone, folds)
        print(f"{folder.name}: {epochs} epochs, AUC on folds {auc:.4f}", flush=True)
        curve.write_text(json.dumps({"epochs": epochs, "auc": auc}))


def fold_auc(backbone: Backbone, images: ImageSet) -> float:
    """Mean one-vs-all AUC of the count score within a train split: exemplars from one half, 5,000 tests from the other."""
    assert images.labels is not None
    rng = np.random.default_rng(0)
    order = rng.permutation(len(images))
    test, rest = images.take(order[:5000]), order[len(order) // 2 :]
    latents = torch.from_numpy(backbone.encode(test))
    aucs = []
    for label in range(len(images.classes)):
        chosen = rng.choice(rest[images.labels[rest] == label], EXEMPLARS, replace=False)
        scores = _counts(latents, torch.from_numpy(backbone.encode(images.take(chosen))), backbone)
        aucs.append(roc_auc_score(test.labels == label, scores))
    return float(np.mean(aucs))


def _counts(tests: torch.Tensor, exemplars: torch.Tensor, backbone: Backbone) -> np.ndarray:
    pairs = zip(tests.chunk(backbone.branches, 1), exemplars.chunk(backbone.branches, 1), strict=True)
    return sum((torch.cdist(t, e, p=1) <= backbone.eta).sum(1) for t, e in pairs).numpy()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["train"])
    parser.add_argument("--data", type=Path, required=True, help="where the datasets are laid out")
    parser.add_argument("--runs", type=Path, required=True, help="checkpoints and logs of the trainings")
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    train_all(arguments.data, arguments.runs, arguments.sources, arguments.seeds)


if __name__ == "__main__":
    main()
