"""`stream`: reads any source batch by batch, ready for an encoder.

Two batches are in memory at once, whatever the number of files: the one in use, and the one being decoded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from corel._errors import ArgumentError
from corel._terminal import progress_bar
from corel.images._ahead import one_ahead
from corel.images._datasets import DatasetListing, label_numbers, list_images
from corel.images._find import find
from corel.images._listing import EncodedListing, FileListing, Listing, list_files, refuse
from corel.images._preparation import Preparation, Rows
from corel.images._rows import RowSet, read_rows
from corel.images._set import EmptySourceError, Skipped

Item = TypeVar("Item")
ITERATOR = "the files named"  # in sentences
# Enough images to keep the encoder busy, few enough that results appear while one watches.
BATCH = 256
LARGE = 96  # pixels a side; encoders of larger images take long for each


@dataclass(frozen=True, eq=False)
class Batch:
    """Some items of a stream, decoded.

    Attributes:
        values: uint8 ``[n, size, size, 3]``, or float32 rows ``[n, features]``; n may be 0.
        names: a name for each.
        labels: the name of each one's class; None where the source has no labels.
        skipped: what was met on the way here and gave no item, and why.

    """

    values: NDArray[Any]
    names: Sequence[str]
    labels: Sequence[str] | None = None
    skipped: tuple[Skipped, ...] = ()

    def __len__(self) -> int:
        return len(self.values)


class Stream:
    """Batches of a source's items, to iterate over once.

    Attributes:
        source: what is read, in words.
        total: how many items there are; None if that is not known in advance.
        classes: the names of the classes; empty where there are none, or where labels are numbers.

    """

    def __init__(
        self,
        batches: Iterator[Batch],
        source: str,
        total: int | None,
        description: str | None = None,
        classes: tuple[str, ...] = (),
    ) -> None:
        self.source, self.total, self.classes = source, total, classes
        self._batches, self._description = batches, description

    def __iter__(self) -> Iterator[Batch]:
        quiet = self._description is None
        with progress_bar(self._description or "", self.total, quiet=quiet) as advance:
            for batch in one_ahead(self._batches):
                yield batch
                advance(len(batch) + len(batch.skipped))


def stream(
    source: Any,
    preparation: Preparation | Rows,
    *,
    split: str = "train",
    root: str | os.PathLike[str] | None = None,
    batch_size: int | None = None,
    labeled: bool = False,
    strict: bool = False,
    progress: bool = False,
    description: str = "reading",
) -> Stream:
    """Read a source batch by batch, ready for an encoder.

    Args:
        source: whatever `open` takes, and an iterator of paths or images, with a `Skipped` for what is not to be read;
            for `Rows`, an array of rows, a pair (rows, labels), or an .npy or .npz file.
        preparation: how an item becomes the encoder's input, such as `Backbone.preparation`.
        split: ``train`` or ``test``.
        root: where known names are looked up.
        batch_size: items a batch; default: 256, and 64 for images of more than 96 pixels a side.
        labeled: raise where items have no labels; an .npz file of rows is then read as ``train_features``,
            ``train_labels``, ``test_features`` and ``test_labels``.
        strict: raise on the first item that cannot be read, rather than skip and list it.
        progress: show a bar on a terminal.
        description: what the bar says.

    Example:
        >>> import corel
        >>> batches = corel.images.stream("digits", corel.images.Preparation(size=32), batch_size=500)
        >>> [batch.values.shape for batch in batches]
        [(500, 32, 32, 3), (399, 32, 32, 3)]

    """
    batch_size = _usual_size(preparation) if batch_size is None else batch_size
    if batch_size < 1:
        raise ArgumentError("batch_size", f"must be at least 1, got {batch_size}")
    shown = description if progress else None
    if isinstance(preparation, Rows):
        rows = read_rows(source, preparation, split, labeled=labeled)
        _need_labels(rows.labels is not None or not labeled, rows.source)
        if not len(rows.values):
            raise EmptySourceError(f"{rows.source} has no rows; give at least one")
        classes = () if rows.labels is None else rows.labels.classes
        return Stream(_row_batches(rows, batch_size), rows.source, len(rows.values), shown, classes)
    if isinstance(source, Iterator) and not hasattr(source, "read"):
        chunks = enumerate(_chunks(source, batch_size))
        read = (_next_batch(part, i * batch_size, preparation, strict=strict) for i, part in chunks)
        return Stream(_checked(read, ITERATOR), ITERATOR, None, shown)
    listing = find(source, split, root, labeled=labeled)
    if strict and listing.unread:
        refuse(listing.unread, 1, listing.source, strict=True)
    _need_labels(listing.labels is not None or isinstance(listing, DatasetListing) or not labeled, listing.source)
    batches = _batches(listing, preparation, batch_size, strict=strict)
    if labeled:
        batches = _all_labeled(batches, listing.source)
    if not isinstance(listing, EncodedListing):
        batches = _checked(batches, listing.source)
    return Stream(batches, listing.source, len(listing), shown, listing.classes)


def _usual_size(preparation: Preparation | Rows) -> int:
    large = isinstance(preparation, Preparation) and preparation.size > LARGE
    return BATCH // 4 if large else BATCH


def _all_labeled(batches: Iterator[Batch], source: str) -> Iterator[Batch]:
    for batch in batches:
        _need_labels(batch.labels is not None or not len(batch), source)  # a dataset's labels come with its items
        yield batch


def _need_labels(present: bool, source: str) -> None:
    if not present:
        raise ArgumentError(
            "source",
            f"must have labels, but {source} has none; give a dataset, a folder with one folder a class, or a pair "
            "(items, labels)",
        )


def _checked(batches: Iterator[Batch], source: str) -> Iterator[Batch]:
    """Pass batches on; at the end, refuse a source that gave nothing."""
    read = 0
    skipped: list[Skipped] = []
    for batch in batches:
        read += len(batch)
        skipped += batch.skipped[:2] if not read else ()
        yield batch
    if not read and not skipped:
        raise EmptySourceError("no image was named; give at least one path")
    refuse(skipped, read, source, strict=False)


def _batches(listing: Listing, preparation: Preparation, batch_size: int, *, strict: bool) -> Iterator[Batch]:
    seen: set[str] = set()
    for start in range(0, len(listing), batch_size):
        rows = range(start, min(start + batch_size, len(listing)))
        batch = _batch(listing, rows, preparation, strict=strict)
        seen.update(batch.labels or ())
        yield batch
    last = (*listing.unread, *(listing.without_images(seen) if isinstance(listing, FileListing) else ()))
    if last:
        refuse(last, 1, listing.source, strict=strict)
        yield Batch(np.empty((0, preparation.size, preparation.size, 3), np.uint8), [], None, last)


def _batch(listing: Listing, rows: range, preparation: Preparation, *, strict: bool) -> Batch:
    decoded = listing.decode(rows, preparation)
    kept = [i for i in range(len(rows)) if i not in decoded.broken]
    skipped = tuple(Skipped(listing.names[rows[i]], reason) for i, reason in sorted(decoded.broken.items()))
    refuse(skipped, 1, listing.source, strict=strict)
    if decoded.labels is not None:
        numbers: Any = label_numbers([decoded.labels[i] for i in kept], listing.source)
    else:
        numbers = None if listing.labels is None else [listing.labels[rows[i]] for i in kept]
    labels = None if numbers is None else [listing.classes[i] if listing.classes else str(i) for i in numbers]
    values = decoded.pixels[kept] if decoded.broken else decoded.pixels
    return Batch(values, [listing.names[rows[i]] for i in kept], labels, skipped)


def _next_batch(part: list[Any], first: int, preparation: Preparation, *, strict: bool) -> Batch:
    """Read files or images that come one by one, from number `first` on; a `Skipped` among them is passed on."""
    unread = tuple(each for each in part if isinstance(each, Skipped))
    items = [each for each in part if not isinstance(each, Skipped)]
    refuse(unread, 1, ITERATOR, strict=strict)
    if all(isinstance(each, str | os.PathLike) for each in items):
        listing: Listing = list_files([Path(each).expanduser() for each in items])
    else:
        listing = list_images(items, first=first)
    batch = _batch(listing, range(len(listing)), preparation, strict=strict)
    return replace(batch, skipped=(*batch.skipped, *unread))


def _row_batches(rows: RowSet, batch_size: int) -> Iterator[Batch]:
    for start in range(0, len(rows.values), batch_size):
        some = range(start, min(start + batch_size, len(rows.values)))
        labels = None if rows.labels is None else [rows.labels.classes[rows.labels.numbers[i]] for i in some]
        yield Batch(rows.values[start : some.stop], [f"row {i}" for i in some], labels)


def _chunks(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while chunk := list(islice(items, size)):
        yield chunk
