"""Encoded images against all classes of a gallery."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from corel._terminal import counted, shown
from corel.gallery._assessment import assess, in_background, split_scores
from corel.gallery._kept import Kept
from corel.gallery._scores import HeldOut, Scores
from corel.images import Batch, Skipped, content_hash

if TYPE_CHECKING:
    from corel.backbone import Backbone

Photographic: TypeAlias = Callable[[NDArray[Any]], "NDArray[np.bool_] | None"]


class Embedded(NamedTuple):
    """What scoring needs of a batch; its images are no longer in memory.

    `in_background` maps the position of each image that is also in the background to its row there.
    """

    names: Sequence[str]
    hashes: Sequence[str]
    rows: NDArray[np.float32]
    skipped: tuple[Skipped, ...]
    photographic: NDArray[np.bool_] | None
    in_background: Mapping[int, int]


def embedded(backbone: Backbone, method: str, views: str, test: Photographic | None, batch: Batch) -> Embedded:
    """Encode a batch for a score; `test` tells images from frames without a subject, where that is asked."""
    from corel.oneclass import compared_rows

    hashes = [content_hash(value).hex() for value in batch.values]
    photographic = None if test is None else test(batch.values)
    rows = compared_rows(method, backbone.embed(batch.values, views=views))
    same = in_background(backbone, hashes)
    return Embedded(batch.names, hashes, rows, batch.skipped, photographic, same)


def scored(kept: Kept, batch: Embedded, enrolled: Sequence[tuple[str, ...]], held_out: int = 0) -> Scores:
    """Score a batch; with `held_out`, also by a split in which so many exemplars only calibrate."""
    found = assess(kept.bank, batch.rows, batch.in_background)
    held = None
    if held_out:
        split = kept.split(held_out)
        held = HeldOut(split_scores(split, batch.rows, batch.in_background), split.calibration)
    photographic = _photographic(batch, enrolled)
    return Scores(batch.names, kept.names, *found, kept.calibration, batch.skipped, enrolled, photographic, held)


def warn_of_skipped(skipped: Sequence[Skipped]) -> None:
    """Warn that results are fewer than images, for a caller whose results do not list what was skipped."""
    if skipped:
        first = f"{skipped[0].path} {skipped[0].reason}"
        warnings.warn(
            f"{counted(len(skipped), 'image')} could not be read, so the results are fewer than the images; the first: "
            f"{shown(first, 300)}",
            stacklevel=3,
        )


def warn_of_too_few(exemplars: int, rate: float) -> None:
    """Warn that nothing can be called a stranger: no p-value is below 1/(exemplars + 1)."""
    from corel.oneclass import allowed_rejections

    if not allowed_rejections(rate, exemplars):
        warnings.warn(
            f"{counted(exemplars, 'exemplar')} cannot tell strangers at a rate of {rate:g}: "
            f"{math.ceil(1 / rate) - 1} are needed in all; until then everything is known or unsure",
            stacklevel=3,
        )


def _photographic(batch: Embedded, enrolled: Sequence[tuple[str, ...]]) -> NDArray[np.bool_] | None:
    """Say which images are photographs: an exemplar is one, even where the test compared with other exemplars."""
    if batch.photographic is None:
        return None
    return np.logical_or(batch.photographic, [bool(each) for each in enrolled])
