"""What datasets and scores are called in tables."""

from __future__ import annotations

from corel.oneclass import LATENT_METHODS

DATASETS = {
    "cifar10": "CIFAR-10", "cifar20": "CIFAR-20", "cifar100": "CIFAR-100",
    "tiny-imagenet": "Tiny-ImageNet", "imagenet": "ImageNet", "mini-imagenet": "mini-ImageNet",
}  # fmt: skip
SCORES = LATENT_METHODS
NEIGHBORS = "5 nearest neighbors"


def pairing(auxiliary: str, evaluated: str) -> str:
    """An encoder's data and the data whose classes it tells apart."""
    return f"{DATASETS[auxiliary]} → {DATASETS[evaluated]}"


def title(dataset: str) -> str:
    """A dataset as people write it."""
    return {**DATASETS, "fashion-mnist": "Fashion-MNIST"}.get(dataset, dataset)
