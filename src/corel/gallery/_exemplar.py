"""An exemplar: one enrolled example of a class, and how a gallery's file keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corel._errors import ArgumentError
from corel._terminal import printable
from corel.gallery._file import damaged
from corel.gallery._names import check_name


@dataclass(frozen=True)
class BackboneReference:
    """Which backbone the latents come from: a shipped name or a path, its content hash, and B·D."""

    name: str
    digest: str
    dimension: int


@dataclass(frozen=True)
class Exemplar:
    """One enrolled example of a class.

    `hash` is of what was encoded: the uint8 pixels after resize and crop, before any normalization. `thumbnail` is a
    small picture of the same (WebP, or PNG in galleries of format 1), `enrolled` an ISO time in UTC. `features` is None
    where the encoder has none beside the latent, and in galleries of format 1.
    """

    name: str
    hash: str
    source: str
    enrolled: str
    latent: NDArray[np.float32]
    thumbnail: bytes | None
    features: NDArray[np.float32] | None = None


Key = tuple[int, str]  # of an exemplar: its number, which may be used again, and its hash
Version = tuple[int, ...]


class Snapshot(NamedTuple):
    """The exemplars as of one moment.

    Attributes:
        version: changes whenever the file does.
        keys: per class, in alphabetical order, its exemplars in the order of enrollment.
        new: latent and features of those that were not known.

    """

    version: Version
    keys: dict[str, list[Key]]
    new: dict[Key, tuple[NDArray[np.float32], NDArray[np.float32] | None]]


def check_backbone(path: Path, stored: BackboneReference, given: BackboneReference) -> None:
    """Latents of two encoders cannot be compared: refuse to mix them."""
    if stored.digest != given.digest:
        raise ArgumentError(
            "backbone",
            f"is {given.name} ({given.digest[:12]}), but {path} was made with {stored.name} ({stored.digest[:12]}); "
            "open it with that one, or enroll into a new gallery",
        )


def stored_exemplar(row: Sequence[Any], dimension: int, path: Path) -> Exemplar:
    """Read an exemplar from its row in the file at `path`, which may be damaged; a latent has `dimension` values."""
    name, digest, source, enrolled, latent, picture, features = row
    return Exemplar(
        stored_name(name, path), printable(str(digest)), printable(str(source)), printable(str(enrolled)),
        _numbers(latent, dimension, "a latent", path), picture,
        None if features is None else _numbers(features, None, "features", path),
    )  # fmt: skip


def stored_name(name: object, path: Path) -> str:
    """Read a class's name from the file at `path`."""
    try:
        return check_name(name)
    except (TypeError, ValueError) as error:
        raise damaged(path, "a class has an impossible name") from error


def _numbers(blob: object, count: int | None, what: str, path: Path) -> NDArray[np.float32]:
    if not isinstance(blob, bytes) or not blob or len(blob) % 4 or count not in (None, len(blob) // 4):
        raise damaged(path, f"{what} does not have {count} values" if count else f"{what} are not a row of numbers")
    numbers = np.frombuffer(blob, dtype="<f4").astype(np.float32, copy=False)
    if not np.isfinite(numbers).all():
        raise damaged(path, f"{what} is not finite" if count else f"{what} are not finite")
    return numbers
