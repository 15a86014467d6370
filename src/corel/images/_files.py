"""A list of image files → an `ImageSet`, from the cache if these very bytes were decoded before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corel._terminal import counted
from corel.images import _cache
from corel.images._decoding import Decoded, decode_files, fingerprint
from corel.images._set import ImageSet, Manner, Skipped

CACHE_FROM = 1000  # files; fewer are decoded again faster than anybody notices


@dataclass(frozen=True)
class Listing:
    """Image files about to be read; `labels` is None where there are none."""

    files: Sequence[Path]
    names: Sequence[str]
    labels: Sequence[int] | None
    classes: tuple[str, ...]
    source: str


def read(listing: Listing, manner: Manner) -> ImageSet:
    """Decode all files of `listing`; with `strict` a single broken one is an error."""
    decoded = _decoded(listing.files, manner)
    kept = [i for i in range(len(listing.files)) if i not in decoded.broken]
    labels = None if listing.labels is None else np.array([listing.labels[i] for i in kept], np.int64)
    skipped = [Skipped(listing.names[i], reason) for i, reason in sorted(decoded.broken.items())]
    if labels is not None:
        absent = sorted(set(range(len(listing.classes))) - set(labels.tolist()))
        skipped += [Skipped(listing.classes[i], "is a class without any image") for i in absent]
    refuse(skipped, len(kept), listing.source, strict=manner.strict)
    return ImageSet(
        pixels=decoded.pixels[kept] if decoded.broken else decoded.pixels,
        labels=labels,
        classes=listing.classes,
        names=[listing.names[i] for i in kept],
        source=listing.source,
        skipped=tuple(skipped),
    )


def list_files(files: Sequence[Path]) -> Listing:
    """List files named one by one; they have no labels."""
    return Listing(files, [str(file) for file in files], None, (), f"a list of {counted(len(files), 'file')}")


def refuse(skipped: Sequence[Skipped], kept: int, source: str, *, strict: bool) -> None:
    """Raise if nothing is left of `source`, or if `strict` and anything was skipped."""
    if not kept:
        count = f"the first of {len(skipped)}: " if len(skipped) > 1 else ""
        first = f"; {count}{skipped[0].path} {skipped[0].reason}" if skipped else ""
        raise ValueError(f"no image could be read from {source}{first}")
    if strict and skipped:
        raise ValueError(
            f"{len(skipped)} of {source} cannot be used, the first: {skipped[0].path} {skipped[0].reason}; "
            "mend or remove it, or read without strict to skip it"
        )


def _decoded(files: Sequence[Path], manner: Manner) -> Decoded:
    if len(files) < CACHE_FROM:
        return decode_files(files, manner.size, progress=manner.progress)
    key = fingerprint(files, manner.size, progress=manner.progress)
    found = _cache.load(key, len(files), manner.size) if key else None
    if found is None:
        found = decode_files(files, manner.size, progress=manner.progress)
        _cache.store(found)
    return found
