"""Maximum likelihood for Dirichlet distributions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

Doubles = NDArray[np.float64]

# Equal samples have no finite maximum: the likelihood grows with the concentration for ever.
MOST_CONCENTRATED = 1e6
STEPS, TOLERANCE = 500, 1e-9


def fit_dirichlet(log_samples: Doubles) -> Doubles:
    """Give α ``[..., K]`` that makes samples most likely, from their logarithms ``[..., n, K]``.

    Newton's method after T. Minka, *Estimating a Dirichlet distribution* (2000): the Hessian is diagonal plus a
    constant, so that a step costs O(K). The log-likelihood is concave in α.
    """
    target = log_samples.mean(axis=-2)
    alpha = _bounded(_first_guess(np.exp(log_samples).mean(axis=-2), target))
    for _ in range(STEPS):
        step = _newton_step(alpha, target)
        # A step that would make α negative goes only half the way to zero.
        following = _bounded(np.maximum(alpha - step, alpha / 2))
        if np.all(np.abs(following - alpha) <= TOLERANCE * alpha):
            break
        alpha = following
    return following


def _first_guess(mean: Doubles, target: Doubles) -> Doubles:
    """The samples' mean, concentrated as Stirling's approximation of the likelihood asks."""
    mean = np.maximum(mean, np.finfo(np.float64).tiny)
    divergence = np.sum(mean * (np.log(mean) - target), axis=-1, keepdims=True)
    concentration = (mean.shape[-1] - 1) / 2 / np.maximum(divergence, 1e-12)
    return np.asarray(mean * concentration)


def _newton_step(alpha: Doubles, target: Doubles) -> Doubles:
    total = alpha.sum(axis=-1, keepdims=True)
    gradient = digamma(total) - digamma(alpha) + target
    diagonal, constant = -polygamma(1, alpha), polygamma(1, total)
    shared = (gradient / diagonal).sum(axis=-1, keepdims=True) / (
        1 / constant + (1 / diagonal).sum(axis=-1, keepdims=True)
    )
    step: Doubles = (gradient - shared) / diagonal
    return step


def _bounded(alpha: Doubles) -> Doubles:
    total = alpha.sum(axis=-1, keepdims=True)
    return np.asarray(np.maximum(alpha * np.minimum(1, MOST_CONCENTRATED / total), 1e-12))
