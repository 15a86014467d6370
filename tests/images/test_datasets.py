"""Dataset objects: torch's, Hugging Face's, lists of images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import datasets
import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Dataset, IterableDataset, Subset, TensorDataset

from corel import images

RNG = np.random.default_rng(0)
COLOR = RNG.integers(0, 256, (6, 32, 32, 3), dtype=np.uint8)
LABELS = [2, 0, 1, 1, 0, 2]


class Pictures(Dataset[Any]):
    classes = ("ant", "bee", "cat")

    def __len__(self) -> int:
        return len(COLOR)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        if index == 3:
            raise OSError("bad sector")
        return Image.fromarray(COLOR[index]), LABELS[index]


def test_torch_dataset_of_pillow_images_skips_what_cannot_be_read() -> None:
    found = images.open(Pictures())
    assert np.array_equal(found.pixels, COLOR[[0, 1, 2, 4, 5]])
    assert found.take(range(5)).labels.tolist() == [2, 0, 1, 0, 2]  # type: ignore[union-attr]
    assert found.classes == ("ant", "bee", "cat")
    assert [(each.path, each.reason) for each in found.skipped] == [("train/000003", "cannot be decoded: bad sector")]
    assert found.names[3] == "train/000004"
    with pytest.raises(ValueError, match=r"train/000003 cannot be decoded: bad sector"):
        images.open(Pictures(), strict=True)


def test_subset_knows_the_classes_of_what_it_is_taken_from() -> None:
    found = images.open(Subset(Pictures(), [5, 1]))
    assert np.array_equal(found.pixels, COLOR[[5, 1]])
    assert found.classes == ("ant", "bee", "cat")


def test_tensor_dataset() -> None:
    planes = torch.from_numpy(COLOR).permute(0, 3, 1, 2).float() / 255
    found = images.open(TensorDataset(planes, torch.tensor(LABELS)))
    assert np.array_equal(found.pixels, COLOR)
    assert found.classes == ("0", "1", "2")
    assert images.open(TensorDataset(planes)).labels is None


def test_list_of_images() -> None:
    found = images.open([Image.fromarray(COLOR[0]), COLOR[1], {"image": COLOR[2]}])
    assert np.array_equal(found.pixels, COLOR[:3])
    assert found.labels is None


def hugging_face(rows: list[int]) -> datasets.Dataset:
    features = {
        "id": datasets.Value("int32"),
        "img": datasets.Image(),
        "fine": datasets.ClassLabel(names=["a", "b", "c"]),
    }
    columns = {"id": rows, "img": [Image.fromarray(COLOR[i]) for i in rows], "fine": [LABELS[i] for i in rows]}
    return datasets.Dataset.from_dict(columns, features=datasets.Features(features))


def test_hugging_face_dataset_says_which_columns_are_image_and_label() -> None:
    found = images.open(hugging_face([4, 0, 2]))
    assert np.array_equal(found.pixels, COLOR[[4, 0, 2]])
    assert found.classes == ("a", "b", "c")
    assert found.take(range(3)).labels.tolist() == [0, 2, 1]  # type: ignore[union-attr]


def test_hugging_face_splits() -> None:
    both = datasets.DatasetDict({"train": hugging_face([0, 1, 2, 3]), "validation": hugging_face([4])})
    assert np.array_equal(images.open(both).pixels, COLOR[:4])
    held_out = images.open(both, "test")
    assert np.array_equal(held_out.pixels, COLOR[4:5])
    assert held_out.names == ["test/000000"]
    with pytest.raises(ValueError, match="split is 'test', but the datasets are called train"):
        images.open(datasets.DatasetDict({"train": hugging_face([0])}), "test")


def test_items_without_an_image_or_with_half_the_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="items have picture but no 'image'"):
        images.open([{"picture": COLOR[0]}])
    with pytest.raises(ValueError, match="must have a label from 0 on for each item"):
        images.open([(COLOR[0], 1), (COLOR[1], None)])
    with pytest.raises(ValueError, match="must have a label from 0 on for each item"):
        images.open([(COLOR[0], 1), (COLOR[1], -1)])


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter(COLOR)


@pytest.mark.parametrize("source", [Stream(), 7, None])
def test_what_has_no_length_is_refused(source: object) -> None:
    with pytest.raises(TypeError, match="which holds no images"):
        images.open(source)


@pytest.mark.parametrize("source", [Pictures(), [COLOR[0]], COLOR])
def test_source_without_splits_is_never_its_own_test_set(source: object) -> None:
    with pytest.raises(ValueError, match="split must be 'train'"):
        images.open(source, "test")
