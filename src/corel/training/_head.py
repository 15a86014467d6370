"""A connectivity head on a wrapped encoder: the paper's branches and radius on features that stay frozen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from corel._errors import ArgumentError
from corel.backbone import Backbone
from corel.encoders import FeatureHead
from corel.encoders.pretrained import Pretrained
from corel.training._loop import train
from corel.training.config import TrainConfig

if TYPE_CHECKING:
    import os


def add_head(
    backbone: Backbone,
    config: TrainConfig | None = None,
    *,
    run_dir: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Backbone:
    """Give a wrapped encoder branches: train a head on its vectors of the background, without labels.

    Args:
        backbone: what `Backbone.wrap` made of an encoder of images.
        config: the training; default: the preset ``features``.
        run_dir: a folder for checkpoints, from which the same call continues.
        progress: show a bar on a terminal.

    Returns:
        A backbone of the same encoder whose latents are those of the head. Its radius is the η that the head was
        trained with, and its file holds encoder and head in one graph.

    """
    network = backbone.network
    if not isinstance(network, Pretrained):
        raise ArgumentError(
            "backbone",
            "must be an encoder of images to get a head; for vectors, `corel train --features FILE` trains one",
        )
    if network.has_head:
        raise ArgumentError("backbone", "has a head already; wrap the encoder anew for another one")
    config = config or TrainConfig.preset("features")
    # Unwhitened: whitening makes small directions as large as those that the head is to keep.
    vectors = network.unwhitened(backbone.background)
    trained = train(vectors, config, run_dir=run_dir, progress=progress)
    assert isinstance(trained.network, FeatureHead)
    # Half precision, as the file has it: a backbone is the same before and after it is saved.
    latents = trained.encode(vectors).astype(np.float16).astype(np.float32)
    return replace(
        backbone,
        network=network.with_head(trained.network),
        eta=trained.eta,
        p=trained.p,
        batch_size=trained.batch_size,
        deaths=trained.deaths,
        background=latents,
        metadata={**backbone.metadata, "head": {"config": trained.metadata["config"]}},
    )
