"""A tiny backbone in a file, images of three hues in folders, and `corel` run in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner, Result

from corel.backbone import Backbone
from corel.cli import app
from corel.encoders import Autoencoder

Corel = Callable[..., Result]


@pytest.fixture(scope="session")
def backbone_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("backbone") / "tiny.safetensors"
    tiny_backbone(path)
    return path


def tiny_backbone(path: Path) -> None:
    """Write a backbone that tells hues apart though nobody trained it."""
    torch.manual_seed(0)
    network = Autoencoder(branches=4, branch_dim=2, width=4, image_size=8)
    auxiliary = np.concatenate([hue(channel, 60, seed=channel) for channel in range(3)])
    latents = network.encode(auxiliary).numpy()
    spread = float(np.abs(latents[::2] - latents[1::2]).sum(1).mean()) / 4
    Backbone(network, "autoencoder", spread, 1.0, 100, np.ones((4, 3), np.float32), latents, {}).save(path)


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders red, green (30 images each) and blue (5), and one broken file beside them."""
    folder = tmp_path_factory.mktemp("photos")
    for channel, (name, count) in enumerate({"red": 30, "green": 30, "blue": 5}.items()):
        (folder / "classes" / name).mkdir(parents=True)
        for i, pixels in enumerate(hue(channel, count, seed=10 + channel)):
            Image.fromarray(pixels).save(folder / "classes" / name / f"{i:02}.png")
    (folder / "broken.png").write_text("not an image")
    return folder


@pytest.fixture
def gallery(tmp_path: Path, photos: Path, backbone_file: Path, corel: Corel) -> Path:
    path = tmp_path / "hues.gallery"
    for name in ("red", "green"):
        corel("enroll", path, name, photos / "classes" / name, "--backbone", backbone_file)
    return path


@pytest.fixture
def corel() -> Corel:
    """Run a command in this process; the exit code is checked, 0 unless `exits` says otherwise."""

    def run(*arguments: object, exits: int = 0, stdin: str | None = None) -> Result:
        result = CliRunner().invoke(app, [str(each) for each in arguments], input=stdin)
        assert result.exit_code == exits, result.output
        return result

    return run


def hue(channel: int, count: int, seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Images with one strong channel, so that even an untrained encoder tells the hues apart."""
    random = np.random.default_rng(seed)
    pixels = random.integers(0, 60, (count, 8, 8, 3))
    pixels[..., channel] += random.integers(120, 190, (count, 1, 1))
    return pixels.astype(np.uint8)
