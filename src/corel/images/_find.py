"""Decides what a source is, and lists what it holds."""

from __future__ import annotations

import difflib
import glob
import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from corel._errors import ArgumentError
from corel._io import arrayfile
from corel.images._arrays import list_array, list_array_file, one_or_many
from corel.images._convert import as_array
from corel.images._datasets import DatasetListing, list_dataset, own_name
from corel.images._folder import files_below, list_folder
from corel.images._folder import has_test_split as folder_has_test_split
from corel.images._formats import is_picture, suffixes, why_unread
from corel.images._labels import is_pair, numbered_labels
from corel.images._listing import ArrayListing, EncodedListing, FileListing, Listing, list_files
from corel.images._set import EmptySourceError, ImageSet, Skipped, only_train
from corel.images._user_folders import data_folder
from corel.images.known.digits import read_digits
from corel.images.known.registry import KNOWN, NAMES, locate, recognize

_SPLITS = {"train": "train", "test": "test", "val": "test", "validation": "test"}
_ARRAYS = (".npy", ".npz")


def find(source: Any, split: str, root: str | os.PathLike[str] | None, *, labeled: bool = False) -> Listing:
    """List what a source holds, without decoding it; with `labeled`, two arrays are images and their labels."""
    if split not in _SPLITS:
        raise ArgumentError("split", f"must be 'train' or 'test' ('val' is read as 'test'), got {split!r}")
    part = _SPLITS[split]
    if isinstance(source, str) and source in NAMES:
        return _find_known(source, part, data_folder(root))
    if isinstance(source, str | os.PathLike):
        return _find_path(source, part)
    if is_pair(source, labeled=labeled):
        only_train(part, "a pair of arrays")
        return _find_pair(*source)
    if isinstance(source, list | tuple) and all(isinstance(file, str | os.PathLike) for file in source):
        source = find_files(source)
    if isinstance(source, FileListing):
        only_train(part, "a list of files")
        is_array = len(source) == 1 and source.files[0].suffix.lower() in _ARRAYS
        return list_array_file(source.files[0], part) if is_array else source
    if isinstance(source, EncodedListing):
        only_train(part, source.source)
        return source
    if isinstance(source, ImageSet):
        only_train(part, source.source)
        return ArrayListing(source.names, source.labels, source.classes, source.source, images=source.pixels)
    if isinstance(source, Image.Image | bytes | bytearray | memoryview) or hasattr(source, "read"):
        only_train(part, "one image")
        return _find_image(source)
    array = as_array(source)
    if isinstance(array, np.ndarray):
        only_train(part, "an array")
        return list_array(one_or_many(array, "an array", tensor=array is not source))
    return list_dataset(source, part)


def has_test_split(source: Any) -> bool:
    """Whether a source has a test split of its own."""
    if isinstance(source, str) and source in NAMES:
        return True
    if isinstance(source, str | os.PathLike):
        path = Path(source).expanduser()
        if path.suffix.lower() in _ARRAYS and path.is_file():
            content = arrayfile.load(path)
            return isinstance(content, Mapping) and any("test" in name for name in content)
        return path.is_dir() and (recognize(path) is not None or folder_has_test_split(path))
    return isinstance(source, Mapping)


def find_files(arguments: Iterable[str | os.PathLike[str]], *, exist: bool = False) -> FileListing:
    """List the image files that files, folders and globs stand for; `open` and `stream` take the list as a source.

    A file that is missing is listed too, to be skipped with a reason when it is read; `exist` makes it an error.
    """
    files: list[Path] = []
    unread: list[Skipped] = []
    for argument in arguments:
        path = Path(argument).expanduser()
        matches = [path] if path.exists() else [Path(match) for match in sorted(_glob(path))]
        if exist and not matches:
            raise FileNotFoundError(f"there is no file, folder or match for {str(argument)!r}; {_hint(argument, ())}")
        for match in matches or [path]:
            found, others = files_below(match) if match.is_dir() else ([match], [])
            files += found
            unread += others
    if not files:
        raise EmptySourceError("the list of files is empty; name at least one")
    return list_files(files, tuple(unread))


def _glob(path: Path) -> list[str]:
    return glob.glob(str(path), recursive=True) if glob.has_magic(str(path)) else []  # noqa: PTH207 (may be absolute)


def _find_known(name: str, split: str, root: Path) -> Listing:
    if name == "digits":
        return read_digits(split)
    folder = locate(KNOWN[name], root)
    if folder is None:
        raise FileNotFoundError(
            f"{name} is not in {root}: run `corel data fetch {name} {root}`, or say with root (--data) or "
            "$COREL_DATA where it is"
        )
    return KNOWN[name].read(folder, split)


def _find_path(source: str | os.PathLike[str], split: str) -> Listing:
    path = Path(source).expanduser()
    if path.is_dir():
        known = recognize(path)
        return known.read(path, split) if known else list_folder(path, split)
    if not path.exists() and not _glob(path):
        raise FileNotFoundError(f"there is no file or folder {str(source)!r}; {_hint(source, NAMES)}")
    if path.suffix.lower() in _ARRAYS:
        return list_array_file(path, split)
    if path.suffix.lower() not in suffixes() and path.exists():
        if is_picture(path):
            raise ValueError(f"{path} {why_unread(path)}")
        raise ValueError(f"{path} is no image ({', '.join(suffixes())}), .npy or .npz file")
    only_train(split, "a list of files")
    return find_files([path])


def _find_pair(items: Any, labels: Any) -> ArrayListing:
    """Images in an array, and a label of any kind for each."""
    listing = list_array(np.asarray(as_array(items)))
    found = numbered_labels(labels, len(listing))
    return replace(listing, labels=found.numbers, classes=found.classes)


def _find_image(image: Any) -> DatasetListing:
    """One image, named after its file if it knows one."""
    return DatasetListing([own_name(image) or "image"], None, (), "one image", dataset=[image])


def _hint(source: str | os.PathLike[str], names: Collection[str]) -> str:
    if re.match("[a-z][a-z0-9+]+:/", str(source)):  # a Path joins the two slashes
        return "URLs are not read: download it, and name the file"
    if not (names and isinstance(source, str)) or Path(source).suffix or len(Path(source).parts) > 1:
        return "check the path"  # it is a path, not a name
    near = difflib.get_close_matches(source, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"check the path; known names are {', '.join(names)}"
