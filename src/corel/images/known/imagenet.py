"""Tiny-ImageNet and ImageNet: train by class folder, val by class folder or by the official labels."""

from __future__ import annotations

from pathlib import Path

from corel._terminal import shown
from corel.images._folder import class_names, list_classes
from corel.images._listing import FileListing
from corel.images.known.imagenet_meta import read_wnids
from corel.images.known.lines import read_lines

_GROUND_TRUTH = "ILSVRC2012_validation_ground_truth.txt"
_DEVKIT = Path("ILSVRC2012_devkit_t12", "data")


def list_tiny_imagenet(root: Path, split: str) -> FileListing:
    """List Tiny-ImageNet-200; "test" is its val, whose labels are in val_annotations.txt."""
    classes = sorted(read_lines(root / "wnids.txt"))
    if split == "train":
        return list_classes(root / "train", classes)
    if class_names(root / "val") != ["images"]:
        return list_classes(root / "val", classes)
    annotated = root / "val" / "val_annotations.txt"
    return _labeled(root / "val" / "images", _annotations(annotated), classes, annotated, root / "wnids.txt")


def list_imagenet(root: Path, split: str) -> FileListing:
    """List ImageNet (ILSVRC 2012); "test" is its val, by class folder or by the official ground truth."""
    classes = class_names(root / "train")
    if split == "train":
        return list_classes(root / "train", classes)
    if class_names(root / "val"):
        return list_classes(root / "val", classes)
    truth = root / f"{_GROUND_TRUTH} and meta.mat"
    return _labeled(root / "val", _ground_truth(root), classes, truth, root / "train")


def is_tiny_imagenet(folder: Path) -> bool:
    """Tell Tiny-ImageNet from any other folder of train and val images."""
    return (folder / "wnids.txt").is_file() and (folder / "train").is_dir()


def is_imagenet(folder: Path) -> bool:
    """Tell whether `folder` holds ImageNet's train folders, named by WordNet number."""
    train = folder / "train"
    return (
        train.is_dir() and not is_tiny_imagenet(folder) and any(train.glob("n[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]"))
    )


def _annotations(path: Path) -> dict[str, str]:
    """Read lines of a file's name, a tab, its class, and more; a name that leads out of the folder is refused."""
    rows = [line.split("\t") for line in read_lines(path)]
    if any(len(row) < 2 or row[0] in ("", ".", "..") or not {"/", "\\", "\0"}.isdisjoint(row[0]) for row in rows):
        raise ValueError(f"{path} has a line that is not an image's name, a tab and its class; fetch the dataset again")
    return {row[0]: row[1] for row in rows}


def _labeled(folder: Path, wnids: dict[str, str], classes: list[str], labels: Path, known: Path) -> FileListing:
    """List the images of val, with the class that `labels` has for each; `known` lists the classes."""
    if unknown := sorted(set(wnids.values()) - set(classes)):
        raise ValueError(
            f"{labels} name {shown(unknown[0], 40)}, which is no class in {known}; unpack the dataset again"
        )
    label = {name: position for position, name in enumerate(classes)}
    names = sorted(wnids)
    numbers = [label[wnids[name]] for name in names]
    return FileListing(names, numbers, tuple(classes), str(folder), files=[folder / name for name in names])


def _ground_truth(root: Path) -> dict[str, str]:
    """Give the WordNet number of each val image: line i has the ILSVRC number of image i."""
    folder = next((place for place in (root, root / _DEVKIT) if (place / _GROUND_TRUTH).is_file()), None)
    if folder is None or not (folder / "meta.mat").is_file():
        raise FileNotFoundError(
            f"the images of {root / 'val'} need labels: put {_GROUND_TRUTH} and meta.mat of the "
            f"development kit (ILSVRC2012_devkit_t12.tar.gz) into {root / _DEVKIT}, "
            "or the images into one folder a class"
        )
    truth, wnids = _numbers(folder / _GROUND_TRUTH), read_wnids(folder / "meta.mat")
    unknown = next((number for number in truth if number not in wnids), None)
    if unknown is not None:
        raise ValueError(
            f"{folder / _GROUND_TRUTH} has the class {unknown}, which meta.mat beside it does not list; unpack "
            "ILSVRC2012_devkit_t12.tar.gz again"
        )
    return {f"ILSVRC2012_val_{i:08d}.JPEG": wnids[number] for i, number in enumerate(truth, start=1)}


def _numbers(path: Path) -> list[int]:
    lines = read_lines(path)
    if bad := next((line for line in lines if not (line.isascii() and line.isdigit() and len(line) < 10)), None):
        raise ValueError(
            f"{path} has a line {bad[:40]!r}, where one class number per image is expected; unpack "
            "ILSVRC2012_devkit_t12.tar.gz again"
        )
    return [int(line) for line in lines]
