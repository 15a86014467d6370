"""No image takes the machine down: pixels, scans, pipes, lying headers and labels have limits."""

from __future__ import annotations

import gzip
import io
import os
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from corel import images
from corel.images import _convert
from tests.images.conftest import Paint


def refused(path: Path, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        images.open(path)


def test_a_pipe_with_an_image_s_name_is_skipped(tmp_path: Path, paint: Paint) -> None:
    paint(tmp_path / "a.png")
    os.mkfifo(tmp_path / "b.png")
    found = images.open(tmp_path)
    assert list(found.names) == ["a.png"]
    assert [(each.path, each.reason) for each in found.skipped] == [("b.png", "is a pipe or a device, not a file")]


def test_too_many_pixels_are_refused_by_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.png"
    Image.new("L", (9000, 8000)).save(path)
    refused(path, "9000 × 8000 pixels are more than 64,000,000")
    Image.new("L", (30, 20)).save(path)
    monkeypatch.setenv("COREL_MAX_PIXELS", "599")
    refused(path, "30 × 20 pixels are more than 599")
    monkeypatch.setenv("COREL_MAX_PIXELS", "600")
    assert len(images.open(path)) == 1


def test_a_jpeg_of_thousands_of_scans_is_refused(tmp_path: Path) -> None:
    file = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(file, "JPEG", progressive=True)
    content = file.getvalue()
    last = content.rindex(b"\xff\xda")
    (tmp_path / "a.jpg").write_bytes(content[:last] + content[last:-2] * 3000 + content[-2:])
    refused(tmp_path / "a.jpg", "more than 100 scans")


def test_an_image_that_needs_too_much_memory_is_skipped(
    tmp_path: Path, paint: Paint, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint(tmp_path / "a.png", (1, 2, 3), 8)
    paint(tmp_path / "b.png", (1, 2, 3), 9)
    rgb = _convert._rgb

    def short_of_memory(image: Image.Image) -> Image.Image:
        if image.width == 9:
            raise MemoryError
        return rgb(image)

    monkeypatch.setattr(_convert, "_rgb", short_of_memory)
    assert [each.reason for each in images.open(tmp_path).skipped] == ["needs more memory than there is"]


def test_a_huge_label_does_not_create_millions_of_names(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, images=np.zeros((2, 4, 4), np.uint8), labels=np.array([0, 300_000_000]))
    refused(path, "labels of .* has the label 300000000; number the classes from 0 up")


def lying_header(shape: str) -> bytes:
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"data"


@pytest.mark.parametrize("shape", ["(5,)", "(1 << 40,)", "(100000, 100000)", "()", "(-4,)", "(4, (", "((((", "None"])
def test_a_wrong_header_is_a_clear_error(tmp_path: Path, shape: str) -> None:
    (tmp_path / "a.npy").write_bytes(lying_header(shape))
    refused(tmp_path / "a.npy", r"a\.npy is damaged")
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("images.npy", lying_header(shape))
    refused(tmp_path / "b.npz", r"b\.npz is damaged")


def test_only_the_entries_asked_for_are_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        file = io.BytesIO()
        np.save(file, np.zeros((2, 8, 8), np.uint8))
        archive.writestr("images.npy", file.getvalue())
        archive.writestr("bomb.npy", bytes(50_000_000))
    tracemalloc.start()
    assert len(images.open(tmp_path / "a.npz")) == 2
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_no_more_is_unpacked_than_the_header_promises(tmp_path: Path) -> None:
    head = bytes((0, 0, 8, 3)) + struct.pack(">3i", 2, 4, 4)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + bytes(100_000_000), 9))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes((0, 0, 8, 1, 0, 0, 0, 2, 0, 1))))
    tracemalloc.start()
    refused(tmp_path, "is not a whole IDX file")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000
