"""Does an image show anything at all? Blank, flat and noise frames do not.

A photograph of something, a drawing or a digit has contrast; its neighboring pixels agree; and its detail is uneven,
because objects have edges and areas in between. A frame without a subject lacks one of these.

The limits follow one rule: each is passed by 99.75% of the training images of every real set that
`python -m experiments photographs` reads, rounded to the permissive side. All four together therefore call at most 1%
of these images "not a photograph". The study judges the limits on test images, and on kinds of frames that it names
and that nobody had used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIZE = 32  # pixels a side at which an image is judged; larger ones are averaged down
SMALLEST = 24  # pixels a side, below which the limits were not measured and nothing is said
BLOCK = 4  # pixels a side of the areas whose detail is compared

OWN_RATE = 0.005  # share of images like the exemplars that limits set by these may stop
SLIGHT = 0.1  # a lack that weighs little, even if others lack less

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
    return np.asarray(~measure_lacks(pixels).any(axis=1))


def measure_lacks(pixels: NDArray[np.uint8]) -> Floats:
    """Measure by how much images ``[n, s, s, 3]`` fail each limit ``[n, 4]``.

    Zero where they pass, and one where a frame has no contrast, no agreement, no variation, or steps all alike.
    """
    if min(pixels.shape[1:3], default=0) < SMALLEST:
        return np.zeros((len(pixels), len(LEAST) + len(MOST)), np.float32)
    traits = measure_traits(pixels)._asdict()
    lacks = [(limit - traits[name]) / limit for name, limit in LEAST.items()]
    lacks += [(traits[name] - limit) / (1 - limit) for name, limit in MOST.items()]
    return np.asarray(np.maximum(np.stack(lacks, axis=1), 0))


def lack_more(asked: Floats, exemplars: Floats) -> NDArray[np.bool_]:
    """Tell which images ``[n, 4]`` lack more than a gallery's exemplars ``[m, 4]`` do, both as `measure_lacks` has it.

    A limit that every exemplar passes holds for the images too. Exemplars that fail a limit, as plain surfaces do, set
    limits of their own, by a conformal p-value that is at most `OWN_RATE` for this share of images like them. Where the
    exemplars are too few for that, a limit that one of them fails is dropped.
    """
    failed = (exemplars > 0).any(axis=0)
    beyond = (asked[:, ~failed] > 0).any(axis=1)
    if failed.any() and OWN_RATE * (len(exemplars) + 1) >= 1:
        beyond |= _lack_p_values(asked[:, failed], exemplars[:, failed]) <= OWN_RATE
    return np.asarray(beyond)


def _lack_p_values(asked: Floats, exemplars: Floats) -> NDArray[np.float64]:
    """Share of exemplars and image that lack as much as the image, by the limit that each fails most.

    What lacks by one limit is compared with what lacks by another in units of the usual lack: the mean of those that
    fail. The image counts in it as an exemplar does, so it is exchangeable with them and the p-value is valid.
    """
    usual = (exemplars.sum(axis=0) + asked) / ((exemplars > 0).sum(axis=0) + (asked > 0)) + SLIGHT
    own = (asked / usual).max(axis=1)
    others = (exemplars / usual[:, None]).max(axis=2)
    return np.asarray((1 + (others >= own[:, None]).sum(axis=1)) / (len(exemplars) + 1))


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
    gray = pixels.mean(axis=3, dtype=np.float32)
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
