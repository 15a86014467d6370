"""A new objective is one file in the folder of objectives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import corel.objectives
from corel.backbone import Backbone
from corel.training import train
from tests.training.test_training import SMALL, images, read_metrics

pytestmark = pytest.mark.usefixtures("one_thread")
THIRD = """
from torch import nn
from corel.encoders.base import Network
from corel.objectives import Objective

class Flat(Network):
    def __init__(self, branches, branch_dim, features):
        super().__init__()
        self.architecture = {"branches": branches, "branch_dim": branch_dim, "features": features}
        self.encoder = nn.Linear(features, branches * branch_dim)
        self.input_shape = (features,)

    def prepare(self, items):
        import torch
        return torch.as_tensor(items)

class Nothing(Objective):
    loss_name = "norm"
    network_type = Flat

    def __init__(self, config, item_shape):
        super().__init__(config, item_shape)
        self.network = Flat(config.branches, config.branch_dim, item_shape[0])

    def forward(self, items, generator):
        latents = self.network.encoder(self.network.prepare(items))
        return latents.square().mean(), latents

OBJECTIVE = Nothing
"""


def test_a_new_objective_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nothing.py").write_text(THIRD)
    monkeypatch.setattr(corel.objectives, "__path__", [*corel.objectives.__path__, str(tmp_path)])
    vectors = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    config = replace(SMALL, objective="nothing")
    backbone = train(vectors, config, run_dir=tmp_path / "run")
    backbone.save(tmp_path / "b.safetensors")
    again = Backbone.load(tmp_path / "b.safetensors")
    np.testing.assert_array_equal(again.encode(vectors), backbone.encode(vectors))
    assert "norm" in read_metrics(tmp_path / "run")[0]


def test_an_unknown_objective_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"objective must be one of autoencoder, .* got 'magic'"):
        train(images(), replace(SMALL, objective="magic"))
