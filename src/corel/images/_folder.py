"""A folder of images: flat, one folder a class, or either of these below train/ and test/ (or val/)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from corel.images._convert import SUFFIXES
from corel.images._files import Listing


def list_folder(root: Path, split: str) -> Listing:
    """List the images of `root`; where it has no test/ folder, train/ or else all of it is "train"."""
    train = root / "train"
    test = next((root / name for name in ("test", "val") if (root / name).is_dir()), None)
    if train.is_dir() and test:
        base, classes = train if split == "train" else test, sorted({*class_names(train), *class_names(test)})
    elif split == "train":
        base = train if class_names(root) == ["train"] else root
        classes = class_names(base)
    else:
        raise ValueError(f"{root} has no {split} split; put the images below {root}/train and {root}/{split}")
    return list_classes(base, classes) if classes else _list_flat(base)


def class_names(folder: Path) -> list[str]:
    """Give the names of the folders in `folder`, sorted, hidden ones left out."""
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def list_classes(folder: Path, classes: Sequence[str]) -> Listing:
    """List the images of one folder a class; a class without any keeps its number."""
    if loose := next(iter(images_in(folder, deep=False)), None):
        raise ValueError(
            f"{folder} holds images ({loose.name}) beside folders ({classes[0]}): is it flat, or one "
            "folder a class? Move the images into a folder, or the folders elsewhere"
        )
    files: list[Path] = []
    labels: list[int] = []
    for label, name in enumerate(classes):
        found = images_in(folder / name, deep=True)
        files += found
        labels += [label] * len(found)
    return Listing(files, _below(folder, files), labels, tuple(classes), _source(folder, files))


def images_in(folder: Path, *, deep: bool) -> list[Path]:
    """List the image files of `folder`, and if `deep` of the folders in it, sorted, hidden ones left out."""
    found: list[Path] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if deep and not name.startswith(".")]
        found += [Path(parent, name) for name in names if _is_image(name)]
    return sorted(found)


def _list_flat(folder: Path) -> Listing:
    files = images_in(folder, deep=False)
    return Listing(files, _below(folder, files), None, (), _source(folder, files))


def _source(folder: Path, files: Sequence[Path]) -> str:
    if not files:
        raise ValueError(f"there is no image in {folder}; files ending in {', '.join(SUFFIXES)} are read")
    return str(folder)


def _below(folder: Path, files: Sequence[Path]) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in files]


def _is_image(name: str) -> bool:
    return name.lower().endswith(SUFFIXES) and not name.startswith(".")
