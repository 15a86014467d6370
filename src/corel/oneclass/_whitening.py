"""Features as unit vectors: centered, whitened by the background's covariance, normalized, in whole steps.

Products of these vectors are products of integers that float32 holds exactly, and so are those that whiten, in
float64: no order of summation changes a bit, so neither the batch nor the number of threads does.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corel._compute.blas import one_thread_products
from corel._compute.jit import jit
from corel._compute.threads import run_chunks
from corel.oneclass._kernel import Doubles, Points

# Chosen on folds of train splits by `python -m experiments cosine_folds`, as is the temperature. Ledoit and Wolf's
# shrinkage, from the background alone, is .01: it estimates the covariance well, and scores clearly worse.
SHRINKAGE = 0.3  # the share of the identity, times the mean variance, in the covariance

STEPS = 1 << 12  # per deviation, to which a feature is rounded
REACH = 1 << 17  # the largest feature in these steps: 32 deviations, beyond which it is cut
ENTRIES = 1 << 20  # the largest entry of the matrix, in steps: with REACH, sums of 2^16 features are exact in float64
LARGEST = 1 << 24  # up to here float32 holds every integer


class Whitening(NamedTuple):
    """Maps features to unit vectors whose coordinates are integers, `length` long.

    Attributes:
        mean: The background's mean `[F]`.
        deviation: The background's deviations `[F]`.
        matrix: Whitens standardized features, integers `[F, F]`: only the direction of the result matters.
        length: The length of a unit vector in steps.

    """

    mean: Doubles
    deviation: Doubles
    matrix: Doubles
    length: int

    @classmethod
    def of(cls, background: Points, shrinkage: float = SHRINKAGE) -> Whitening:
        """Learn it from the background `[G, F]` alone."""
        values = background.astype(np.float64)
        mean, deviation = values.mean(axis=0), _deviations(values)
        # The background says nothing about a feature that never changes in it.
        deviation[deviation == 0] = np.median(deviation[deviation > 0]) if deviation.any() else 1.0
        steps = _steps(values, mean, deviation)
        shares = deviation / _power(deviation.max())  # only the direction of a result matters
        with one_thread_products():  # a few hundred features: threads would wait for each other, on a busy machine long
            covariance = (steps.T @ steps) * np.outer(shares, shares) / (len(steps) * STEPS**2)
            variance = np.trace(covariance) / len(mean) or 1.0
            covariance = (1 - shrinkage) * covariance + shrinkage * variance * np.eye(len(mean))
            variances, directions = np.linalg.eigh(covariance)
            matrix = shares[:, None] * ((directions / np.sqrt(variances)) @ directions.T)
        return cls(mean, deviation, np.rint(matrix * (ENTRIES / np.abs(matrix).max())), _length(len(mean)))

    def units(self, features: Points) -> NDArray[np.float32]:
        """Unit vectors `[n, F]` of features `[n, F]`; what is exactly the mean has no direction and becomes zeros."""
        units = np.empty(features.shape, np.float32)

        def some(start: int, stop: int) -> None:
            steps = _steps(features[start:stop], self.mean, self.deviation)
            _normalize(steps @ self.matrix, float(self.length), units[start:stop])

        with one_thread_products():
            run_chunks(some, len(features), work=features.size * (4 + len(self.mean) / 8))
        return units


def whitening_of(background: Points) -> Whitening:
    """The whitening of a background; banks of one backbone share it, for it takes a tenth of a second to learn."""
    return _kept(background.tobytes(), background.dtype.str, background.shape)


@lru_cache(maxsize=2)
def _kept(content: bytes, dtype: str, shape: tuple[int, ...]) -> Whitening:
    return Whitening.of(np.frombuffer(content, dtype).reshape(shape))


def _steps(values: NDArray[Any], mean: Doubles, deviation: Doubles) -> Doubles:
    steps = (values - mean) * (STEPS / deviation)
    return np.clip(np.rint(steps, out=steps), -REACH, REACH, out=steps)


def _deviations(values: Doubles) -> Doubles:
    """Deviations of the columns; their numbers may be too large or too small to be squared."""
    powers = _power(np.abs(values).max(axis=0))
    found: Doubles = (values / powers).std(axis=0) * powers
    return found


def _power(sizes: Any) -> Any:
    """The power of two of each size: to divide by it changes no digit."""
    return np.ldexp(1.0, np.frexp(sizes)[1])


def _length(features: int) -> int:
    """The longest that a vector may be so that its product with any other, both rounded, is exact in float32."""
    return int(math.sqrt(LARGEST) - math.sqrt(features) / 2)


@jit
def _normalize(rows: Doubles, length: float, units: NDArray[np.float32]) -> None:
    """Scale each row to `length` and round it; a row at a time, in the order of its columns."""
    for t in range(len(rows)):
        square = 0.0
        for value in rows[t]:
            square += value * value
        factor = length / math.sqrt(square) if square > 0 else 0.0
        for j in range(rows.shape[1]):
            units[t, j] = np.rint(rows[t, j] * factor)
