"""A list of image files → an `ImageSet`, from the cache if these very bytes were decoded before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corel.images import _cache
from corel.images._decoding import Decoded, decode_files, fingerprint
from corel.images._set import ImageSet, Skipped

CACHE_FROM = 1000  # files; fewer are decoded again faster than anybody notices


@dataclass(frozen=True)
class Listing:
    """Image files about to be read; `labels` is None where there are none."""

    files: Sequence[Path]
    names: Sequence[str]
    labels: Sequence[int] | None
    classes: tuple[str, ...]
    source: str
    skipped: tuple[Skipped, ...] = ()


def read(listing: Listing, size: int, *, strict: bool, progress: bool) -> ImageSet:
    """Decode all files of `listing`; with `strict` a single broken one is an error."""
    decoded = _decoded(listing.files, size, progress=progress)
    broken = tuple(Skipped(listing.names[i], reason) for i, reason in sorted(decoded.broken.items()))
    skipped = listing.skipped + broken
    kept = [i for i in range(len(listing.files)) if i not in decoded.broken]
    refuse(skipped, len(kept), listing.source, strict=strict)
    return ImageSet(
        pixels=decoded.pixels[kept] if broken else decoded.pixels,
        labels=None if listing.labels is None else np.array([listing.labels[i] for i in kept], np.int64),
        classes=listing.classes,
        names=[listing.names[i] for i in kept],
        source=listing.source,
        skipped=skipped,
    )


def list_files(files: Sequence[Path]) -> Listing:
    """List files named one by one; they have no labels."""
    return Listing(files, [str(file) for file in files], None, (), f"a list of {len(files)} files")


def refuse(skipped: Sequence[Skipped], kept: int, source: str, *, strict: bool) -> None:
    """Raise if nothing is left of `source`, or if `strict` and anything was skipped."""
    if not kept:
        first = f"; the first of {len(skipped)}: {skipped[0].path} {skipped[0].reason}" if skipped else ""
        raise ValueError(f"no image could be read from {source}{first}")
    if strict and skipped:
        raise ValueError(
            f"{len(skipped)} of {source} cannot be used, the first: {skipped[0].path} {skipped[0].reason}; "
            "mend or remove it, or read without strict to skip it"
        )


def _decoded(files: Sequence[Path], size: int, *, progress: bool) -> Decoded:
    if len(files) < CACHE_FROM:
        return decode_files(files, size, progress=progress)
    key = fingerprint(files, size, progress=progress)
    found = _cache.load(key, len(files), size) if key else None
    if found is None:
        found = decode_files(files, size, progress=progress)
        _cache.store(found)
    return found
