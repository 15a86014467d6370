"""How many numbers each method of Table 1 learns, counted in its networks.

Writes experiments/results/parameters.json.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from torch import nn

from corel.backbone import Backbone
from corel.baselines import Baseline, DeepSVDD
from corel.encoders import Autoencoder
from experiments._lib import command
from experiments._lib.record import record
from experiments.studies.baselines import METHODS


def counts() -> dict[str, int]:
    """Parameters of our encoders, of the autoencoder one is trained in, and of every baseline's networks.

    With one branch the block-diagonal layers are full: what whoever counts their zeros would find.
    """
    autoencoder, dense = Autoencoder(), Autoencoder(branches=1, branch_dim=160)
    ours = {
        "corel, encoder": _count(autoencoder.encoder),
        "corel, autoencoder": _count(autoencoder),
        "corel, encoder of one branch": _count(dense.encoder),
        "corel, autoencoder of one branch": _count(dense),
        "corel, contrastive encoder": _count(Backbone.load("tiny-imagenet-contrastive-16x10").network.encoder),
    }
    return ours | {name: fitted(baseline).parameters for name, baseline in METHODS.items()}


def fitted(baseline: Baseline) -> Baseline:
    """The baseline after one epoch on a few random images: its networks are built when it learns."""
    changes: dict[str, Any] = {"epochs": 1, "progress": False}
    if isinstance(baseline, DeepSVDD):
        changes |= {"pretraining_epochs": 1}
    images = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), np.uint8)
    return replace(baseline, **changes).fit(images)


def _count(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def main(argv: Sequence[str]) -> None:
    """Count and record."""
    command.parser(__name__, __doc__).parse_args(argv)
    started = time.perf_counter()
    record("parameters", config={}, results=counts(), seed=0, seconds=time.perf_counter() - started)
