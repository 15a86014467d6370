"""A connectivity head on a wrapped encoder: one graph, the radius of its training, and galleries that take it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from torch import nn
from typer.testing import CliRunner

import corel
from corel.backbone import Backbone
from corel.cli import app
from corel.encoders.pretrained import Pretrained
from corel.oneclass import OneClass
from corel.persistence import death_times
from corel.training import TrainConfig, add_head
from tests.encoders.small_graph import SIZE, save

pytestmark = pytest.mark.usefixtures("one_thread")
RNG = np.random.default_rng(0)
CONFIG = TrainConfig.preset("features", epochs=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ONNX encoder, and photos of noise in different colors: for the background, and new ones."""
    folder = tmp_path_factory.mktemp("head")
    save(folder / "small.onnx")
    for name, count in (("photos", 120), ("new", 20)):
        (folder / name).mkdir()
        for i in range(count):
            pixels = RNG.integers(0, 256, (SIZE, SIZE, 3)) * RNG.random(3)
            Image.fromarray(pixels.astype(np.uint8)).save(folder / name / f"{i}.png")
    return folder


@pytest.fixture(scope="module")
def plain(folder: Path) -> Backbone:
    return Backbone.wrap(f"onnx:{folder / 'small.onnx'}", folder / "photos")


@pytest.fixture(scope="module")
def headed(plain: Backbone) -> Backbone:
    return add_head(plain, CONFIG)


def pixels(count: int) -> Any:
    return RNG.integers(0, 256, (count, SIZE, SIZE, 3)).astype(np.uint8)


def test_the_graph_computes_the_trained_head(plain: Backbone, headed: Backbone) -> None:
    assert isinstance(plain.network, Pretrained)
    alone = corel.train(plain.network.unwhitened(plain.background), CONFIG, progress=False)
    images = pixels(9)
    wanted = alone.encode(plain.network.unwhitened(plain.encode(images)))
    assert_allclose(headed.encode(images), wanted, atol=2e-3)
    assert (headed.branches, headed.branch_dim) == (alone.branches, alone.branch_dim) == (4, 4)
    assert_allclose(headed.deaths, alone.deaths, atol=1e-4)


def test_rows_of_long_embeddings_get_one_length_in_the_graph_too(folder: Path) -> None:
    wide = nn.Sequential(nn.Conv2d(3, 64, 5, stride=2), nn.Tanh(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    wrapped = Backbone.wrap(wide, folder / "photos", size=SIZE)
    config = TrainConfig.preset("features", epochs=5, rows="embeddings", branches=3, branch_dim=5)
    images = pixels(5)
    assert isinstance(wrapped.network, Pretrained)
    alone = corel.train(wrapped.network.unwhitened(wrapped.background), config, progress=False)
    wanted = alone.encode(wrapped.network.unwhitened(wrapped.encode(images)))
    assert_allclose(add_head(wrapped, config).encode(images), wanted, atol=2e-3)


def test_radius_is_the_one_that_was_trained(headed: Backbone, plain: Backbone) -> None:
    assert headed.eta == CONFIG.eta != plain.eta
    branches = np.split(headed.background, headed.branches, axis=1)
    means = [float(death_times(torch.tensor(branch[:50])).mean()) for branch in branches]
    assert np.mean(means) == pytest.approx(CONFIG.eta, rel=0.5)


def test_background_keeps_its_order_and_its_hashes(headed: Backbone, plain: Backbone) -> None:
    assert_array_equal(headed.background_hashes, plain.background_hashes)
    assert len(headed.background) == len(plain.background)
    model = OneClass.from_backbone(headed, method="count").fit(headed.background[:20])
    assert model.score_samples(headed.background[:20]).min() >= 1


def test_file_and_exported_graph_hold_the_head(headed: Backbone, tmp_path: Path) -> None:
    headed.save(tmp_path / "x.safetensors")
    again, images = Backbone.load(tmp_path / "x.safetensors"), RNG.random((4, 3, SIZE, SIZE), np.float32)
    assert again.digest == headed.digest
    assert_array_equal(again.encode(images), headed.encode(images))
    again.export_onnx(tmp_path / "x.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "x.onnx", providers=["CPUExecutionProvider"])
    assert_allclose(session.run(["latents"], {"images": images})[0], headed.encode(images), atol=1e-5)


def test_command_makes_a_backbone_with_a_head(folder: Path, tmp_path: Path) -> None:
    out, gallery = tmp_path / "mine.safetensors", tmp_path / "x.gallery"
    words = ["backbone", "wrap", f"onnx:{folder / 'small.onnx'}", "--background", str(folder / "photos")]
    made = CliRunner().invoke(app, [*words, "--head", "connectivity", "--out", str(out), "--quiet"])
    assert made.exit_code == 0, made.output
    assert "head        4 branches × 4" in made.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["mine.safetensors"]
    assert isinstance(Backbone.load(out).network, Pretrained)
    commands: Any = (["enroll", gallery, "noise", folder / "new", "--backbone", out], ["score", gallery, folder])
    for command in commands:
        done = CliRunner().invoke(app, [str(each) for each in command])
        assert done.exit_code == 0, done.output


def test_a_head_goes_onto_an_encoder_of_images_once(headed: Backbone) -> None:
    with pytest.raises(ValueError, match="has a head already"):
        add_head(headed)
    rows = Backbone.wrap("vectors", RNG.normal(size=(60, 4)))
    with pytest.raises(ValueError, match="`corel train --features FILE`"):
        add_head(rows)
