"""Rows of features: an array, a pair of arrays, or the one .npy or .npz file that holds them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corel._errors import ALL_ZERO, ArgumentError, ArgumentTypeError, refuse_rows
from corel._io.arrayfile import load_features, load_labeled
from corel.images._convert import as_array
from corel.images._labels import Labels, is_pair, numbered_labels
from corel.images._listing import FileListing
from corel.images._preparation import Rows
from corel.images._set import ImageSet


class RowSet(NamedTuple):
    """Rows ``[n, features]`` in float32, all finite, their labels if there are any, and what was read, in words."""

    values: NDArray[np.float32]
    labels: Labels | None
    source: str


def read_rows(source: Any, preparation: Rows, split: str, *, labeled: bool) -> RowSet:
    """Read rows of features; if `labeled`, a file must hold labels beside them."""
    if isinstance(source, ImageSet):
        raise ArgumentError(
            "source",
            f"must be vectors of {preparation.features} features for this backbone, got images ({source.source}); "
            "give the features of those images",
        )
    named = "an array"
    if labeled and isinstance(source, str | os.PathLike):
        named, source = str(source), load_labeled(Path(source).expanduser(), split)
    if not is_pair(source, labeled=labeled):
        return RowSet(_checked(_loaded(source), preparation), None, named)
    rows, labels = as_array(source[0]), source[1]
    if not np.issubdtype(rows.dtype, np.floating):
        raise ArgumentTypeError("source", f"must be floating point, got {rows.dtype}; use astype('float32')")
    values = _checked(rows, preparation)
    return RowSet(values, numbered_labels(labels, len(values)), named)


def _checked(rows: Any, preparation: Rows) -> NDArray[np.float32]:
    given = np.asarray(as_array(rows))
    with np.errstate(over="ignore"):  # what float32 cannot hold is named by its row
        values = np.asarray(given, dtype=np.float32)
    preparation.check(values)
    refuse_rows("source", np.flatnonzero(given.any(axis=1) & ~values.any(axis=1)).tolist(), ALL_ZERO)
    return values


def _loaded(source: Any) -> Any:
    """Read the one file that is named, if any is."""
    if isinstance(source, Iterator):
        source = list(source)
    if isinstance(source, FileListing):
        source = source.files
    named = source if isinstance(source, list | tuple) else [source]
    if not any(isinstance(each, str | os.PathLike) for each in named):
        return source
    if len(named) != 1 or Path(named[0]).suffix.lower() not in (".npy", ".npz"):
        raise ArgumentError("source", "must be one .npy or .npz file for this backbone, which takes feature vectors")
    return load_features(Path(named[0]).expanduser())
