"""A tiny encoder, pictures of three hues, and real servers on the loopback address."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from corel.backbone import Backbone
from corel.encoders import Autoencoder
from tests.cli.conftest import hue
from tests.serve.servers import Factory, File, Server

COLORS = ("red", "green", "blue")


def picture(color: str, number: int, size: int = 48) -> File:
    """A small photograph of a hue, another for each number, as a PNG file."""
    (pixels,) = hue(COLORS.index(color), 1, seed=1000 * COLORS.index(color) + number)
    content = io.BytesIO()
    Image.fromarray(pixels).resize((size, size), Image.Resampling.BICUBIC).save(content, "PNG")
    return f"{color}-{number}.png", content.getvalue()


def pictures(color: str, count: int, start: int = 0) -> list[File]:
    return [picture(color, start + i) for i in range(count)]


def halves() -> File:
    """A photo that is red on the left and green on the right."""
    pixels = np.concatenate([np.tile(hue(channel, 1, seed=5)[0], (6, 6, 1)) for channel in (0, 1)], axis=1)
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return "halves.png", content.getvalue()


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backbone in a file that tells hues apart though nobody trained it."""
    torch.manual_seed(0)
    network = Autoencoder(branches=4, branch_dim=2, width=4, image_size=8)
    auxiliary = np.concatenate([hue(channel, 60, seed=channel) for channel in range(3)])
    latents = network.encode(auxiliary).numpy()
    spread = float(np.abs(latents[::2] - latents[1::2]).sum(1).mean()) / 4
    path = tmp_path_factory.mktemp("encoder") / "tiny.safetensors"
    Backbone(network, "autoencoder", spread, 1.0, 100, np.ones((4, 3), np.float32), latents, {}).save(path)
    return path


@pytest.fixture(scope="session")
def factory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Factory]:
    made = Factory(tmp_path_factory.mktemp("logs"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def enrolled(factory: Factory, encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gallery with 30 red and 25 green pictures, never to be changed."""
    path = tmp_path_factory.mktemp("gallery") / "hues.gallery"
    server = factory.start(path, backbone=str(encoder)).wait_until_ready()
    for color, count in (("red", 30), ("green", 25)):
        assert server.enroll(color, pictures(color, count)).status == 200
    server.kill()
    return path


@pytest.fixture
def gallery(enrolled: Path, tmp_path: Path) -> Path:
    """A copy of that gallery."""
    return Path(shutil.copy(enrolled, tmp_path / "hues.gallery"))


@pytest.fixture
def start(factory: Factory, encoder: Path) -> Iterator[Callable[..., Server]]:
    """Start servers that end with the test."""
    started: list[Server] = []

    def begin(gallery: Path, *, ready: bool = True, **settings: object) -> Server:
        server = factory.start(gallery, backbone=str(encoder), **settings)
        started.append(server)
        return server.wait_until_ready() if ready else server

    yield begin
    for server in started:
        if server.pid in factory.running:
            server.kill()


@pytest.fixture(scope="module")
def server(
    factory: Factory, encoder: Path, enrolled: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server for a module's tests, on a gallery of its own."""
    path = Path(shutil.copy(enrolled, tmp_path_factory.mktemp("shared") / "hues.gallery"))
    running = factory.start(path, backbone=str(encoder)).wait_until_ready()
    yield running
    running.kill()
