"""Merging edges, death times and barcodes of point clouds or distance matrices."""

from __future__ import annotations

from typing import NamedTuple, cast

import torch
from torch import Tensor

from corel._errors import ArgumentError, ArgumentTypeError
from corel.persistence import direct_l1, ops
from corel.persistence.checks import refuse_no_norm
from corel.persistence.lengths import edge_lengths


class Barcode(NamedTuple):
    """The finite bars of 0-dimensional persistence as the paper draws them: balls of radius r, so bars end at ε_t/2."""

    births: Tensor
    """Zeros ``[..., b-1]``, since every component is a point and exists from the start."""
    deaths: Tensor
    """ε_t/2 ``[..., b-1]``, ascending, differentiable."""
    pairs: Tensor
    """The merging edges (i, j), i < j, which two points met, int64 ``[..., b-1, 2]``."""


def merge_edges(points: Tensor | None = None, p: float = 1.0, *, distances: Tensor | None = None) -> Tensor:
    """The edges at which components merge, int64 ``[..., b-1, 2]`` with i < j, in order of death.

    Ties are broken by (distance, i, j), so equal input gives equal output on every kernel (for p other than 1, 2 and
    infinity as far as a device's powers round alike).

    For p = 2 gaps are compared by their squares: those shorter than 10⁻³⁸ times the extent of their cloud in float32,
    10⁻³⁰⁰ in float64, may count as equal. The lengths of the edges found are right all the same.

    Args:
        points: ``[..., b, D]``, any leading dimensions; each ``[b, D]`` is a cloud of its own.
        p: the norm, any real number from 1 to infinity.
        distances: in place of points, symmetric matrices ``[..., b, b]``; the diagonal is not looked at.

    >>> merge_edges(torch.tensor([[0.0], [5.0], [1.0]])).tolist()
    [[0, 2], [1, 2]]
    """
    if distances is None:
        return cast("Tensor", ops.merge_edges(_checked_points(points, p).detach(), float(p)))
    return cast("Tensor", ops.merge_edges_of_distances(_checked_distances(points, distances).detach()))


def death_times(points: Tensor | None = None, p: float = 1.0, *, distances: Tensor | None = None) -> Tensor:
    """The death times ε_t ``[..., b-1]`` of Definition 2, ascending and differentiable.

    They are the full distances that Eq. 4 compares with η, not the barcode's ε_t/2. Arguments as in `merge_edges`;
    half types are computed in, and returned as, float32. A bar of length zero has no gradient, never NaN. Where the
    points require a gradient, lengths are summed by other means and may differ in their last bits.

    >>> death_times(torch.tensor([[0.0], [5.0], [1.0]])).tolist()
    [1.0, 4.0]
    """
    differentiable = torch.is_grad_enabled() and isinstance(points, Tensor) and points.requires_grad
    if distances is None and not differentiable and direct_l1.applies(points, p):
        return direct_l1.sorted_lengths(points)
    return merge_lengths(points, p, distances=distances).sort(-1).values


def merge_lengths(points: Tensor | None = None, p: float = 1.0, *, distances: Tensor | None = None) -> Tensor:
    """The death times in the order of `merge_edges`, which rounding may leave not quite ascending."""
    return _lengths(points, p, distances, merge_edges(points, p, distances=distances))


def barcode(points: Tensor | None = None, p: float = 1.0, *, distances: Tensor | None = None) -> Barcode:
    """The 0-dimensional barcode with its pairings: births 0, deaths ε_t/2. Arguments as in `merge_edges`.

    >>> barcode(torch.tensor([[0.0], [5.0], [1.0]])).deaths.tolist()
    [0.5, 2.0]
    """
    edges = merge_edges(points, p, distances=distances)
    lengths, order = _lengths(points, p, distances, edges).sort(dim=-1, stable=True)
    pairs = edges.gather(-2, order[..., None].expand_as(edges))
    return Barcode(torch.zeros_like(lengths), lengths / 2, pairs)


def _lengths(points: Tensor | None, p: float, distances: Tensor | None, edges: Tensor) -> Tensor:
    if distances is None:
        return edge_lengths(_checked_points(points, p), edges, p)
    # Both halves of the matrix share the gradient, so that a step along it keeps the matrix symmetric.
    matrix = _checked_distances(points, distances)
    symmetric = matrix / 2 + matrix.mT / 2
    codes = edges[..., 0] * matrix.shape[-1] + edges[..., 1]
    lengths = symmetric.flatten(-2).gather(-1, codes)
    return lengths.where(lengths > 0, 0)  # which has no gradient, as with points


def _checked_points(points: Tensor | None, p: float) -> Tensor:
    refuse_no_norm(p)
    points = _native(points, "points")
    if points.dim() < 2 or points.shape[-2] < 1 or points.shape[-1] < 1:
        raise ArgumentError(
            "points", f"must be [..., b, D] with b ≥ 1 points in D ≥ 1 dimensions, not {[*points.shape]}"
        )
    return points


def _checked_distances(points: Tensor | None, distances: Tensor) -> Tensor:
    if points is not None:
        raise ArgumentTypeError("distances", "must be left out where points are given; pass one of the two")
    distances = _native(distances, "distances")
    if distances.dim() < 2 or distances.shape[-1] != distances.shape[-2] or distances.shape[-1] < 1:
        raise ArgumentError("distances", f"must be [..., b, b] with b ≥ 1, not {[*distances.shape]}")
    return distances


def _native(tensor: Tensor | None, name: str) -> Tensor:
    """A dense tensor in float32 or float64."""
    if not isinstance(tensor, Tensor):
        raise ArgumentTypeError(
            name, f"must be a torch tensor, not {type(tensor).__name__}: use torch.as_tensor({name})"
        )
    if tensor.layout != torch.strided:
        raise ArgumentTypeError(name, f"must be a dense tensor, not {tensor.layout}: use {name}.to_dense()")
    if not tensor.is_floating_point():
        raise ArgumentTypeError(name, f"must be floating point, not {tensor.dtype}: use {name}.float()")
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()
