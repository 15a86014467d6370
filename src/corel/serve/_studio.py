"""What the server does with its gallery: the one module of this room that calls the library.

Everything here blocks; the app calls it off the event loop.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from PIL import Image

from corel import images
from corel.gallery import LARGEST_THUMBNAIL, Exemplar, Gallery, Ranked, Scores, thumbnail
from corel.serve._config import Config
from corel.serve._memory import Kept, Prepared, Removed
from corel.serve._problems import Refused

if TYPE_CHECKING:
    from corel.backbone import Backbone

COVER = 6  # thumbnails on a class's card
MOST_RANKED = 4  # classes whose order is kept: a page asks for one class, part by part
MEASURED = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF")  # formats whose head says how large the image is


@dataclass(frozen=True)
class Card:
    """A class in the list of classes."""

    name: str
    exemplars: int
    cover: tuple[str, ...]


@dataclass(frozen=True)
class Fitting:
    """An exemplar without its content, and how well it fits into its class."""

    hash: str
    source: str
    enrolled: str
    score: float
    odd: bool


@dataclass(frozen=True, eq=False)
class Voter:
    """An exemplar that speaks for an image, and its share of all that speaks for it."""

    exemplar: Exemplar
    share: float


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why an image is like a class, or not."""

    name: str
    score: float
    p_value: float
    exemplars: int
    voters: list[Voter]


class Studio:
    """The gallery behind the server; each thread that calls has a connection of its own to the file."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._threads = threading.local()
        self._backbone: Backbone | None = None
        self._ranked: dict[str, tuple[list[str], list[Fitting]]] = {}
        self._kept = Kept(config.limits.kept_bytes)
        self._removed = Removed(config.limits.undo_seconds)
        self.encoder: dict[str, Any] | None = None
        self.ready = threading.Event()

    def open(self) -> None:
        """Open the gallery and load its encoder."""
        create = not self._config.read_only
        self._threads.gallery = Gallery.open(self._config.gallery, self._config.backbone, create=create)
        self._backbone = self.gallery.backbone
        preparation = self._backbone.preparation
        if not isinstance(preparation, images.Preparation):
            raise ValueError(f"{self._config.gallery} is a gallery of vectors; the studio is for images")
        self._preparation = preparation
        self.encoder = {"digest": self._backbone.digest[:12], "size": self._backbone.network.input_shape[-1]}
        self.ready.set()

    def warm_up(self) -> None:
        """Score once: it reads all classes and compiles kernels, for which the first request would wait."""
        blank = np.zeros((1, self._preparation.size, self._preparation.size, 3), np.uint8)
        if self.gallery.classes():
            self.gallery.score(blank)
        else:
            self.gallery.backbone.encode(blank)

    def close(self) -> None:
        """Release the file in this thread."""
        self.gallery.close()

    @property
    def gallery(self) -> Gallery:
        """The gallery of the calling thread; any but the one that called `open` only reads."""
        if not hasattr(self._threads, "gallery") or self._threads.gallery is None:
            exists = self._config.gallery.expanduser().exists()
            opened = Gallery.open(self._config.gallery, self._backbone, create=not self._config.read_only)
            # A gallery opened before its file exists would not see the file appear.
            self._threads.gallery = opened if exists else None
            return opened
        found: Gallery = self._threads.gallery
        return found

    def prepare(self, name: str, file: BinaryIO, *, picture: bool = False) -> Prepared | images.Skipped:
        """Decode one upload to the encoder's size; what cannot be decoded gets its reason."""
        if pixels(file) > self._config.limits.pixels:
            return images.Skipped(name, f"has more than {self._config.limits.pixels:,} pixels")
        content = file.read()
        try:
            batch = next(iter(images.stream(content, self._preparation)))
            shown = self._picture(content) if picture and not batch.skipped else None
        except MemoryError:
            return images.Skipped(name, "needs more memory than there is")
        if batch.skipped:
            return images.Skipped(name, batch.skipped[0].reason)
        values = batch.values[0]
        prepared = Prepared(name, images.content_hash(values).hex(), values, shown)
        self._kept.put(prepared)
        return prepared

    def _picture(self, content: bytes) -> bytes | None:
        """Make a thumbnail of what the encoder sees, but with more pixels."""
        if self._preparation.size >= LARGEST_THUMBNAIL:
            return None
        larger = replace(self._preparation, size=LARGEST_THUMBNAIL, shorter=None)
        return thumbnail(next(iter(images.stream(content, larger))).values[0])

    def recall(self, hashes: Iterable[str]) -> list[Prepared]:
        """Give images that were prepared before; refuse if some are gone, naming them."""
        found = {each: self._kept.get(each) for each in hashes}
        if missing := [each for each, prepared in found.items() if prepared is None]:
            raise Refused(
                HTTPStatus.NOT_FOUND, "hash", f"{len(missing)} of these images are not kept any more; send them again",
                missing=missing,
            )  # fmt: skip
        return [prepared for prepared in found.values() if prepared is not None]

    def score(self, groups: Sequence[Sequence[Prepared]]) -> list[Scores]:
        """Score several requests' images in one pass."""
        together = [each for group in groups for each in group]
        found = self.gallery.score(_image_set(together))
        ends = np.cumsum([len(group) for group in groups]).tolist()
        return [_part(found, slice(end - len(group), end)) for group, end in zip(groups, ends, strict=True)]

    def enroll(self, name: str, prepared: Sequence[Prepared]) -> set[str]:
        """Add images to a class; gives the hashes that it held before."""
        before = set(self.gallery.hashes().get(name, ()))
        pictures = {each.hash: each.picture for each in prepared if each.picture is not None}
        self.gallery.enroll(name, _image_set(prepared), pictures=pictures)
        return before

    def cards(self) -> list[Card]:
        """List the classes."""
        return [Card(name, len(hashes), tuple(hashes[:COVER])) for name, hashes in self.gallery.hashes().items()]

    def sizes(self) -> dict[str, int]:
        """Give each class's number of exemplars."""
        return self.gallery.classes()

    def exemplars(self, name: str, part: slice) -> tuple[list[Exemplar], int]:
        """Give a part of a class's exemplars in the order of their enrollment, and how many there are."""
        hashes = self._hashes(name)
        return self.gallery.exemplars(name, hashes[part]), len(hashes)

    def thumbnail(self, name: str, digest: str) -> bytes:
        """Give an exemplar's picture."""
        try:
            found = self.gallery.exemplars(name, [digest])
        except ValueError:
            self.check_class(name)
            raise
        if not found or not found[0].thumbnail:
            raise Refused(HTTPStatus.NOT_FOUND, "hash", "there is no picture of such an exemplar")
        return found[0].thumbnail

    def audit(self, name: str) -> list[Fitting]:
        """Give a class's exemplars with how well they fit, the odd ones first."""
        hashes = self._hashes(name)
        known = self._ranked.pop(name, None)
        if known is None or known[0] != hashes:
            known = hashes, [_fitting(each) for each in self.gallery.ranked(name)]
        self._ranked[name] = known
        if len(self._ranked) > MOST_RANKED:
            del self._ranked[next(iter(self._ranked))]
        return known[1]

    def explain(self, prepared: Prepared, name: str) -> Reasons:
        """Tell which exemplars of a class speak for an image, the most important first."""
        self.check_class(name)
        found = self.gallery.explain(_image_set([prepared]), name)
        voters = [Voter(exemplar, share) for exemplar, share in found.comparisons[0].voters(len(found.exemplars))]
        return Reasons(name, found.score, found.p_value, len(found.exemplars), voters)

    def remove(self, name: str, hashes: Sequence[str]) -> tuple[int, str]:
        """Remove exemplars; gives how many, and a key to put them back with."""
        self.check_class(name)
        chosen = self.gallery.exemplars(name, dict.fromkeys(hashes))
        if len(chosen) < len(set(hashes)):
            raise Refused(HTTPStatus.NOT_FOUND, "hash", f"the class {name!r} does not hold all of these exemplars")
        count = self.gallery.forget(name, [each.hash for each in chosen])
        return count, self._removed.put(chosen)

    def undo(self, key: str) -> int:
        """Put back what was removed under this key."""
        count = self.gallery.restore(self._removed.get(key))
        self._removed.drop(key)
        return count

    def forget(self, name: str) -> int:
        """Forget a class, for good; what was removed from it before goes too."""
        self.check_class(name)
        self._removed.drop_class(name)
        return self.gallery.forget(name)

    def rename(self, name: str, new: str) -> int:
        """Give a class another name."""
        self.check_class(name)
        count = self.gallery.rename(name, new)
        self._removed.rename_class(name, new)
        return count

    def _hashes(self, name: str) -> list[str]:
        found = self.gallery.hashes()
        if name not in found:
            raise _no_class(name)
        return found[name]

    def check_class(self, name: str) -> None:
        """Refuse a class that is not there."""
        if name not in self.gallery.classes():
            raise _no_class(name)


def _no_class(name: str) -> Refused:
    return Refused(HTTPStatus.NOT_FOUND, "class", f"there is no class {name!r}")


def _fitting(each: Ranked) -> Fitting:
    exemplar = each.exemplar
    return Fitting(exemplar.hash, exemplar.source, exemplar.enrolled, each.score, each.odd)


def _image_set(prepared: Sequence[Prepared]) -> images.ImageSet:
    return images.ImageSet(
        np.stack([each.pixels for each in prepared]), None, (), [each.name for each in prepared], "uploads"
    )


def _part(scores: Scores, rows: slice) -> Scores:
    """Give some rows of scores."""
    by_image = ("images", "scores", "p_values", "likeness", "enrolled", "photographic")
    given: dict[str, Any] = {name: getattr(scores, name) for name in by_image}
    chosen: dict[str, Any] = {name: value if value is None else value[rows] for name, value in given.items()}
    return replace(scores, **chosen)


def pixels(file: BinaryIO) -> int:
    """Read an image's size from its head, 0 if it has none: then the decoder says what is wrong."""
    try:
        images.check_tiff(file)
        with Image.open(file, formats=MEASURED) as picture:
            return picture.width * picture.height
    except Exception:  # Pillow's plugins raise exceptions of any kind
        return 0
    finally:
        file.seek(0)
