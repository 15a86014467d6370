"""`open`: decides what a source is and hands it to its reader."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

from corel.images._convert import SUFFIXES
from corel.images._digits import read_digits
from corel.images._files import list_files, read
from corel.images._folder import list_folder
from corel.images._known import KNOWN, locate, recognise
from corel.images._places import data_folder
from corel.images._set import ImageSet

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
            ``.npy`` or ``.npz`` file; a list of image files; an array or tensor; a torch or Hugging Face dataset.
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
    part = _SPLITS[split]
    if isinstance(source, str) and source in KNOWN:
        return _open_known(source, part, root, size, strict, progress)
    if isinstance(source, str | os.PathLike):
        return _open_path(Path(source).expanduser(), part, size, strict, progress)
    files = [Path(file).expanduser() for file in source]
    return read(list_files(files), size, strict=strict, progress=progress)


def _open_known(
    name: str, split: str, root: str | os.PathLike[str] | None, size: int, strict: bool, progress: bool
) -> ImageSet:
    if name == "digits":
        return read_digits(split, size)
    folder = locate(KNOWN[name], data_folder(root))
    if folder is None:
        raise FileNotFoundError(
            f"{name} is not in {data_folder(root)}: run `corel data fetch {name} {data_folder(root)}`, "
            "or say with root (--data) or $COREL_DATA where it is"
        )
    return KNOWN[name].read(folder, split, size, strict, progress)


def _open_path(path: Path, split: str, size: int, strict: bool, progress: bool) -> ImageSet:
    if path.is_dir():
        if known := recognise(path):
            return known.read(path, split, size, strict, progress)
        return read(list_folder(path, split), size, strict=strict, progress=progress)
    if not path.exists():
        near = difflib.get_close_matches(str(path), KNOWN, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; known names are {', '.join(KNOWN)}"
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}{hint}")
    if path.suffix.lower() in SUFFIXES:
        return read(list_files([path]), size, strict=strict, progress=progress)
    raise ValueError(f"{path} is no image ({', '.join(SUFFIXES)}), .npy or .npz file")
