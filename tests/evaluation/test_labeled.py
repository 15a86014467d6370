"""Whatever has labels can be evaluated, and all of it is read by the stream that a gallery reads by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image

from corel import images
from corel.backbone import Backbone
from corel.encoders import Autoencoder
from corel.evaluation import evaluate, read_labeled, recognize, split
from corel.images import ImageSet

NAMES = ("blue", "green", "red")
SIZES = {"train": 8, "test": 5}


def colored(count: int, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images with one strong channel each, and the number of that channel's name."""
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), count)
    pixels = random.integers(0, 60, (3 * count, 8, 8, 3))
    pixels[np.arange(3 * count), :, :, 2 - labels] += random.integers(100, 190, (3 * count, 1, 1))
    return pixels.astype(np.uint8), labels


DATA = {part: colored(count, seed) for seed, (part, count) in enumerate(SIZES.items())}


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    torch.manual_seed(0)
    network = Autoencoder(branches=4, branch_dim=2, width=4, image_size=8)
    latents = network.encode(np.random.default_rng(9).integers(0, 256, (60, 8, 8, 3)).astype(np.uint8)).numpy()
    return Backbone(network, "autoencoder", 2.0, 1.0, 50, np.ones((4, 3), np.float32), latents, {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hues")
    for part, (pixels, labels) in DATA.items():
        for number, (image, label) in enumerate(zip(pixels, labels, strict=True)):
            place = folder / part / NAMES[label] / f"{number:02d}.png"
            place.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(place)
    return folder


class Items:
    """A dataset of pairs, as torch has them; it numbers its classes and may know their names."""

    def __init__(self, part: str) -> None:
        self.pixels, self.labels = DATA[part]

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, i: int) -> tuple[Image.Image, int]:
        return Image.fromarray(self.pixels[i]), int(self.labels[i])


def image_set(part: str) -> ImageSet:
    pixels, labels = DATA[part]
    return ImageSet(pixels, labels, NAMES, [str(i) for i in range(len(pixels))], f"hues, {part}")


def sources(folder: Path, tmp_path: Path) -> dict[str, tuple[Any, Any]]:
    """The same images in every form that has labels, and the test images where they come apart."""
    parts = {part: (pixels, np.array(NAMES)[labels]) for part, (pixels, labels) in DATA.items()}
    arrays: dict[str, Any] = {f"{part}_images": pixels for part, (pixels, _) in DATA.items()}
    arrays |= {f"{part}_labels": labels for part, (_, labels) in DATA.items()}
    np.savez(tmp_path / "hues.npz", **arrays)
    tensors = {part: (torch.from_numpy(pixels), names.tolist()) for part, (pixels, names) in parts.items()}
    return {
        "a folder with splits": (folder, None),
        "two folders": (str(folder / "train"), folder / "test"),
        "sets of images": (image_set("train"), image_set("test")),
        "pairs of arrays": (parts["train"], parts["test"]),
        "pairs of a tensor and a list": (tensors["train"], tensors["test"]),
        "datasets": (Items("train"), Items("test")),
        "a mapping of datasets": ({"train": Items("train"), "validation": Items("test")}, None),
        "an .npz file": (tmp_path / "hues.npz", None),
    }


def test_every_form_of_the_same_images_is_measured_alike(backbone: Backbone, folder: Path, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"exemplars": [3], "draws": 2, "progress": False}
    expected = evaluate(backbone, image_set("train"), image_set("test"), **settings)
    for form, (train, test) in sources(folder, tmp_path).items():
        found = evaluate(backbone, train, test, **settings)
        for ours, theirs in zip(found.records, expected.records, strict=True):
            assert ours.auc == theirs.auc, form
        assert recognize(backbone, train, test).known == 15, form


def test_items_are_mapped_from_a_file_and_equal_what_was_given(backbone: Backbone) -> None:
    train, test = read_labeled(backbone, image_set("train"), image_set("test"))
    np.testing.assert_array_equal(train.items, DATA["train"][0])
    np.testing.assert_array_equal(test.labels, DATA["test"][1])
    assert isinstance(train.items.base, np.memmap)
    assert (train.kind, train.source, len(test)) == ("images", "hues, train", 15)
    some = train.take(train.labels == 1)
    np.testing.assert_array_equal(some.items, DATA["train"][0][8:16])
    assert some.pictures is not None
    assert some.pictures.names == [str(i) for i in range(8, 16)]


def test_a_source_without_a_test_split_is_divided(backbone: Backbone, folder: Path) -> None:
    train, test = read_labeled(backbone, folder / "train", seed=3)
    expected = split(images.open(folder / "train", size=8), 3)
    for ours, theirs in zip((train, test), expected, strict=True):
        np.testing.assert_array_equal(ours.items, theirs.pixels)
        np.testing.assert_array_equal(ours.labels, theirs.labels)
    assert np.bincount(test.labels).tolist() == [2, 2, 2]


def test_classes_are_matched_by_name_and_new_ones_are_strangers(backbone: Backbone) -> None:
    pixels, labels = DATA["test"]
    other = ImageSet(pixels, labels, ("pink", "red", "green"), [""] * 15, "others")
    train, test = read_labeled(backbone, image_set("train"), other)
    assert train.classes == test.classes == (*NAMES, "pink")
    assert [test.classes[label] for label in test.labels[::5]] == ["pink", "red", "green"]
    assert {kind: count for kind, (count, _) in recognize(backbone, train, test).strangers.items()} == {"pink": 5}


def test_what_cannot_be_read_is_listed_and_refused_if_strict(backbone: Backbone, folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "some"
    for name in NAMES:
        (place / name).mkdir(parents=True)
        for k, file in enumerate(sorted((folder / "train" / name).iterdir())):
            (place / name / f"{k}.png").symlink_to(file)
    (place / "red" / "drawing.svg").write_text("<svg/>")
    (place / "red" / "broken.png").write_bytes(b"no picture")
    train, _ = read_labeled(backbone, place)
    assert sorted(each.path for each in train.skipped) == ["red/broken.png", "red/drawing.svg"]
    with pytest.raises(ValueError, match="strict forbids skipping"):
        read_labeled(backbone, place, strict=True)


def test_a_dataset_without_labels_is_refused(backbone: Backbone) -> None:
    unlabeled = [Image.fromarray(pixels) for pixels in DATA["train"][0]]
    with pytest.raises(ValueError, match=r"^train must have labels, but a list of 24 items has none"):
        read_labeled(backbone, unlabeled, unlabeled)
