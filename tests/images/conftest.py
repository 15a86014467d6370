"""Small files in the official formats, and a cache of its own for each test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

Paint = Callable[..., Path]


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("COREL_CACHE", str(folder))
    monkeypatch.delenv("COREL_DATA", raising=False)
    return folder


@pytest.fixture
def paint() -> Paint:
    """Write an image of one color (the folder is made if need be) and give its path."""

    def write(path: Path, color: tuple[int, ...] = (200, 30, 60), size: int = 8) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((size, size, len(color)), color, np.uint8)).save(path)
        return path

    return write
