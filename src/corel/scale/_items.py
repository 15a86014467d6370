"""Columns of a batch → items to score: encoded images, files by their address, vectors, or latents."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corel._errors import ArgumentError
from corel.images import EncodedListing
from corel.scale import _place

LATENT, VECTOR, BYTES, IMAGE, PATH, NAME = "latent", "vector", "bytes", "image", "path", "name"
READ = (LATENT, VECTOR, BYTES, IMAGE, PATH, NAME)
READERS = 16  # objects fetched from a store at a time: a fetch mostly waits


class Rows(NamedTuple):
    """Rows that can be scored, where each stood in the batch, and what is wrong with the others."""

    values: NDArray[np.float32]
    places: Sequence[int]
    broken: dict[int, str]


def columns_of(batch: Any) -> dict[str, Sequence[Any]]:
    """Give the columns of a batch as Ray Data has them: a mapping of arrays, an Arrow table or a DataFrame."""
    if hasattr(batch, "column_names"):
        return {name: batch.column(name).to_pylist() for name in batch.column_names}
    names = list(batch) if isinstance(batch, Mapping) else list(batch.columns)
    if not set(names) & set(READ[:-1]):
        wanted = ", ".join(READ[:-1])
        raise ArgumentError("batch", f"must have one of the columns {wanted}, got {', '.join(names) or 'none'}")
    return {name: batch[name] for name in names}


def names_of(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Name the items: by the column `name`, by their path, else by their number in the batch."""
    for key in (NAME, PATH):
        if key in columns:
            return [str(each) for each in columns[key]]
    held = next(columns[key] for key in READ if key in columns)
    inner = [each.get("path") if isinstance(each, Mapping) else None for each in held]
    return [str(each) if each else f"row {i}" for i, each in enumerate(inner)]


def encoded(columns: Mapping[str, Sequence[Any]], folder: str) -> EncodedListing:
    """List the images of a batch; their names are their numbers in it. Relative paths begin at `folder`."""
    if BYTES in columns or IMAGE in columns:
        items: list[Any] = list(columns[BYTES] if BYTES in columns else columns[IMAGE])
        reader: Callable[[Any], bytes] = _content
        remote = False
    else:
        items = [str(each) for each in columns[PATH]]
        reader, remote = _reader(folder), any(map(_place.is_remote, items))
    numbers = list(map(str, range(len(items))))
    threads = READERS if remote else None
    return EncodedListing(numbers, None, (), "a batch", items=items, read=reader, threads=threads)


def _content(item: Any) -> bytes:
    """Give the bytes of an image as columns hold them; Hugging Face's are beside a path."""
    data = item.get("bytes") if isinstance(item, Mapping) else item
    if not isinstance(data, bytes | bytearray | memoryview):
        raise OSError(f"no bytes but {type(data).__name__}")
    return bytes(data)


def _reader(folder: str) -> Callable[[str], bytes]:
    return lambda address: _place.read(address if _place.is_remote(address) else os.fspath(Path(folder, address)))


def rows_in(column: Sequence[Any], width: int) -> Rows:
    """Take the rows of `width` finite numbers, and say what is wrong with each of the others."""
    values, places, broken = [], [], {}
    for place, row in enumerate(column):
        given = np.asarray([] if row is None else row, dtype=np.float32).reshape(-1)
        if len(given) != width:
            broken[place] = f"has {len(given)} numbers, not {width}"
        elif not np.isfinite(given).all():
            broken[place] = "has numbers that are not finite"
        else:
            values.append(given)
            places.append(place)
    return Rows(np.stack(values) if values else np.empty((0, width), np.float32), places, broken)
