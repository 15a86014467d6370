"""Whether frames without a subject can be told from a gallery's own exemplars."""

from __future__ import annotations

import io
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from corel.images import blanks_differ

SAMPLE = 200  # exemplars looked at
SIDE = 32  # pixels at which thumbnails are compared
FORMATS = ("PNG", "JPEG", "WEBP")


def applies(thumbnails: Iterable[bytes]) -> bool:
    """Whether the test suits these exemplars: it is off where they are plain surfaces or noise themselves."""
    pictures = [each for each in map(decoded, thumbnails) if each is not None]
    return not pictures or blanks_differ(np.stack(pictures))


def decoded(thumbnail: bytes, side: int = SIDE) -> NDArray[np.uint8] | None:
    """Decode a thumbnail, which like all of a gallery may come from outside; None where it is broken."""
    try:
        with Image.open(io.BytesIO(thumbnail), formats=FORMATS) as picture:
            return np.asarray(picture.convert("RGB").resize((side, side), Image.Resampling.BILINEAR))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
