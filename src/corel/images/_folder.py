"""A folder of images: flat, one folder a class, or either of these below train/ and test/ (or val/)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from corel._errors import ArgumentError
from corel._terminal import counted
from corel.images._formats import is_picture, suffixes, why_unread
from corel.images._listing import FileListing
from corel.images._set import EmptySourceError, Skipped


def list_folder(root: Path, split: str) -> FileListing:
    """List the images of `root`; where it has no test/ folder, train/ or else all of it is "train"."""
    train = root / "train"
    test = next((root / name for name in ("test", "val") if (root / name).is_dir()), None)
    if train.is_dir() and test:
        base, classes = train if split == "train" else test, sorted({*class_names(train), *class_names(test)})
        if split == "train" and classes:  # classes that only the test split has are allowed, such as defects
            return replace(list_classes(train, classes), elsewhere=frozenset(classes) - {*class_names(train)})
    elif split == "train":
        base = train if class_names(root) == ["train"] else root
        classes = class_names(base)
    else:
        raise ArgumentError(
            "split",
            f"is {split!r}, but {root} has no such folder; put the images below {root}/train and {root}/{split}",
        )
    return list_classes(base, classes) if classes else _list_flat(base)


def has_test_split(root: Path) -> bool:
    """Whether a folder holds train/ and test/ (or val/)."""
    return (root / "train").is_dir() and any((root / name).is_dir() for name in ("test", "val"))


def class_names(folder: Path) -> list[str]:
    """Give the names of the folders in `folder`, sorted, hidden ones left out."""
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def list_classes(folder: Path, classes: Sequence[str]) -> FileListing:
    """List the images of one folder a class; a class without any keeps its number."""
    if loose := next(iter(images_in(folder, deep=False)), None):
        raise ValueError(
            f"{folder} holds images ({loose.name}) beside folders ({classes[0]}): is it flat, or one "
            "folder a class? Move the images into a folder, or the folders elsewhere"
        )
    files: list[Path] = []
    labels: list[int] = []
    unread: list[Skipped] = []
    for label, name in enumerate(classes):
        found, others = pictures_in(folder / name, deep=True)
        files += found
        labels += [label] * len(found)
        unread += _skipped(others, _below(folder, others))
    return _listing(folder, files, labels, tuple(classes), unread)


def images_in(folder: Path, *, deep: bool) -> list[Path]:
    """List the image files of `folder` that are read."""
    return pictures_in(folder, deep=deep)[0]


def pictures_in(folder: Path, *, deep: bool) -> tuple[list[Path], list[Path]]:
    """List the images of `folder`, and if `deep` of the folders in it: those that are read, and those that are not.

    Both are sorted, hidden files left out.
    """
    found: list[Path] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if deep and not name.startswith(".")]
        found += [Path(parent, name) for name in names if not name.startswith(".")]
    pictures = sorted(filter(is_picture, found))
    readable = [path for path in pictures if path.suffix.lower() in suffixes()]
    return readable, [path for path in pictures if path.suffix.lower() not in suffixes()]


def files_below(folder: Path) -> tuple[list[Path], list[Skipped]]:
    """List all images of `folder` by their whole paths, and the pictures in it that are not read."""
    files, others = pictures_in(folder, deep=True)
    _check_any(folder, files, others)
    return files, _skipped(others, map(str, others))


def _list_flat(folder: Path) -> FileListing:
    files, others = pictures_in(folder, deep=False)
    return _listing(folder, files, None, (), _skipped(others, _below(folder, others)))


def _listing(
    folder: Path, files: Sequence[Path], labels: list[int] | None, classes: tuple[str, ...], unread: list[Skipped]
) -> FileListing:
    _check_any(folder, files, unread)
    return FileListing(_below(folder, files), labels, classes, str(folder), files=files, unread=tuple(unread))


def _skipped(files: Iterable[Path], names: Iterable[str]) -> list[Skipped]:
    return [Skipped(name, why_unread(file)) for file, name in zip(files, names, strict=True)]


def _check_any(folder: Path, files: Sequence[Path], unread: Sequence[object]) -> None:
    if not files:
        others = f"; {counted(len(unread), 'other picture')} in it cannot be read" if unread else ""
        raise EmptySourceError(
            f"there is no image in {folder}; files ending in {', '.join(suffixes())} are read{others}"
        )


def _below(folder: Path, files: Sequence[Path]) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in files]
