"""Merging edges on any device in plain torch: Borůvka's algorithm, all clouds and all components at once.

Every component picks its lightest outgoing edge and merges along it, so the number of components at least halves each
round. Under the strict order (distance, i, j) no two edges tie, hence no round can close a cycle.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import torch
from torch import Tensor


def pairwise(points: Tensor, p: float) -> Tensor:
    """‖x - y‖_p as ``[n, b, b]``, squared for p = 2, summed coordinate by coordinate as in every kernel."""
    if p == torch.inf:
        return functools.reduce(torch.maximum, _gaps(points))
    if p in (1, 2):
        return functools.reduce(torch.add, (gap if p == 1 else gap * gap for gap in _gaps(points)))
    # Dividing by the largest gap first keeps powers from overflowing and from vanishing.
    largest = pairwise(points, torch.inf)
    unit = torch.where(largest > 0, largest, 1).clamp(max=torch.finfo(largest.dtype).max)
    lengths = unit * functools.reduce(torch.add, ((gap / unit) ** p for gap in _gaps(points))) ** (1 / p)
    # The last powers of a tensor fill no vector register, and may round differently; asymmetry could close a cycle.
    return torch.maximum(lengths, lengths.mT)


def _gaps(points: Tensor) -> Iterator[Tensor]:
    """|x - y| as ``[n, b, b]``, one for each coordinate."""
    return ((coordinate[:, :, None] - coordinate[:, None, :]).abs() for coordinate in points.unbind(-1))


def merge_edges(distances: Tensor) -> Tensor:
    """Edges ``[n, b-1, 2]`` in death order of symmetric, finite ``distances [n, b, b]``."""
    n, b, _ = distances.shape
    component = torch.arange(b, device=distances.device).expand(n, b)
    tree = torch.zeros((n, b * b), dtype=torch.bool, device=distances.device)
    while not bool((component == component[:, :1]).all()):
        edge = _lightest_edges(distances, component)
        tree.scatter_(1, edge.clamp(max=b * b - 1), edge < b * b)
        component = _merged(component, edge, b)
    codes = tree.nonzero()[:, 1].reshape(n, b - 1)
    return in_death_order(codes, distances.flatten(1).gather(1, codes), b)


def in_death_order(codes: Tensor, deaths: Tensor, b: int) -> Tensor:
    """Edges ``[n, b-1, 2]`` from codes i·b + j and deaths ``[n, b-1]``, ascending by (death, i, j)."""
    codes, by_code = codes.sort(-1)
    codes = codes.gather(1, deaths.gather(1, by_code).argsort(dim=-1, stable=True))
    return torch.stack((codes // b, codes % b), dim=-1)


def _lightest_edges(distances: Tensor, component: Tensor) -> Tensor:
    """Give the lightest outgoing edge of each component as the code i·b + j (i < j); b·b where there is none."""
    n, b = component.shape
    outgoing = component[:, :, None] != component[:, None, :]
    # min gives the first of equals: for a fixed vertex, edges of equal length order like their other endpoint.
    lightest, partner = distances.masked_fill(~outgoing, torch.inf).min(-1)
    across = lightest < torch.inf
    record = distances.new_full((n, b), torch.inf).scatter_reduce(1, component, lightest, "amin")
    vertex = torch.arange(b, device=distances.device).expand(n, b)
    code = torch.minimum(vertex, partner) * b + torch.maximum(vertex, partner)
    code = code.where(across & (lightest == record.gather(1, component)), b * b)
    return code.new_full((n, b), b * b).scatter_reduce(1, component, code, "amin")


def _merged(component: Tensor, edge: Tensor, b: int) -> Tensor:
    """Give the labels after merging: components point across their edges, and take the label of the root."""
    label = torch.arange(b, device=edge.device).expand_as(edge)
    chosen = edge < b * b
    ends = edge.clamp(max=b * b - 1)
    one, other = component.gather(1, ends // b), component.gather(1, ends % b)
    pointer = torch.where(chosen, one + other - label, label)
    # Two components that chose the same edge point at each other: the smaller label becomes the root.
    mutual = pointer.gather(1, pointer) == label
    pointer = torch.where(mutual & (label < pointer), label, pointer)
    for _ in range((b - 1).bit_length()):
        pointer = pointer.gather(1, pointer)
    return pointer.gather(1, component)
