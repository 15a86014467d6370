"""What the bank and the estimator accept, and the sentences they refuse with."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from corel._errors import ArgumentError
from corel.oneclass._kernel import Integers, Points

Method: TypeAlias = Literal["auto", "count", "contrast", "cosine"]
METHODS = get_args(Method)[1:]  # without "auto"
LATENT_METHODS: tuple[str, ...] = METHODS[:2]  # those that compare latents; cosine compares features
Ties: TypeAlias = Literal["conservative", "random"]
Seed: TypeAlias = int | np.random.Generator | None
Latents: TypeAlias = ArrayLike | Tensor
SHORTEST = 1e-36  # a radius whose 64th part float32 still divides by


def as_latents(z: Latents, dtype: type[np.floating[Any]], name: str) -> Points:
    """`z` as a finite matrix of `dtype` in main memory, laid out as the kernels are compiled for."""
    if isinstance(z, Tensor):  # numpy has no bfloat16
        z = z.detach().to("cpu", torch.float64 if dtype is np.float64 else torch.float32).numpy()
    latents: Points = np.require(z, dtype, ["C", "W"])
    if latents.ndim != 2:
        raise ArgumentError(name, f"must be a matrix [n, branches·dim], not an array of shape {latents.shape}")
    if not np.isfinite(latents).all():
        row = int(np.flatnonzero(~np.isfinite(latents).all(1))[0])
        raise ArgumentError(name, f"has NaN or infinity in row {row}; drop such rows before scoring")
    return latents


def computing_device(z: Latents) -> torch.device | None:
    """The device that holds `z`; None for the CPU, and for a device without float64."""
    return z.device if isinstance(z, Tensor) and z.device.type not in ("cpu", "mps") else None


def resolve_method(method: Method, background: Points | None) -> Method:
    """The method that `"auto"` stands for: contrast where there is a background, else count."""
    if method not in get_args(Method):
        raise ArgumentError("method", f"must be one of {', '.join(map(repr, get_args(Method)))}, not {method!r}")
    if method in ("contrast", "cosine") and background is None:
        raise ArgumentError(
            "method", f'is "{method}", which compares with a background; pass background=rows [G, columns] like them'
        )
    if method == "cosine" and background is not None and not len(background):
        raise ArgumentError("background", "has no rows, but the cosine score is centered on their mean; give some")
    if method == "auto":
        return "count" if background is None else "contrast"
    return method


def check_ties(ties: Ties) -> None:
    """Raise unless ties are broken in a way that exists."""
    if ties not in ("conservative", "random"):
        raise ArgumentError("ties", f'must be "conservative" or "random", not {ties!r}')


def check_rate(rate: float) -> None:
    """Refuse a rate that no decision can keep."""
    if not 0 < rate < 1:
        raise ArgumentError("rate", f"must lie strictly between 0 and 1, not {rate}")


def check_settings(branches: int, radius: float, columns: int) -> None:
    """Refuse branches that do not divide the columns, and a radius that is no length."""
    if branches < 1 or columns % branches:
        raise ArgumentError("branches", f"is {branches}, which does not divide the {columns} columns of the latents")
    if not SHORTEST <= radius < np.inf:
        raise ArgumentError("radius", f"must be finite and at least {SHORTEST:g}, not {radius}; rescale the latents")


def check_offsets(offsets: ArrayLike, rows: int) -> Integers:
    """`offsets` as integers, refused unless they cut `rows` exemplars into classes."""
    bounds = np.asarray(offsets, np.int64)
    if bounds.ndim != 1 or len(bounds) < 2 or bounds[0] != 0 or bounds[-1] != rows or (np.diff(bounds) < 0).any():
        raise ArgumentError("offsets", f"must rise from 0 to the {rows} exemplars, one step a class; got {bounds}")
    return bounds
