"""What no kernel can work on, and the sentences that say so."""

from __future__ import annotations

from numbers import Real

from torch import Tensor

from corel._errors import ArgumentError


def is_real(value: object) -> bool:
    """Whether this is a number of Python's or numpy's: a tensor would carry a gradient that nothing returns to it."""
    return isinstance(value, (float, int, Real))  # the last is an abstract class, whose check is slow


def refuse_non_finite(clouds: Tensor, argument: str = "points") -> None:
    """Raise where a value of ``[n, b, D]`` is NaN or infinite."""
    finite = clouds.isfinite().all(-1)
    if not bool(finite.all()):
        cloud, point = (~finite).nonzero()[0].tolist()
        raise non_finite(cloud, point, argument)


def refuse_overflow(distances: Tensor) -> Tensor:
    """Raise where a distance between finite points, ``[n, ...]``, is infinite; return the distances otherwise."""
    finite = distances.isfinite().flatten(1).all(-1)
    if not bool(finite.all()):
        raise overflow(int((~finite).nonzero()[0]), distances.element_size())
    return distances


def refuse_no_norm(p: float) -> None:
    """Raise where p is no number from 1 to infinity."""
    if not is_real(p) or not p >= 1:
        raise ArgumentError("p", f"must be a real number from 1 to infinity, not {p!r}: below 1 it is no norm")


def refuse_no_metric(matrices: Tensor) -> None:
    """Raise where ``[n, b, b]``, its diagonal zero, is negative or not symmetric by more than rounding."""
    rounding = 1e-4 * matrices.abs().amax((-2, -1), keepdim=True)
    if bool((matrices < -rounding).any()):
        raise ArgumentError("distances", "has a negative entry: pass a matrix of distances, not of similarities")
    if bool(((matrices - matrices.mT).abs() > rounding).any()):
        raise ArgumentError("distances", "is not symmetric: pass (d + d.mT) / 2, or the points themselves")


def non_finite(cloud: int, point: int, argument: str = "points") -> ArgumentError:
    """The error that names the first bad point."""
    return ArgumentError(
        argument,
        f"must be finite, but cloud {cloud}, point {point} has a value that is NaN or infinite "
        "(look for a diverged training step or an unfilled row)",
    )


def overflow(cloud: int, size: int) -> ArgumentError:
    """The error that names the first cloud whose distances overflow floats of so many bytes."""
    cure = "rescale them" + (" or use torch.float64" if size < 8 else "")
    return ArgumentError(
        "points", f"are too far apart: the distances of cloud {cloud} overflow torch.float{8 * size}; {cure}"
    )
