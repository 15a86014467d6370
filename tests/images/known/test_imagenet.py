"""Tiny-ImageNet and ImageNet: labels of val come from folders or from the official files."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from corel import images
from corel.images.known.imagenet_meta import read_wnids
from tests.images.conftest import Paint

WNIDS = ("n01443537", "n02124075", "n04067472")


def colors(found: images.ImageSet) -> list[int]:
    return [int(value) for value in found.pixels[:, 0, 0, 0]]


@pytest.fixture
def tiny(tmp_path: Path, paint: Paint) -> Path:
    root = tmp_path / "tiny-imagenet-200"
    for k, wnid in enumerate(WNIDS):
        for i in range(2):
            paint(root / "train" / wnid / "images" / f"{wnid}_{i}.png", (10 * k + i,) * 3)
    (root / "wnids.txt").write_text("\n".join(reversed(WNIDS)) + "\n")
    rows = []
    for i, k in enumerate((2, 0, 1, 2)):
        paint(root / "val" / "images" / f"val_{i}.png", (100 + i,) * 3)
        rows.append(f"val_{i}.png\t{WNIDS[k]}\t0\t0\t62\t62\n")
    (root / "val" / "val_annotations.txt").write_text("".join(rows))
    return root


def test_tiny_imagenet(tiny: Path) -> None:
    train, val = images.open("tiny-imagenet", root=tiny.parent), images.open("tiny-imagenet", "val", root=tiny.parent)
    assert train.classes == val.classes == WNIDS
    assert colors(train) == [0, 1, 10, 11, 20, 21]
    assert train.take(range(6)).labels.tolist() == [0, 0, 1, 1, 2, 2]  # type: ignore[union-attr]
    assert colors(val) == [100, 101, 102, 103]
    assert val.take(range(4)).labels.tolist() == [2, 0, 1, 2]  # type: ignore[union-attr]


def test_tiny_imagenet_is_recognized_by_its_path_and_found_as_the_root(tiny: Path) -> None:
    assert images.open(tiny, "test").classes == images.open("tiny-imagenet", "test", root=tiny).classes == WNIDS


def test_tiny_imagenet_with_val_by_class_folder(tiny: Path) -> None:
    for line in (tiny / "val" / "val_annotations.txt").read_text().splitlines():
        name, wnid = line.split("\t")[:2]
        (tiny / "val" / wnid).mkdir(exist_ok=True)
        (tiny / "val" / "images" / name).rename(tiny / "val" / wnid / name)
    (tiny / "val" / "images").rmdir()
    val = images.open(tiny, "test")
    assert val.take(range(4)).labels.tolist() == [0, 1, 2, 2]  # type: ignore[union-attr]


def test_missing_val_image_is_skipped_without_shifting_labels(tiny: Path) -> None:
    (tiny / "val" / "images" / "val_1.png").unlink()
    val = images.open(tiny, "test")
    assert colors(val) == [100, 102, 103]
    assert val.take(range(3)).labels.tolist() == [2, 1, 2]  # type: ignore[union-attr]
    assert [each.path for each in val.skipped] == ["val_1.png", WNIDS[0]]


def test_annotation_of_an_unknown_class_is_an_error(tiny: Path) -> None:
    annotations = tiny / "val" / "val_annotations.txt"
    annotations.write_text(annotations.read_text().replace(WNIDS[1], "n99999999"))
    with pytest.raises(ValueError, match="name n99999999, which is no class"):
        images.open(tiny, "test")


@pytest.fixture
def imagenet(tmp_path: Path, paint: Paint) -> Path:
    """Write ImageNet's layout; its numbering of classes is not alphabetical, and has inner nodes beyond 1000."""
    root = tmp_path / "imagenet"
    for k, wnid in enumerate(WNIDS):
        paint(root / "train" / wnid / f"{wnid}_1.JPEG", (60 * k,) * 3)
    for i in range(1, 5):
        paint(root / "val" / f"ILSVRC2012_val_{i:08d}.JPEG", (50 * i,) * 3)
    kit = root / "ILSVRC2012_devkit_t12" / "data"
    kit.mkdir(parents=True)
    numbered = [(1, WNIDS[2]), (2, WNIDS[0]), (3, WNIDS[1]), (1001, "n00001740")]
    synsets = np.array([(n, w, "words") for n, w in numbered], [("ILSVRC2012_ID", "O"), ("WNID", "O"), ("words", "O")])
    savemat(kit / "meta.mat", {"synsets": synsets.reshape(-1, 1)})
    (kit / "ILSVRC2012_validation_ground_truth.txt").write_text("3\n1\n2\n1\n")
    return root


def test_imagenet_ground_truth_goes_through_the_development_kits_numbers(imagenet: Path) -> None:
    val = images.open("imagenet", "test", root=imagenet.parent)
    assert val.classes == images.open("imagenet", root=imagenet.parent).classes == WNIDS
    assert val.take(range(4)).labels.tolist() == [1, 2, 0, 2]  # type: ignore[union-attr]
    assert np.abs(np.array(colors(val)) - [50, 100, 150, 200]).max() <= 2


def test_imagenet_val_by_class_folder_needs_no_ground_truth(imagenet: Path, paint: Paint) -> None:
    for file in (imagenet / "val").iterdir():
        file.unlink()
    paint(imagenet / "val" / WNIDS[1] / "a.png", (7, 7, 7))
    val = images.open(imagenet, "val")
    assert val.take([0]).labels == [1]
    assert val.classes == WNIDS


def test_imagenet_without_its_kit_says_what_is_missing(imagenet: Path) -> None:
    (imagenet / "ILSVRC2012_devkit_t12" / "data" / "meta.mat").unlink()
    with pytest.raises(
        FileNotFoundError, match=r"need labels: put ILSVRC2012_validation_ground_truth\.txt and meta\.mat"
    ):
        images.open(imagenet, "test")


@pytest.mark.parametrize(("position", "value"), [(560, 127), (296, 0)])  # these two make scipy's reader crash
def test_damage_to_meta_mat_is_a_clear_error_and_never_a_crash(imagenet: Path, position: int, value: int) -> None:
    meta = imagenet / "ILSVRC2012_devkit_t12" / "data" / "meta.mat"
    content = bytearray(meta.read_bytes())
    content[position] = value
    meta.write_bytes(content)
    with pytest.raises(ValueError, match=r"meta\.mat is damaged; unpack"):
        read_wnids(meta)


def test_a_module_in_the_working_folder_is_not_run(
    imagenet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scipy.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [place for place in sys.path if place not in ("", str(Path.cwd()))])
    assert len(images.open(imagenet, "test")) == 4


@pytest.mark.parametrize("text", ["3\n1\n²\n1\n", "1\n2\n4\n", "\xff\xfe1"])
def test_an_error_names_an_impossible_line_of_the_ground_truth(imagenet: Path, text: str) -> None:
    truth = imagenet / "ILSVRC2012_devkit_t12" / "data" / "ILSVRC2012_validation_ground_truth.txt"
    truth.write_bytes(text.encode("latin1" if "\xff" in text else "utf-8"))
    with pytest.raises(ValueError, match=r"ILSVRC2012_validation_ground_truth\.txt (has|is not)"):
        images.open(imagenet, "test")


@pytest.mark.parametrize("name", ["/dev/zero", "../../train/secret.png", "..", "", "a\\b.png"])
def test_annotations_cannot_name_files_outside_the_dataset(tiny: Path, name: str) -> None:
    (tiny / "val" / "val_annotations.txt").write_text(f"val_0.png\t{WNIDS[0]}\n{name}\t{WNIDS[0]}\n")
    with pytest.raises(ValueError, match=r"val_annotations\.txt has a line that is not an image's name"):
        images.open(tiny, "test")


def test_an_error_names_annotations_without_a_class(tiny: Path) -> None:
    (tiny / "val" / "val_annotations.txt").write_text("val_0.png\n")
    with pytest.raises(ValueError, match=r"val_annotations\.txt has a line"):
        images.open(tiny, "test")
