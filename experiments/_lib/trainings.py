"""The encoders that experiments compare: shipped ones where they are what is asked for, else trained under --runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import corel.images
from corel.backbone import Backbone, shipped
from corel.images import ImageSet
from corel.training import TrainConfig, train
from measuring.threads import limited_to

SOURCES = {
    "cifar10": "CIFAR-10, train split",
    "cifar100": "CIFAR-100, train split",
    "tiny-imagenet": "Tiny-ImageNet, {} train images a class",
}
EPOCHS = 12  # of the ablations: by then AUC has stopped to grow (experiments/results/backbones.json)
FULL = 30  # of the encoders of Table 1, those that ship among them
SEEDS = (0, 1, 2)
AUXILIARY = "cifar100"  # of Figures 4 to 6 and of the notebook's ablations
FOLDERS = (
    "mini-imagenet",
)  # datasets without a loader of their own: DIR/NAME/train and DIR/NAME/val, a folder a class


@functools.lru_cache(maxsize=2)
def split(name: str, part: str, data: Path) -> ImageSet:
    """One split of a known dataset; the last two stay in memory."""
    return corel.images.open(data / name if name in FOLDERS else name, part, root=data)


def is_here(name: str, data: Path) -> bool:
    """Whether the dataset lies under `data`."""
    try:
        split(name, "test", data)
    except FileNotFoundError:
        return False
    return True


def trained(auxiliary: str, config: TrainConfig, data: Path, runs: Path, threads: int = 1) -> Backbone:
    """The backbone of this training: the one that ships if it is the same, else trained unless it was."""
    for name in shipped():
        if name.startswith(f"{auxiliary}-") and _config_of(backbone := Backbone.load(name)) == config:
            return backbone
    name = f"{auxiliary}-{_changes(config)}" + (f"-threads-{threads}" if threads > 1 else "")
    return train_once(lambda: auxiliary_images(auxiliary, data), config, runs / f"{name}.safetensors", threads)


def paper_encoder(auxiliary: str, data: Path, runs: Path, seed: int = 0) -> Backbone:
    """The paper's encoder on one dataset: that of seed 0 ships, unless the dataset is CIFAR-100."""
    return trained(auxiliary, TrainConfig.preset("authors", epochs=FULL, seed=seed), data, runs)


def auxiliary_images(auxiliary: str, data: Path) -> ImageSet:
    """The train split of a known dataset, called what a backbone's card should say of it."""
    return titled(split(auxiliary, "train", data), auxiliary)


def titled(images: ImageSet, auxiliary: str) -> ImageSet:
    """The same images, called what a backbone's card should say of them."""
    share = len(images) // max(len(images.classes), 1)
    return replace(images, source=SOURCES.get(auxiliary, images.source).format(share))


def _config_of(backbone: Backbone) -> TrainConfig:
    return TrainConfig(**backbone.metadata["config"])


def _changes(config: TrainConfig) -> str:
    """What differs from the paper's settings, for a file's name."""
    base = asdict(TrainConfig.preset("authors"))
    changed: dict[str, Any] = {key: value for key, value in asdict(config).items() if value != base[key]}
    return "-".join(
        f"{key}-{value:g}" if isinstance(value, float) else f"{key}-{value}" for key, value in changed.items()
    )


def train_once(images: Callable[[], ImageSet], config: TrainConfig, file: Path, threads: int = 1) -> Backbone:
    """The backbone in `file`, trained unless it was."""
    if not file.exists():
        with limited_to(threads):  # their number decides the weights
            train(images(), config, run_dir=file.with_suffix("")).save(file)
    return Backbone.load(file)
