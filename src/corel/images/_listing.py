"""What a source holds, found but not decoded; `open` decodes all of it, `stream` a batch at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel._errors import ArgumentError
from corel._terminal import counted, track
from corel.images._convert import from_array
from corel.images._decoding import Decoded, decode_files
from corel.images._preparation import Preparation
from corel.images._set import EmptySourceError, Skipped, UInt8Array, check_labels


@dataclass(frozen=True, eq=False)
class Listing(ABC):
    """Images about to be decoded.

    Attributes:
        names: a name for each.
        labels: for each its position in `classes`; None where there are none, or none before decoding.
        classes: the names of the classes.
        source: what was found, in words.
        unread: pictures that lie among them and are not read, and why.

    """

    names: Sequence[str]
    labels: Sequence[int] | NDArray[np.int64] | None
    classes: tuple[str, ...]
    source: str
    unread: tuple[Skipped, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.labels is not None:
            check_labels(np.asarray(self.labels), len(self), len(self.classes), self.source)

    def __len__(self) -> int:
        return len(self.names)

    @abstractmethod
    def decode(self, rows: range, preparation: Preparation, *, progress: bool = False) -> Decoded:
        """Decode the images at `rows`."""


@dataclass(frozen=True, eq=False)
class FileListing(Listing):
    """Image files.

    Attributes:
        files: their paths.
        elsewhere: classes that need no image here, because only the test split has them.

    """

    files: Sequence[Path] = field(kw_only=True)
    elsewhere: frozenset[str] = field(default=frozenset(), kw_only=True)

    def without_images(self, seen: Collection[str]) -> list[Skipped]:
        """List the classes that should have images here, but of which none was seen."""
        missing = [name for name in self.classes if name not in seen and name not in self.elsewhere]
        return [Skipped(name, "is a class without any image") for name in missing]

    def decode(self, rows: range, preparation: Preparation, *, progress: bool = False) -> Decoded:
        """Read and decode files in parallel."""
        return decode_files([self.files[i] for i in rows], preparation, progress=progress)


@dataclass(frozen=True, eq=False)
class ArrayListing(Listing):
    """Images that are one array already, ``[n, h, w]``, ``[n, h, w, 1|3|4]`` or ``[n, 1|3|4, h, w]``."""

    images: NDArray[Any] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = list(self.images.shape)
        if self.images.ndim not in (3, 4):
            hint = "; give one gray image as image[None]; vectors need a backbone on vectors" if len(shape) == 2 else ""
            forms = "[n, h, w], [n, h, w, 1|3|4] or [n, 1|3|4, h, w]"
            raise ArgumentError("source", f"must have the shape {forms}, got {self.source} of shape {shape}{hint}")
        if self.images.ndim == 3 and self.images.shape[-1] in (3, 4):
            raise ArgumentError("source", f"has the shape {shape} of one color image; give it as image[None]")

    def decode(self, rows: range, preparation: Preparation, *, progress: bool = False) -> Decoded:
        """Convert to uint8 RGB of one size; what has that form already is not copied."""
        try:
            pixels = resize_all(self.images[rows.start : rows.stop], preparation, progress=progress)
        except ValueError as error:
            raise ArgumentError("source", f"cannot be read as images: {error}") from error
        return Decoded(pixels, {}, None)


@dataclass(frozen=True, eq=False)
class EncodedListing(Listing):
    """Images as encoded bytes, or as something that `read` gets the bytes from: a part of a larger source.

    Because it is a part, it may hold no image that can be read: a stream then gives only what was skipped.

    Attributes:
        items: for each image its bytes, or what `read` takes.
        read: gives an item's bytes; it may raise OSError.
        threads: how many items are read at a time; default: one a core.

    """

    items: Sequence[Any] = field(kw_only=True)
    read: Callable[[Any], bytes] = field(default=bytes, kw_only=True)
    threads: int | None = field(default=None, kw_only=True)

    def decode(self, rows: range, preparation: Preparation, *, progress: bool = False) -> Decoded:
        """Read and decode items in parallel."""
        some = [self.items[i] for i in rows]
        return decode_files(some, preparation, progress=progress, read=self.read, threads=self.threads)


def resize_all(images: NDArray[Any], preparation: Preparation, *, progress: bool = False) -> UInt8Array:
    """Convert images of any size and type to uint8 ``[n, size, size, 3]``."""
    size = preparation.size
    if images.dtype == np.uint8 and images.shape[1:] == (size, size, 3):
        return images
    pixels = np.empty((len(images), size, size, 3), np.uint8)
    for i in track(range(len(images)), "resizing", quiet=not progress):
        pixels[i] = from_array(images[i], preparation)
    return pixels


def list_files(files: Sequence[Path], unread: tuple[Skipped, ...] = ()) -> FileListing:
    """List files named one by one; they have no labels."""
    source = f"a list of {counted(len(files), 'file')}"
    return FileListing([str(file) for file in files], None, (), source, files=files, unread=unread)


def refuse(skipped: Sequence[Skipped], kept: int, source: str, *, strict: bool) -> None:
    """Raise if nothing is left of `source`, or if `strict` and anything was skipped."""
    if not kept:
        count = f"the first of {len(skipped)}: " if len(skipped) > 1 else ""
        first = f"; {count}{skipped[0].path} {skipped[0].reason}" if skipped else ""
        raise EmptySourceError(f"no image could be read from {source}{first}")
    if strict and skipped:
        raise ArgumentError(
            "strict",
            f"forbids skipping, but {len(skipped)} of {source} cannot be used, the first: "
            f"{skipped[0].path} {skipped[0].reason}; repair or remove it, or leave this option out",
        )
