"""`open`: all images of a source in memory, for training."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from corel.images import _cache
from corel.images._datasets import DatasetListing, label_numbers
from corel.images._decoding import Decoded, decode_files, fingerprint
from corel.images._find import find
from corel.images._listing import FileListing, Listing, refuse
from corel.images._preparation import Preparation
from corel.images._set import ImageSet, Int64Array, Skipped

CACHE_FROM = 1000  # files; decoding fewer again takes hardly any time


def open(
    source: Any,
    split: str = "train",
    *,
    root: str | os.PathLike[str] | None = None,
    size: int = 32,
    strict: bool = False,
    progress: bool = True,
    preparation: Preparation | None = None,
) -> ImageSet:
    """Open images from almost anywhere as uint8 RGB of `size` × `size` pixels.

    Args:
        source: a known name (``cifar10``, ``cifar20``, ``cifar100``, ``tiny-imagenet``, ``imagenet``,
            ``fashion-mnist``, ``digits``); a folder of images, flat or one folder a class; an image,
            ``.npy`` or ``.npz`` file; a list of files, folders or globs; a Pillow image, encoded bytes or a file
            object; an array or tensor; a torch or Hugging Face dataset.
        split: ``train`` or ``test``; ``val`` is another word for ``test``.
        root: where known names are looked up; else ``$COREL_DATA``, else the user's cache folder.
        size: height and width that images are resized to (Pillow's bilinear filter, aspect ratio ignored).
        strict: raise on the first image that cannot be read, rather than skip and list it.
        progress: show a bar on a terminal.
        preparation: in place of `size`, how images are resized, such as a backbone's.

    Raises:
        FileNotFoundError: `source` is neither a known name that was found nor an existing path.
        ValueError: nothing in `source` could be read, or something could not and `strict` is set.

    Example:
        >>> import numpy as np, corel
        >>> gray = np.linspace(0, 1, 2 * 28 * 28).reshape(2, 28, 28)
        >>> corel.images.open(gray, size=32).pixels.shape
        (2, 32, 32, 3)

    """
    listing = find(source, split, root)
    decoded = _decoded(listing, preparation or Preparation(size), progress=progress)
    kept = [i for i in range(len(listing)) if i not in decoded.broken]
    labels = _labels(listing, decoded, kept)
    classes = listing.class_names(labels) if isinstance(listing, DatasetListing) else listing.classes
    skipped = [Skipped(listing.names[i], reason) for i, reason in sorted(decoded.broken.items())]
    skipped += [*listing.unread, *without_images(listing, labels)]
    refuse(skipped, len(kept), listing.source, strict=strict)
    pixels = decoded.pixels[kept] if decoded.broken else decoded.pixels
    return ImageSet(pixels, labels, classes, [listing.names[i] for i in kept], listing.source, tuple(skipped))


def without_images(listing: Listing, labels: Int64Array | None) -> list[Skipped]:
    """List the folders of classes that turned out to hold no image."""
    if labels is None or not isinstance(listing, FileListing):
        return []
    return listing.without_images({listing.classes[i] for i in set(labels.tolist())})


def _labels(listing: Listing, decoded: Decoded, kept: Sequence[int]) -> Int64Array | None:
    if decoded.labels is not None:
        return label_numbers([decoded.labels[i] for i in kept], listing.source)
    return None if listing.labels is None else np.asarray(listing.labels, np.int64)[kept]


def _decoded(listing: Listing, how: Preparation, *, progress: bool) -> Decoded:
    """Decode, or take from the cache if these very bytes were decoded before."""
    if not isinstance(listing, FileListing) or len(listing) < CACHE_FROM:
        return listing.decode(range(len(listing)), how, progress=progress)
    key = fingerprint(listing.files, how, progress=progress)
    found = _cache.load(key, len(listing), how.size) if key else None
    if found is None:
        found = decode_files(listing.files, how, progress=progress, keyed=True)
        _cache.store(found)
    return found
