"""Every parameter of a training, in one frozen value."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from corel._errors import ArgumentError
from corel.losses.presets import PRESETS as LOSS_PRESETS


def _parameter(default: Any, explanation: str) -> Any:
    return field(default=default, metadata={"help": explanation})


@dataclass(frozen=True)
class TrainConfig:
    """What a training does; together with the images and the number of threads it decides the weights.

    The defaults are the preset ``authors``: the settings of the code that made the published numbers. The preset
    ``paper`` follows the text, where the connectivity loss is summed over branches and zero-length bars count;
    ``contrastive`` trains with SimCLR on augmented views; ``features`` takes vectors.

    Example:
        >>> TrainConfig(epochs=5).weight, TrainConfig.preset("paper", epochs=5).branch_reduction
        (20.0, 'sum')

    """

    objective: str = _parameter("autoencoder", "what is learned beside connectivity")
    branches: int = _parameter(
        16, "branches B of the latent space, each with its own connectivity loss; of features, 0 is by their rank"
    )
    branch_dim: int = _parameter(10, "dimension D of each branch; of features, 0 is by their rank")
    width: int = _parameter(
        32, "channels of the first convolution, doubled by the next; or units of an MLP, where 0 is 128"
    )
    rows: Literal["auto", "measurements", "embeddings"] = _parameter(
        "auto", "what features are; embeddings get one length and a linear map; auto is embeddings for a rank above 16"
    )
    eta: float = _parameter(2.0, "target death time η of the connectivity loss")
    p: float = _parameter(
        1.0, "norm of the latent space: 1, 2, inf or any real from 1 up; only 1 can be enrolled and scored"
    )
    weight: float = _parameter(20.0, "weight λ of the connectivity loss")
    branch_reduction: Literal["mean", "sum"] = _parameter(
        LOSS_PRESETS["authors"]["branch_reduction"], "how the connectivity losses of the branches become one"
    )
    zero_bars: Literal["drop", "keep"] = _parameter(
        LOSS_PRESETS["authors"]["zero_bars"], "whether bars of duplicate images count as |0 − η|"
    )
    batch_size: int = _parameter(100, "images per step and process; connectivity is that of a batch")
    cloud_size: int | None = _parameter(None, "latents of each batch that connectivity shapes; None is all of them")
    image_size: int | None = _parameter(
        None, "side of the encoder's input; None is the images'. Contrastive views are cropped from larger images"
    )
    view_size: int | None = _parameter(
        None, "side of the first contrastive views, which grow to the images'; None is theirs"
    )
    view_area: float = _parameter(
        0.2, "least area of a contrastive crop, as a share of the image, before its shape is drawn"
    )
    temperature: float = _parameter(
        0.2, "temperature of the contrastive loss: at a low one the nearest others count more"
    )
    projection: int = _parameter(256, "units between latents and contrastive loss; 0 compares the latents themselves")
    epochs: int = _parameter(50, "passes over the images")
    learning_rate: float = _parameter(1e-3, "step size of Adam; with one-cycle the largest")
    schedule: Literal["constant", "one-cycle"] = _parameter(
        "constant", "schedule of the step size; one-cycle: up, then down"
    )
    weight_decay: float = _parameter(0.0, "each step shrinks the weights by this share times the step size")
    precision: Literal["auto", "float32", "bfloat16"] = _parameter(
        "auto", "type of the convolutions; auto is bfloat16 where the processor is fast at it"
    )
    seed: int = _parameter(0, "decides the first weights and the order of the images")

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, _plain(each.name, str(each.type), getattr(self, each.name)))
        for name in ("branches", "branch_dim", "width", "epochs"):
            least = 0 if self.objective == "features" and name != "epochs" else 1
            _require(getattr(self, name) >= least, name, f"must be at least {least}, got {getattr(self, name)}")
        for name in ("eta", "learning_rate", "temperature"):
            value = getattr(self, name)
            _require(0 < value < math.inf, name, f"must be positive and finite, got {value}")
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            _require(value in choices, name, f"must be one of {', '.join(choices)}, got {value!r}")
        _require(self.batch_size >= 2, "batch_size", f"must be at least 2 for a bar to exist, got {self.batch_size}")
        for name in ("image_size", "view_size"):
            value = getattr(self, name)
            _require(value is None or value >= 8, name, f"must be at least 8, got {value}")
        _require(
            2 <= self.shaped <= self.batch_size,
            "cloud_size",
            f"must be from 2 to the batch size, which is {self.batch_size}, got {self.cloud_size}; give both",
        )
        _require(0 < self.view_area <= 1, "view_area", f"must be a share above 0, at most 1, got {self.view_area}")
        for name in ("weight", "weight_decay", "projection", "seed"):
            value = getattr(self, name)
            _require(0 <= value < math.inf, name, f"must be finite and not negative, got {value}")
        _require(self.p >= 1, "p", f"must be at least 1 to be a norm, got {self.p}")

    @property
    def shaped(self) -> int:
        """How many latents of each batch connectivity shapes."""
        return self.batch_size if self.cloud_size is None else self.cloud_size

    @classmethod
    def preset(cls, name: str, **changes: Any) -> TrainConfig:
        """Give the named preset with some fields changed."""
        if name not in PRESETS:
            raise ArgumentError("preset", f"must be one of {', '.join(PRESETS)}, got {name!r}")
        return cls(**{**PRESETS[name], **changes})


_CHOICES = {
    "branch_reduction": ("mean", "sum"),
    "zero_bars": ("drop", "keep"),
    "precision": ("auto", "float32", "bfloat16"),
    "schedule": ("constant", "one-cycle"),
    "rows": ("auto", "measurements", "embeddings"),
}

PRESETS: dict[str, dict[str, Any]] = {
    "authors": {},
    "paper": {**LOSS_PRESETS["paper"]},
    # A weight of 1/(b - 1) makes the connectivity term the mean miss of a bar, whatever the size b of the cloud.
    "contrastive": {
        "objective": "contrastive",
        "weight": 1 / 127,
        "cloud_size": 128,
        "batch_size": 128,
        "view_size": 16,
        "view_area": 0.08,
        "projection": 0,
        "epochs": 28,
        "learning_rate": 2e-3,
        "schedule": "one-cycle",
        "weight_decay": 0.01,
    },
    "features": {
        "objective": "features",
        "branches": 0,
        "branch_dim": 0,
        "width": 0,
        "weight": 1 / 49,
        "batch_size": 50,
        "epochs": 100,
        "learning_rate": 3e-3,
    },
}


def _plain(name: str, kind: str, value: Any) -> Any:
    """Give a number as Python's own, also if it is numpy's, which no file of JSON takes; other values as they are."""
    if not kind.startswith(("int", "float")) or (value is None and kind.endswith("None")):
        return value
    whole = kind.startswith("int")
    try:
        return operator.index(value) if whole else float(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(name, f"must be a {'whole ' * whole}number, got {value!r}") from error


def _require(condition: bool, name: str, problem: str) -> None:
    if not condition:
        raise ArgumentError(name, problem)
