"""Sources that are numbers: Fashion-MNIST's IDX files, digits, arrays, .npy and .npz."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from corel import images

RNG = np.random.default_rng(0)
GRAY = RNG.integers(0, 256, (12, 32, 32), dtype=np.uint8)
COLOR = RNG.integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)
LABELS = np.arange(12) % 10


def write_fashion(folder: Path, *, packed: bool) -> None:
    folder.mkdir(parents=True)
    for prefix in ("train", "t10k"):
        for name, array in ((f"{prefix}-images-idx3-ubyte", GRAY), (f"{prefix}-labels-idx1-ubyte", LABELS)):
            data = (
                struct.pack(f">BBBB{array.ndim}i", 0, 0, 8, array.ndim, *array.shape) + array.astype(np.uint8).tobytes()
            )
            if packed:
                (folder / f"{name}.gz").write_bytes(gzip.compress(data))
            else:
                (folder / name).write_bytes(data)


def save(path: Path, arrays: dict[str, Any]) -> None:
    np.savez(path, **arrays)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("place", ["fashion-mnist", "FashionMNIST/raw"])
def test_fashion_mnist(tmp_path: Path, packed: bool, place: str) -> None:
    write_fashion(tmp_path / place, packed=packed)
    for split in ("train", "test"):
        found = images.open("fashion-mnist", split, root=tmp_path)
        assert np.array_equal(found.pixels, np.repeat(GRAY[..., None], 3, axis=-1))
        assert np.array_equal(found.labels, LABELS)  # type: ignore[arg-type]
        assert found.classes[-1] == "Ankle boot"


def test_damaged_idx_files_are_named(tmp_path: Path) -> None:
    write_fashion(tmp_path / "fashion-mnist", packed=True)
    file = tmp_path / "fashion-mnist" / "t10k-images-idx3-ubyte.gz"
    whole = file.read_bytes()
    for bad in (whole[:-20], b"", b"plain text", gzip.compress(gzip.decompress(whole)[:-1]), gzip.compress(b"\0\0")):
        file.write_bytes(bad)
        with pytest.raises(ValueError, match=r"t10k-images-idx3-ubyte.*fetch it again"):
            images.open("fashion-mnist", "test", root=tmp_path)
    file.unlink()
    with pytest.raises(FileNotFoundError, match="there is neither"):
        images.open("fashion-mnist", "test", root=tmp_path)


def test_digits_are_split_in_halves_for_good() -> None:
    train, test = images.open("digits", size=8), images.open("digits", "test", size=8)
    assert (len(train), len(test)) == (899, 898)
    assert set(train.names).isdisjoint(test.names)
    whole = load_digits()
    for part in (train, test):
        chosen = [int(name.removeprefix("digits/")) for name in part.names]
        assert np.array_equal(part.labels, whole.target[chosen])  # type: ignore[arg-type]
        assert np.abs(part.pixels[..., 0] / 255 - whole.images[chosen] / 16).max() < 1 / 255
        counts = np.bincount(part.labels)  # type: ignore[arg-type]
        assert np.abs(counts - np.bincount(whole.target) / 2).max() <= 1
    # Changing the split would change every result that was reported on it.
    assert test.names[:5] == ["digits/000000", "digits/000001", "digits/000002", "digits/000004", "digits/000006"]


def test_array_and_tensor_of_the_right_shape_are_taken_as_they_are() -> None:
    assert np.array_equal(images.open(COLOR).pixels, COLOR)
    assert np.array_equal(images.open(torch.from_numpy(COLOR).permute(0, 3, 1, 2)).pixels, COLOR)
    assert np.array_equal(images.open(torch.from_numpy(COLOR).float().div(255).requires_grad_()).pixels, COLOR)
    assert images.open(GRAY).names[11] == "train/000011"


def test_npy(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", GRAY)
    assert np.array_equal(images.open(tmp_path / "a.npy").pixels[..., 1], GRAY)


def test_array_that_needs_a_pickle_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}, None]), allow_pickle=True)
    np.savez(tmp_path / "b.npz", images=np.array([{}, None]))
    for file in ("a.npy", "b.npz"):
        with pytest.raises(ValueError, match="needs a pickle, which is not read"):
            images.open(tmp_path / file)


@pytest.mark.parametrize("entries", [("images", "labels"), ("x", "y"), ("arr_0", "arr_1")])
def test_npz_without_splits(tmp_path: Path, entries: tuple[str, str]) -> None:
    save(tmp_path / "a.npz", {entries[0]: COLOR, entries[1]: LABELS[:, None]})
    found = images.open(tmp_path / "a.npz")
    assert np.array_equal(found.pixels, COLOR)
    assert np.array_equal(found.labels, LABELS)  # type: ignore[arg-type]
    assert found.classes == tuple("0123456789")
    with pytest.raises(ValueError, match="has no splits"):
        images.open(tmp_path / "a.npz", "test")


@pytest.mark.parametrize(("image", "label"), [("{}_images", "{}_labels"), ("x_{}", "y_{}")])
def test_npz_with_splits_numbers_classes_alike(tmp_path: Path, image: str, label: str) -> None:
    arrays = {image.format("train"): COLOR[:8], label.format("train"): LABELS[:8]}
    arrays |= {image.format("test"): COLOR[8:], label.format("test"): LABELS[8:]}
    save(tmp_path / "a.npz", arrays)
    train, test = images.open(tmp_path / "a.npz"), images.open(tmp_path / "a.npz", "test")
    assert np.array_equal(train.pixels, COLOR[:8])
    assert np.array_equal(test.pixels, COLOR[8:])
    assert train.classes == test.classes == tuple("0123456789")


def test_npz_may_name_its_classes_or_have_no_labels(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", images=COLOR[:2], labels=[1, 0], classes=["ant", "bee", "cat"])
    np.savez(tmp_path / "b.npz", images=COLOR[:2])
    assert images.open(tmp_path / "a.npz").classes == ("ant", "bee", "cat")
    assert images.open(tmp_path / "b.npz").labels is None


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"pictures": COLOR}, "holds pictures; name the images 'images'"),
        ({"images": COLOR, "labels": LABELS / 2}, "one whole number ≥ 0 an image"),
        ({"images": COLOR, "labels": -LABELS}, "one whole number ≥ 0 an image"),
        ({"images": COLOR, "labels": LABELS[:5]}, "labels must be \\[12\\]"),
        ({"images": COLOR, "labels": LABELS, "classes": ["ant"]}, "labels run from 0 to 9 but there are 1 classes"),
        ({"images": COLOR[:0]}, "must hold at least one image"),
        ({"images": COLOR[0, 0]}, r"of shape \[32, 3\]"),
    ],
)
def test_an_npz_file_that_does_not_fit_is_a_clear_error(
    tmp_path: Path, arrays: dict[str, np.ndarray], message: str
) -> None:
    save(tmp_path / "a.npz", arrays)
    with pytest.raises(ValueError, match=message):
        images.open(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
@pytest.mark.parametrize("data", [b"", b"nothing", b"PK\x03\x04 cut off", b"\x93NUMPY\x01\x00v\x00{"])
def test_a_damaged_numpy_file_is_a_clear_error(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=r"a\.np. is damaged"):
        images.open(tmp_path / name)


def test_one_color_image_is_one_image() -> None:
    assert images.open(np.zeros((48, 48, 3), np.uint8)).pixels.shape == (1, 32, 32, 3)
