"""Tell blank, flat and noise frames from images where the exemplars themselves are plain surfaces.

Sky, steel or cloth fail the limits of `_photographs`. If some are enrolled, an image is compared with the exemplars by
how far it is from each limit: its lacks. Proofs and measurements are in docs/verdicts.md.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from corel.images._photographs import LEAST, MOST

RATE = 0.01  # share of images like the exemplars that may be stopped
TRAITS = len(LEAST) + len(MOST)  # lacks of an image; each moved limit may stop an equal part of the share

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


def lack_more(asked: Floats, exemplars: Floats) -> NDArray[np.bool_]:
    """Tell which images ``[n, 4]`` lack more than exemplars ``[m, 4]`` do, both as `measure_lacks` has it.

    If every exemplar passes all limits, so must an image. Otherwise an image that fails a limit is stopped if it is
    unlike the exemplars, by a conformal p-value. This needs 99 exemplars; fewer move the limits.
    """
    if (exemplars <= 0).all():
        return np.asarray((asked > 0).any(axis=1))
    if RATE * (len(exemplars) + 1) < 1:
        return np.asarray((asked > moved_limits(exemplars)).any(axis=1))
    failing = (asked > 0).any(axis=1)
    return np.asarray(failing & (_p_values(np.maximum(asked, 0), np.maximum(exemplars, 0)) <= RATE))


def _p_values(asked: Floats, exemplars: Floats) -> Doubles:
    """P-values ``[n]``: the share of image and exemplars whose nearest neighbor is at least as far as the image's.

    An exemplar's nearest neighbor may be the image. So image and exemplars are exchangeable, and the p-value is valid.
    """
    to_image, nearest = _distances(asked, exemplars), _nearest(exemplars.tobytes(), exemplars.dtype.str)
    own, others = to_image.min(axis=1), np.minimum(nearest, to_image)
    return np.asarray((1 + (others >= own[:, None]).sum(axis=1)) / (len(exemplars) + 1))


@lru_cache(maxsize=8)
def _nearest(content: bytes, dtype: str) -> Floats:
    """How far the nearest neighbor of each exemplar is; kept, since each batch of a gallery asks for the same."""
    exemplars = np.frombuffer(content, dtype).reshape(-1, TRAITS)
    apart = _distances(exemplars, exemplars)
    np.fill_diagonal(apart, np.inf)
    return np.asarray(apart.min(axis=1))


def _distances(points: Floats, others: Floats) -> Floats:
    return np.asarray(np.linalg.norm(points[:, None] - others[None], axis=2))


def moved_limits(exemplars: Floats) -> Doubles:
    """Limits ``[4]`` that an image like the exemplars fails with a probability of `RATE` in all, or less.

    Each is extrapolated from the upper half of the exemplars' lacks, as if these fell off exponentially: then the
    excess of an image over their median, divided by the mean excess, has the F distribution with 2 and 2·upper degrees
    of freedom, whose tail has this closed form. No limit is stricter than that for all images, or than an exemplar.
    """
    count, ordered = len(exemplars), np.sort(exemplars.astype(np.float64), axis=0)
    upper = count // 2
    if not upper:
        return np.full(TRAITS, np.inf)
    start = ordered[count - upper - 1]
    excess = (ordered[count - upper :] - start).mean(axis=0)
    above = (upper + 1) / (count + 1)  # probability that an image lacks more than `start`
    reach = upper * ((above * TRAITS / RATE) ** (1 / upper) - 1)
    return np.asarray(np.maximum(start + reach * excess, np.maximum(ordered[-1], 0)))
