"""Folders and lists of files: what is read, what it is called, what is skipped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from corel import images
from corel.images import Skipped

from .conftest import Paint


def test_flat_folder_has_no_labels(tmp_path: Path, paint: Paint) -> None:
    for suffix in ("png", "JPG", "jpeg", "webp", "bmp", "tif", "tiff"):
        paint(tmp_path / f"{suffix}-file.{suffix}")
    (tmp_path / "notes.txt").write_text("no image")
    paint(tmp_path / ".hidden.png")
    found = images.open(tmp_path)
    assert found.labels is None
    assert found.classes == ()
    assert [name.split("-")[0] for name in found.names] == ["JPG", "bmp", "jpeg", "png", "tif", "tiff", "webp"]
    assert found.pixels.shape == (7, 32, 32, 3)
    assert np.abs(found.pixels.astype(int) - [200, 30, 60]).max() < 12
    assert found.skipped == ()


def test_train_alone_is_the_train_split(tmp_path: Path, paint: Paint) -> None:
    for name in ("cat", "ant"):
        paint(tmp_path / "train" / name / "a.png")
    assert images.open(tmp_path).classes == ("ant", "cat")
    with pytest.raises(ValueError, match=r"split is 'test', but .* has no such folder"):
        images.open(tmp_path, "test")


def test_one_folder_a_class(tmp_path: Path, paint: Paint) -> None:
    paint(tmp_path / "cat" / "deep" / "a.png", (1, 1, 1))
    paint(tmp_path / "ant" / "b.png", (2, 2, 2))
    paint(tmp_path / "ant" / "a.png", (3, 3, 3))
    paint(tmp_path / ".cache" / "a.png")
    found = images.open(str(tmp_path))
    assert found.classes == ("ant", "cat")
    assert found.names == ["ant/a.png", "ant/b.png", "cat/deep/a.png"]
    assert found.labels is not None
    assert found.labels.tolist() == [0, 0, 1]
    assert found.pixels[:, 0, 0, 0].tolist() == [3, 2, 1]


@pytest.mark.parametrize("second", ["test", "val"])
def test_train_and_test_folders_number_classes_alike(tmp_path: Path, paint: Paint, second: str) -> None:
    paint(tmp_path / "train" / "cat" / "1.png")
    paint(tmp_path / second / "ant" / "2.png")
    paint(tmp_path / second / "cat" / "3.png")
    train, test = images.open(tmp_path), images.open(tmp_path, "test")
    assert train.classes == test.classes == ("ant", "cat")
    assert (train.labels, test.labels) != (None, None)
    assert train.take([0]).labels == [1]
    assert list(test.names) == ["ant/2.png", "cat/3.png"]
    assert train.skipped == ()  # an ant may come up in a test; strict reading does not forbid that
    assert len(images.open(tmp_path, strict=True)) == 1
    (tmp_path / "train" / "bee").mkdir()
    assert images.open(tmp_path).skipped == (Skipped("bee", "is a class without any image"),)


def test_folder_without_splits_is_never_its_own_test_set(tmp_path: Path, paint: Paint) -> None:
    paint(tmp_path / "a.png")
    with pytest.raises(ValueError, match=r"split is 'test', but .* has no such folder"):
        images.open(tmp_path, "test")


def test_broken_file_is_skipped_and_listed(tmp_path: Path, paint: Paint) -> None:
    paint(tmp_path / "ant" / "good.png")
    (tmp_path / "ant" / "bad.jpg").write_bytes(b"nothing")
    (tmp_path / "ant" / "empty.png").touch()
    found = images.open(tmp_path)
    assert list(found.names) == ["ant/good.png"]
    assert [each.path for each in found.skipped] == ["ant/bad.jpg", "ant/empty.png"]
    assert found.skipped[0].reason.startswith("is no JPEG, PNG, WebP, BMP, TIFF, GIF")
    assert found.skipped[1].reason == "is an empty file"
    with pytest.raises(ValueError, match=r"2 of .* cannot be used, the first: ant/bad.jpg is no JPEG"):
        images.open(tmp_path, strict=True)


def test_class_whose_images_are_all_broken_keeps_its_number(tmp_path: Path, paint: Paint) -> None:
    paint(tmp_path / "cat" / "good.png")
    (tmp_path / "ant").mkdir()
    (tmp_path / "bee").mkdir()
    (tmp_path / "bee" / "bad.png").touch()
    found = images.open(tmp_path)
    assert found.classes == ("ant", "bee", "cat")
    assert found.take([0]).labels == [2]
    assert [each.path for each in found.skipped] == ["bee/bad.png", "ant", "bee"]
    with pytest.raises(ValueError, match="repair or remove it"):
        images.open(tmp_path, strict=True)


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no image in"):
        images.open(tmp_path)
    (tmp_path / "ant").mkdir()
    with pytest.raises(ValueError, match="there is no image in"):
        images.open(tmp_path)
    (tmp_path / "ant" / "bad.png").touch()
    with pytest.raises(ValueError, match=r"no image could be read from .*; the first of 2: ant/bad.png"):
        images.open(tmp_path)


def test_images_beside_class_folders_are_an_error(tmp_path: Path, paint: Paint) -> None:
    paint(tmp_path / "ant" / "a.png")
    paint(tmp_path / "loose.png")
    with pytest.raises(ValueError, match=r"loose\.png.*beside folders \(ant\)"):
        images.open(tmp_path)


def test_list_of_files_keeps_its_order_and_skips_what_is_missing(tmp_path: Path, paint: Paint) -> None:
    files = [paint(tmp_path / f"{i}.png", (i, i, i)) for i in (5, 3, 4)]
    found = images.open([str(files[0]), tmp_path / "absent.png", *files[1:]], size=16)
    assert found.pixels[:, 0, 0, 0].tolist() == [5, 3, 4]
    assert list(found.names) == [str(file) for file in files]
    assert found.skipped == (Skipped(str(tmp_path / "absent.png"), "cannot be read: No such file or directory"),)
    with pytest.raises(ValueError, match="the list of files is empty"):
        images.open([])


def test_one_file(tmp_path: Path, paint: Paint) -> None:
    assert len(images.open(paint(tmp_path / "a.png"))) == 1


def test_many_files_stay_in_order_when_decoded_in_parallel(tmp_path: Path, paint: Paint) -> None:
    files = [paint(tmp_path / f"{i:03d}.png", (i % 256, i // 256, 0), size=2) for i in range(300)]
    pixels = images.open(files, size=2).pixels[:, 0, 0].astype(int)
    assert (pixels[:, 0] + 256 * pixels[:, 1]).tolist() == list(range(300))
