"""Whether frames without a subject can be told from a gallery's own exemplars."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from corel.gallery._items import decoded_thumbnail
from corel.images import blanks_differ

SAMPLE = 200  # exemplars looked at
SIDE = 32  # pixels at which thumbnails are compared


def applies(thumbnails: Iterable[bytes]) -> bool:
    """Whether the test suits these exemplars: it is off where they are plain surfaces or noise themselves."""
    decoded = (decoded_thumbnail(each, (SIDE, SIDE)) for each in thumbnails)
    pictures = [each for each in decoded if each is not None]
    return not pictures or blanks_differ(np.stack(pictures))
