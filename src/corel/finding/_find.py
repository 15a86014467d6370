"""Find a thing: enroll windows of it, score every window of a photograph."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corel import images
from corel._errors import ArgumentError, renamed
from corel._terminal import progress_bar
from corel.backbone import Backbone
from corel.finding._found import Found
from corel.finding._windows import Box, Windows, default_side, windows_in
from corel.oneclass import OneClass, compared_rows, preferred_method

if TYPE_CHECKING:
    from corel.gallery import Gallery

BATCH = 256
SMALLEST = 8  # pixels of a window's side
PValues = Callable[[NDArray[np.uint8]], NDArray[np.float64]]


def find(
    photo: Any,
    box: Box,
    *,
    others: Iterable[Any] = (),
    backbone: Backbone | str | os.PathLike[str] | None = None,
    examples: int = 60,
    window: int | None = None,
    scales: Sequence[float] = (1.0,),
    seed: int = 0,
    progress: bool = False,
) -> list[Found]:
    """Take windows from a box as examples of a thing, and show where in the photograph, and in others, it is.

    Args:
        photo: a path, a Pillow image, bytes, a file object or an array ``[h, w, 3]``.
        box: left, top, width and height in pixels.
        others: further photographs to search.
        backbone: the encoder; the default is the one for photographs.
        examples: how many windows are drawn from the box.
        window: their side in pixels; by default the encoder's size, or a twentieth of a large photograph.
        scales: window sides to look at, as multiples of `window`.
        seed: decides which windows are drawn.
        progress: show a bar on a terminal.

    Returns:
        One map for `photo`, then one for each of the others.

    Example:
        >>> import corel
        >>> from sklearn.datasets import load_sample_image
        >>> found, = corel.find(load_sample_image("china.jpg"), (110, 160, 200, 180))
        >>> found.mask(rate=0.05).shape
        (427, 640)

    """
    return [*search_for_box(photo, box, others=others, backbone=backbone, examples=examples, window=window,
                            scales=scales, seed=seed, progress=progress)]  # fmt: skip


def search_for_box(
    photo: Any,
    box: Box,
    *,
    others: Iterable[Any] = (),
    backbone: Backbone | str | os.PathLike[str] | None = None,
    examples: int = 60,
    window: int | None = None,
    scales: Sequence[float] = (1.0,),
    seed: int = 0,
    progress: bool = False,
) -> Iterator[Found]:
    """Do as `find`, one photograph after the other: only one of them is in memory."""
    encoder = backbone if isinstance(backbone, Backbone) else Backbone.load(backbone)
    size, marked = _size(encoder), _read(photo, "photo")
    sides = _sides(window or default_side(marked, size), scales)
    with renamed(count="examples"):
        bag = windows_in(marked, box, examples, size=size, sides=sides, seed=seed)
    method = preferred_method(encoder)
    p_values = _p_values(encoder, method, compared_rows(method, encoder.embed(bag)))
    yield _search(marked, _name(photo, 0), sides, size, p_values, progress=progress, marked=box)
    del marked
    for k, other in enumerate(others, start=1):
        yield _search(_read(other, "others"), _name(other, k), sides, size, p_values, progress=progress)


def find_class(
    gallery: Gallery,
    name: str,
    photos: Iterable[Any],
    *,
    window: int | None = None,
    scales: Sequence[float] = (1.0,),
    progress: bool = False,
) -> list[Found]:
    """Show where in photographs the things of a gallery's class are."""
    return [*search_for_class(gallery, name, photos, window=window, scales=scales, progress=progress)]


def search_for_class(
    gallery: Gallery,
    name: str,
    photos: Iterable[Any],
    *,
    window: int | None = None,
    scales: Sequence[float] = (1.0,),
    progress: bool = False,
) -> Iterator[Found]:
    """Do as `find_class`, one photograph after the other: only one of them is in memory."""
    encoder = gallery.backbone
    p_values = _p_values(encoder, gallery.method, gallery.compared(name), gallery.views)
    for k, photo in enumerate(photos):
        pixels, size = _read(photo, "photos"), _size(encoder)
        sides = _sides(window or default_side(pixels, size), scales)
        yield _search(pixels, _name(photo, k), sides, size, p_values, progress=progress)


def _p_values(encoder: Backbone, method: str, exemplars: NDArray[np.float32], views: str = images.WHOLE) -> PValues:
    model = OneClass.from_backbone(encoder, method=method).fit(exemplars)
    return lambda windows: model.p_values(compared_rows(method, encoder.embed(windows, views=views)))


def _search(
    photo: NDArray[np.uint8], name: str, sides: Sequence[int], size: int, p_values: PValues,
    *, progress: bool, marked: Box | None = None,
) -> Found:  # fmt: skip
    """Score the windows of every side; give the largest p-value at each center of the first side's windows."""
    if min(photo.shape[:2]) < max(sides):
        raise ArgumentError("window", f"has {max(sides)} pixels a side, more than {name} has; choose smaller windows")
    searched = [Windows(photo, side, size) for side in sides]
    rows, columns = searched[0].centers
    best = np.zeros((len(rows), len(columns)))
    with progress_bar(f"searching {name}", sum(map(len, searched)), quiet=not progress) as advance:
        for windows in searched:
            values = []
            for batch in windows.batches(BATCH):
                values.append(p_values(batch))
                advance(len(batch))
            own = [len(part) for part in windows.corners]
            best = np.maximum(best, _resampled(np.concatenate(values).reshape(own), windows, rows, columns))
    return Found(name, photo, best, rows, columns, marked)


def _resampled(
    values: NDArray[np.float64], windows: Windows, rows: NDArray[np.float64], columns: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Take at each place the value of the window whose center is nearest."""
    own_rows, own_columns = windows.centers
    nearest = [
        np.abs(own[:, None] - wanted).argmin(axis=0) for own, wanted in ((own_rows, rows), (own_columns, columns))
    ]
    return values[np.ix_(*nearest)]


def _sides(window: int, scales: Sequence[float]) -> list[int]:
    if window < SMALLEST:
        raise ArgumentError("window", f"must have a side of at least {SMALLEST} pixels, got {window}")
    if not len(scales) or not all(0 < scale < inf for scale in scales):
        raise ArgumentError("scales", f"must be one or more positive numbers, got {[*scales]}")
    sides = [round(window * float(scale)) for scale in scales]
    if (side := min(sides)) < SMALLEST:
        raise ArgumentError(
            "scales",
            f"must give windows of at least {SMALLEST} pixels, but {min(scales):g} times {window} pixels is {side}",
        )
    return sides


def _size(encoder: Backbone) -> int:
    if not isinstance(encoder.preparation, images.Preparation):
        raise ArgumentError("backbone", "takes vectors, not images; choose one that encodes photographs")
    return encoder.preparation.size


def _read(photo: Any, argument: str) -> NDArray[np.uint8]:
    with renamed(source=argument):
        return images.read_photo(photo)


def _name(photo: Any, number: int) -> str:
    return str(photo) if isinstance(photo, str | os.PathLike) else f"photograph {number + 1}"
