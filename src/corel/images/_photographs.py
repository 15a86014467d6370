"""Does an image show anything at all? Blank, flat and noise frames do not.

A photograph of something, a drawing or a digit has contrast; its neighboring pixels agree; and its detail is uneven,
because objects have edges and areas in between. A frame without a subject lacks one of these.

The limits follow one rule: each is passed by 99.75% of the training images of every real set that
`python -m experiments photographs` reads, rounded to the permissive side. All four together therefore call at most 1%
of these images "not a photograph". The study measures the limits on test images and on new kinds of frames, which did
not help to choose them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIZE = 32  # pixels a side at which an image is judged; larger ones are averaged down
SMALLEST = 24  # pixels a side, below which the limits were not measured and nothing is said
BLOCK = 4  # pixels a side of the areas whose detail is compared

Floats = NDArray[np.float32]


class Traits(NamedTuple):
    """What is measured of images, one number each `[n]`.

    Attributes:
        contrast: standard deviation of the gray values, 0 to 127.
        agreement: correlation of neighboring pixels.
        evenness: mean step between neighbors over its root mean square; 1 where all steps are alike.
        variation: standard deviation over mean of the detail in blocks of 4 × 4 pixels.

    """

    contrast: Floats
    agreement: Floats
    evenness: Floats
    variation: Floats


LEAST = {"contrast": 9.9, "agreement": 0.49, "variation": 0.38}
MOST = {"evenness": 0.871}


def photographic(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Tell images ``[n, s, s, 3]`` of something from blank, flat and noise frames."""
    return np.asarray((measure_lacks(pixels) <= 0).all(axis=1))


def measure_lacks(pixels: NDArray[np.uint8]) -> Floats:
    """Measure how far images ``[n, s, s, 3]`` are from each limit ``[n, 4]``.

    At most zero where they pass; one where a frame has no contrast, no agreement, no variation, or steps all alike.
    """
    if min(pixels.shape[1:3], default=0) < SMALLEST:
        return np.zeros((len(pixels), len(LEAST) + len(MOST)), np.float32)
    traits = measure_traits(pixels)._asdict()
    lacks = [(limit - traits[name]) / limit for name, limit in LEAST.items()]
    lacks += [(traits[name] - limit) / (1 - limit) for name, limit in MOST.items()]
    return np.stack(lacks, axis=1)


def measure_traits(pixels: NDArray[np.uint8]) -> Traits:
    """Measure images ``[n, s, s, 3]``."""
    gray = _averaged(pixels)
    centered = gray - gray.mean(axis=(1, 2), keepdims=True)
    power = (centered**2).mean(axis=(1, 2))
    beside = (centered[:, :, 1:] * centered[:, :, :-1]).mean(axis=(1, 2))
    below = (centered[:, 1:] * centered[:, :-1]).mean(axis=(1, 2))
    detail = np.square(np.diff(gray, axis=1)[:, :, 1:]) + np.square(np.diff(gray, axis=2)[:, 1:])
    root, areas = np.sqrt(detail.mean(axis=(1, 2))), _block_means(detail)
    return Traits(
        contrast=np.sqrt(power),
        agreement=_ratio((beside + below) / 2, power),
        evenness=_ratio(np.sqrt(detail).mean(axis=(1, 2)), root),
        variation=_ratio(areas.std(axis=1), areas.mean(axis=1)),
    )


def _averaged(pixels: NDArray[np.uint8]) -> Floats:
    """Gray values of at most `SIZE` pixels a side, means over equal areas."""
    # The same as pixels.mean(axis=3, dtype=np.float32), several times as fast: sums of three bytes are exact.
    gray = (pixels[..., 0].astype(np.float32) + pixels[..., 1] + pixels[..., 2]) / np.float32(3)
    for axis in (1, 2):
        length = gray.shape[axis]
        if length > SIZE:
            bounds = np.arange(SIZE) * length // SIZE
            counts = np.diff(np.append(bounds, length)).astype(np.float32)
            gray = np.add.reduceat(gray, bounds, axis=axis) / counts.reshape((-1, 1) if axis == 1 else (-1,))
    return np.asarray(gray)


def _block_means(detail: Floats) -> Floats:
    """Means over blocks `[n, blocks]`; what does not fill a block at the edge is left out."""
    rows, columns = (length // BLOCK for length in detail.shape[1:])
    whole = detail[:, : rows * BLOCK, : columns * BLOCK].reshape(len(detail), rows, BLOCK, columns, BLOCK)
    return np.asarray(whole.mean(axis=(2, 4)).reshape(len(detail), rows * columns))


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Zero where a flat image leaves nothing to divide by."""
    result = np.zeros_like(numerator)
    return np.divide(numerator, denominator, out=result, where=denominator > 1e-6)
