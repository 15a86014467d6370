"""Images of a planted problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def ramps(count: int, *, rising: bool, seed: int) -> NDArray[np.uint8]:
    """Images that brighten, or darken, from left to right: their means are equal, their mirror images are not."""
    rng = np.random.default_rng(seed)
    slope = np.linspace(-1, 1, 32)[:, None] * (1 if rising else -1)
    pixels = 128 + rng.uniform(80, 95, (count, 1, 1, 1)) * slope + rng.normal(0, 10, (count, 32, 32, 3))
    return pixels.clip(0, 255).astype(np.uint8)
