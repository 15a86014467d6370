"""Searches in photos: what a form asks for, and the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

import numpy as np
from numpy.typing import NDArray

from corel import finding, images
from corel.serve import _schema as schema
from corel.serve._problems import Refused
from corel.serve._studio import Studio, pixels
from corel.serve._uploads import Form

MOST_PHOTOS = 8  # a search; each takes seconds
DIGITS = 4  # of a p-value: finer than any rate


@dataclass(frozen=True)
class Wanted:
    """What to look for: a box of the first photo, or a class."""

    box: tuple[int, int, int, int] | None
    name: str | None


@dataclass(frozen=True, eq=False)
class Photo:
    """A photo as it was sent."""

    name: str
    data: bytes


def wanted(form: Form) -> Wanted:
    """Read what to look for from the form's fields."""
    boxes, names = form.fields.get("box", []), form.fields.get("name", [])
    if len(boxes) + len(names) != 1:
        raise ValueError("give one field: box, as left,top,width,height in pixels of the first photo, or name, a class")
    return Wanted(_box(boxes[0]) if boxes else None, names[0] if names else None)


def _box(text: str) -> tuple[int, int, int, int]:
    parts = text.split(",")
    if len(parts) != 4 or not all(part.isascii() and part.isdecimal() and len(part) < 8 for part in parts):
        raise ValueError(f"a box is four whole numbers, left,top,width,height, not {text[:40]!r}")
    left, top, width, height = map(int, parts)
    return left, top, width, height


def photos(form: Form, limit: int) -> list[Photo]:
    """Take the form's photos over; refuse too many or too large ones."""
    if not 1 <= len(form.uploads) <= MOST_PHOTOS:
        raise Refused(
            HTTPStatus.UNPROCESSABLE_ENTITY, "photos", f"send one to {MOST_PHOTOS} photos, not {len(form.uploads)}"
        )
    for each in form.uploads:
        if pixels(each.file) > limit:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "pixels", f"{each.name} has more than {limit:,} pixels")
    return [Photo(each.name, each.file.read()) for each in form.uploads]


def search(studio: Studio, what: Wanted, sent: Sequence[Photo]) -> list[schema.FoundPhoto]:
    """Search all photos."""
    decoded = [_decoded(each) for each in sent]
    if what.name is not None:
        studio.check_class(what.name)
        found = finding.find_class(studio.gallery, what.name, decoded)
    else:
        assert what.box is not None
        found = finding.find(decoded[0], what.box, others=decoded[1:], backbone=studio.gallery.backbone)
    return [_answer(photo.name, each) for photo, each in zip(sent, found, strict=True)]


def _decoded(photo: Photo) -> NDArray[np.uint8]:
    try:
        return images.read_photo(photo.data)
    except ValueError as error:
        raise ValueError(f"{photo.name}: {error}") from error


def _answer(name: str, found: finding.Found) -> schema.FoundPhoto:
    height, width = found.photo.shape[:2]
    return schema.FoundPhoto(
        name=name, width=width, height=height, rows=found.rows.tolist(), columns=found.columns.tolist(),
        p_values=np.round(found.p_values, DIGITS).tolist(),
    )  # fmt: skip
