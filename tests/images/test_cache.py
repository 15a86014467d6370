"""The cache gives what decoding would give, or nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from corel import images
from corel.images import Preparation, _open
from corel.images._decoding import Decoded, decode_files

from .conftest import Paint


@pytest.fixture
def folder(tmp_path: Path, paint: Paint, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(_open, "CACHE_FROM", 5)
    for i in range(6):
        paint(tmp_path / "images" / f"{i}.png", (i, 2 * i, 3 * i))
    (tmp_path / "images" / "broken.png").touch()
    return tmp_path / "images"


@pytest.fixture
def decodings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the files of each decoding that really takes place."""
    counts: list[int] = []

    def counted(files: list[Path], preparation: Preparation, *, progress: bool, keyed: bool) -> Decoded:
        counts.append(len(files))
        return decode_files(files, preparation, progress=progress, keyed=keyed)

    monkeypatch.setattr(_open, "decode_files", counted)
    return counts


def stored(cache: Path) -> Path:
    (file,) = (cache / "images").iterdir()
    return file


def same(a: images.ImageSet, b: images.ImageSet) -> bool:
    return np.array_equal(a.pixels, b.pixels) and list(a.names) == list(b.names) and a.skipped == b.skipped


def test_second_reading_is_equal_and_decodes_nothing(folder: Path, decodings: list[int]) -> None:
    first, second = images.open(folder), images.open(folder)
    assert same(first, second)
    assert len(first.skipped) == 1
    assert decodings == [7]


def test_same_bytes_elsewhere_share_the_cache(folder: Path, decodings: list[int], tmp_path: Path) -> None:
    first = images.open(folder)
    folder.rename(tmp_path / "moved")
    assert same(first, images.open(tmp_path / "moved"))
    assert decodings == [7]


def test_changed_byte_is_noticed_though_size_and_time_are_equal(
    folder: Path, decodings: list[int], paint: Paint
) -> None:
    import os

    images.open(folder)
    file = folder / "3.png"
    before = file.stat()
    paint(file, (4, 6, 9))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert images.open(folder).pixels[3, 0, 0].tolist() == [4, 6, 9]
    assert decodings == [7, 7]


def test_another_size_is_another_entry(folder: Path, decodings: list[int]) -> None:
    for size in (8, 16, 8, 16):
        assert images.open(folder, size=size).pixels.shape == (6, size, size, 3)
    assert decodings == [7, 7]


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "text", "foreign", "other"])
def test_damaged_or_foreign_cache_is_rebuilt(folder: Path, decodings: list[int], cache: Path, damage: str) -> None:
    first = images.open(folder)
    file = stored(cache)
    data = bytearray(file.read_bytes())
    if damage == "flip":
        data[-1] ^= 1
    bad = {"flip": bytes(data), "truncate": bytes(data[:-10]), "empty": b"", "text": b"hello" * 99}
    if damage == "foreign":
        save_file({"weights": np.zeros(3)}, file)
    elif damage == "other":
        save_file({"pixels": load_file(file)["pixels"]}, file, {"broken": "{}", "digest": "0" * 64})
    else:
        file.write_bytes(bad[damage])
    assert same(first, images.open(folder))
    assert decodings == [7, 7]
    assert same(first, images.open(folder))
    assert decodings == [7, 7]


def test_an_entry_copied_to_another_key_is_ignored(
    folder: Path, decodings: list[int], cache: Path, paint: Paint
) -> None:
    images.open(folder)
    old = stored(cache)
    content = old.read_bytes()
    paint(folder / "3.png", (9, 9, 9))
    images.open(folder)
    new = next(file for file in (cache / "images").iterdir() if file != old)
    new.write_bytes(content)
    assert images.open(folder).pixels[3, 0, 0].tolist() == [9, 9, 9]
    assert decodings == [7, 7, 7]


def test_images_open_without_a_cache_folder(
    folder: Path, decodings: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COREL_CACHE", str(tmp_path / "file" / "below"))
    assert same(images.open(folder), images.open(folder))
    assert decodings == [7, 7]


def test_file_that_cannot_be_read_is_not_remembered_as_broken(folder: Path, cache: Path) -> None:
    (folder / "gone.png").symlink_to(folder / "nowhere")
    assert [each.path for each in images.open(folder).skipped] == ["broken.png", "gone.png"]
    assert not (cache / "images").exists()


def test_few_images_leave_no_cache(tmp_path: Path, paint: Paint, cache: Path) -> None:
    images.open(paint(tmp_path / "a.png"))
    assert list(cache.iterdir()) == []


def test_no_temporary_file_is_left_behind(folder: Path, cache: Path) -> None:
    images.open(folder)
    assert [file.suffix for file in (cache / "images").iterdir()] == [".safetensors"]
