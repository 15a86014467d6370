"""`open`: decides what a source is and hands it to its reader."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

import numpy as np

from corel.images._arrays import read_array, read_array_file
from corel.images._convert import SUFFIXES
from corel.images._datasets import as_array, read_dataset
from corel.images._files import list_files, read
from corel.images._folder import list_folder
from corel.images._places import data_folder
from corel.images._set import ImageSet, Manner, only_train
from corel.images.known.digits import read_digits
from corel.images.known.registry import KNOWN, NAMES, locate, recognise

_SPLITS = {"train": "train", "test": "test", "val": "test", "validation": "test"}


def open(
    source: Any,
    split: str = "train",
    *,
    root: str | os.PathLike[str] | None = None,
    size: int = 32,
    strict: bool = False,
    progress: bool = True,
) -> ImageSet:
    """Open images from almost anywhere as uint8 RGB of `size` × `size` pixels.

    Args:
        source: a known name (``cifar10``, ``cifar20``, ``cifar100``, ``tiny-imagenet``, ``imagenet``,
            ``fashion-mnist``, ``digits``); a folder of images, flat or one folder a class; an image,
            ``.npy`` or ``.npz`` file; a list of image files; an array or tensor; a torch or
            Hugging Face dataset.
        split: ``train`` or ``test``; ``val`` is another word for ``test``.
        root: where known names are looked up; else ``$COREL_DATA``, else the user's cache folder.
        size: height and width that images are resized to (Pillow's bilinear filter, aspect ratio ignored).
        strict: raise on the first image that cannot be read, rather than skip and list it.
        progress: show a bar on a terminal.

    Raises:
        FileNotFoundError: `source` is neither a known name that was found nor an existing path.
        ValueError: nothing in `source` could be read, or something could not and `strict` is set.

    Example:
        >>> import numpy as np, corel
        >>> grey = np.linspace(0, 1, 2 * 28 * 28).reshape(2, 28, 28)
        >>> corel.images.open(grey, size=32).pixels.shape
        (2, 32, 32, 3)

    """
    if split not in _SPLITS:
        raise ValueError(f"split must be 'train' or 'test' ('val' is read as 'test'), got {split!r}")
    if size < 1:
        raise ValueError(f"size must be a positive number of pixels, got {size!r}")
    part, manner = _SPLITS[split], Manner(size, strict, progress)
    if isinstance(source, str) and source in NAMES:
        return _open_known(source, part, data_folder(root), manner)
    if isinstance(source, str | os.PathLike):
        return _open_path(source, part, manner)
    if isinstance(source, list | tuple) and all(isinstance(file, str | os.PathLike) for file in source):
        return _open_files([Path(file).expanduser() for file in source], part, manner)
    array = as_array(source)
    if isinstance(array, np.ndarray):
        only_train(part, "an array")
        return read_array(array, manner)
    return read_dataset(source, part, manner)


def _open_known(name: str, split: str, root: Path, manner: Manner) -> ImageSet:
    if name == "digits":
        return read_digits(split, manner)
    folder = locate(KNOWN[name], root)
    if folder is None:
        raise FileNotFoundError(
            f"{name} is not in {root}: run `corel data fetch {name} {root}`, or say with root (--data) or "
            "$COREL_DATA where it is"
        )
    return KNOWN[name].read(folder, split, manner)


def _open_path(source: str | os.PathLike[str], split: str, manner: Manner) -> ImageSet:
    path = Path(source).expanduser()
    if path.is_dir():
        known = recognise(path)
        return known.read(path, split, manner) if known else read(list_folder(path, split), manner)
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}; {_hint(source)}")
    if path.suffix.lower() in (".npy", ".npz"):
        return read_array_file(path, split, manner)
    if path.suffix.lower() in SUFFIXES:
        return _open_files([path], split, manner)
    raise ValueError(f"{path} is no image ({', '.join(SUFFIXES)}), .npy or .npz file")


def _hint(source: str | os.PathLike[str]) -> str:
    if not isinstance(source, str) or Path(source).suffix or len(Path(source).parts) > 1:  # a path, not a name
        return "check the path"
    near = difflib.get_close_matches(source, NAMES, n=1)
    return f"did you mean {near[0]!r}?" if near else f"check the path; known names are {', '.join(NAMES)}"


def _open_files(files: list[Path], split: str, manner: Manner) -> ImageSet:
    if not files:
        raise ValueError("the list of files is empty")
    only_train(split, "a list of files")
    return read(list_files(files), manner)
