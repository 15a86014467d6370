"""Real JPEGs of three hues, a gallery of two of them, and the rows that one process gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from corel._io.rows import arrow_table
from corel.gallery import Gallery, rows_of
from tests.cli.conftest import backbone_file as backbone_file  # a fixture
from tests.cli.conftest import hue

IMAGES, BROKEN = 40, "07.jpg"


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """JPEGs that take some time to decode, and a broken one among them."""
    folder = tmp_path_factory.mktemp("jpegs")
    pixels = np.concatenate([hue(channel, 14, seed=60 + channel) for channel in range(3)])
    for i, each in enumerate(pixels[:IMAGES]):
        Image.fromarray(each).resize((1600, 1200)).save(folder / f"{i:02}.jpg")
    (folder / BROKEN).write_bytes(b"no image")
    return folder


@pytest.fixture(scope="session")
def gallery(tmp_path_factory: pytest.TempPathFactory, backbone_file: Path) -> Path:
    path = tmp_path_factory.mktemp("gallery") / "hues.gallery"
    with Gallery.open(path, backbone_file, create=True) as opened:
        for channel, name in enumerate(("red", "green")):
            opened.enroll(name, hue(channel, 30, seed=10 + channel))
    return path


def local_rows(gallery: Path, source: Any, **options: Any) -> list[dict[str, Any]]:
    """The rows of `corel score --format parquet`, in this process."""
    with Gallery.open(gallery) as opened:
        scores = opened.score(source)
    rows = arrow_table(list(rows_of(scores, scores.decide(), 0.05, **options))).to_pylist()
    return sorted(rows, key=lambda row: row["image"])  # what cannot be read is at the end of its batch


def without_errors(table: Any) -> list[dict[str, Any]]:
    """Rows as the local engine has them."""
    return [{name: value for name, value in row.items() if name != "error"} for row in table.to_pylist()]


def results(folder: Path) -> Any:
    """All parts of a run, as anybody reads them."""
    from pyarrow import parquet

    return parquet.read_table(folder)
