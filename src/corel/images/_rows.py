"""Rows of features: an array, or the one .npy or .npz file that holds them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel._io.arrayfile import load_features
from corel.images._listing import FileListing
from corel.images._preparation import Rows
from corel.images._set import ImageSet


def read_rows(source: Any, preparation: Rows) -> NDArray[np.float32]:
    """Read rows ``[n, features]`` in float32, all finite."""
    if isinstance(source, ImageSet):
        raise ValueError(
            f"this gallery's backbone takes vectors of {preparation.features} features, not images "
            f"({source.source}); give the features of those images"
        )
    if isinstance(source, Iterator):
        source = list(source)
    rows = _loaded(source)
    with np.errstate(over="ignore"):  # what float32 cannot hold is named by its row
        values = np.asarray(rows.detach().cpu() if hasattr(rows, "detach") else rows, dtype=np.float32)
    preparation.check(values)
    return values


def _loaded(source: Any) -> Any:
    """Read the one file that is named, if any is."""
    if isinstance(source, FileListing):
        source = source.files
    named = source if isinstance(source, list | tuple) else [source]
    if not any(isinstance(each, str | os.PathLike) for each in named):
        return source
    if len(named) != 1 or Path(named[0]).suffix.lower() not in (".npy", ".npz"):
        raise ValueError("this gallery's backbone takes feature vectors: give one .npy or .npz file")
    return load_features(Path(named[0]).expanduser())
