"""Numbers in .npy and .npz files, read without running code."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LABELLED = ("train_features", "train_labels", "test_features", "test_labels")


def load(path: Path) -> NDArray[Any] | dict[str, NDArray[Any]]:
    """Read the array of an .npy file, or all entries of an .npz file by their names."""
    with path.open("rb") as file:
        try:
            content = np.load(file, allow_pickle=False)
            return content if isinstance(content, np.ndarray) else {name: content[name] for name in content.files}
        except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
            if "pickle" in str(error):  # numpy's own words recommend to allow it
                raise ValueError(
                    f"{path} is damaged, no numpy file, or needs a pickle, which is not read since it could run code; "
                    f"save arrays of numbers with numpy.save or numpy.savez"
                ) from error
            raise ValueError(f"{path} is damaged or no numpy file: {error}") from error


def load_features(path: Path) -> NDArray[Any]:
    """Read an .npy file, or of an .npz file the entry ``features``, else its only one."""
    content = load(path)
    if isinstance(content, np.ndarray):
        return content
    if "features" not in content and len(content) != 1:
        raise ValueError(f"{path} holds {', '.join(content) or 'nothing'}; name the array of features 'features'")
    return content.get("features", next(iter(content.values())))


def load_labelled(path: Path) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Read train and test of an .npz file, each as features and their labels."""
    wanted = f"labelled vectors come in an .npz file with {', '.join(LABELLED)}"
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; {wanted}")
    content = load(path)
    held = {} if isinstance(content, np.ndarray) else content
    if not set(LABELLED) <= set(held):
        raise ValueError(f"{path} holds {', '.join(held) or 'no named array'}; {wanted}")
    return [(held[f"{split}_features"], held[f"{split}_labels"]) for split in ("train", "test")]
