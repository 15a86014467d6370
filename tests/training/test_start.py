"""A training that begins with the weights of a backbone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corel.backbone import Backbone
from corel.training import TrainConfig, train

pytestmark = pytest.mark.usefixtures("one_thread")
# So small a step leaves the weights where they were.
STILL = TrainConfig(
    branches=2, branch_dim=3, width=4, batch_size=10, epochs=1, precision="float32", learning_rate=1e-12
)
PIXELS = np.random.default_rng(0).integers(0, 256, (20, 8, 8, 3), np.uint8)


@pytest.fixture(scope="module")
def first() -> Backbone:
    return train(PIXELS, STILL)


def test_training_begins_with_the_weights_of_the_start(first: Backbone, tmp_path: Path) -> None:
    first.save(tmp_path / "first.safetensors")
    other_seed = replace(STILL, seed=1)
    continued, fresh = train(PIXELS, other_seed, start=tmp_path / "first.safetensors"), train(PIXELS, other_seed)
    np.testing.assert_allclose(continued.encode(PIXELS), first.encode(PIXELS), rtol=1e-4, atol=1e-5)
    assert np.abs(fresh.encode(PIXELS) - first.encode(PIXELS)).max() > 0.01
    assert continued.metadata["data"]["start"] == first.digest


def test_a_start_of_another_shape_is_refused_with_both_shapes(first: Backbone) -> None:
    with pytest.raises(ValueError, match=r"start is of another shape: autoencoder, branches 2, .* this training is"):
        train(PIXELS, replace(STILL, width=8), start=first)


def test_a_checkpoint_belongs_to_its_start(first: Backbone, tmp_path: Path) -> None:
    train(PIXELS, STILL, run_dir=tmp_path)
    with pytest.raises(ValueError, match="belongs to another training: the start was None and is now"):
        train(PIXELS, STILL, start=first, run_dir=tmp_path)
