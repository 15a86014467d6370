"""Tell frames without a subject from images, by comparison with a gallery's own exemplars."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from corel import images
from corel.gallery._items import decoded_thumbnail, thumbnail

SIDE = 32  # pixels at which thumbnails are measured


@dataclass(frozen=True, eq=False)
class BlankTest:
    """Tells blank, flat and noise frames from images, as far as a gallery's exemplars differ from such frames.

    Attributes:
        exemplars: float32 ``[m, 4]``, how far exemplars are from the limits; see `corel.images.measure_lacks`.

    """

    exemplars: NDArray[np.float32]

    SAMPLE: ClassVar[int] = 400  # exemplars to look at, of which 1% are four

    @classmethod
    def of(cls, thumbnails: Iterable[bytes | None]) -> BlankTest:
        """Look at the thumbnails of exemplars."""
        return cls(_lacks(thumbnails))

    @classmethod
    def of_images(cls, values: NDArray[Any]) -> BlankTest:
        """Look at images as if they were enrolled."""
        return cls.of(map(thumbnail, values))

    @property
    def plain(self) -> int:
        """How many exemplars fail a limit."""
        return int((self.exemplars > 0).any(axis=1).sum())

    def photographic(self, values: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Say which images ``[n, s, s, 3]`` show something or are like an exemplar; blank and noise frames do not."""
        lacks = images.measure_lacks(values)
        shown = np.asarray((lacks <= 0).all(axis=1))
        doubtful = np.flatnonzero(~shown)
        if len(doubtful):
            # Exemplars are measured by their thumbnails, which may be smaller, so new images are too. An image near a
            # limit can fail it in one size alone: then it passes. The thumbnail of a small one has the same pixels.
            small = values.shape[1:3] == (SIDE, SIDE)
            found = lacks[doubtful] if small else _lacks(thumbnail(values[i]) for i in doubtful)
            shown[doubtful] = ~images.lack_more(found, self.exemplars)
        return shown


def _lacks(thumbnails: Iterable[bytes | None]) -> NDArray[np.float32]:
    decoded = (decoded_thumbnail(each, (SIDE, SIDE)) for each in thumbnails)
    pictures = [each for each in decoded if each is not None]
    return images.measure_lacks(np.reshape(pictures, (-1, SIDE, SIDE, 3)).astype(np.uint8))
