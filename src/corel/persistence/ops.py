"""The operators that torch sees, so that compile, export, func and vmap pass: one for points, one for distances.

They choose the kernel by device and refuse bad values; ranks and dtypes are checked before, where they are known.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

import torch
from torch import Tensor

from corel.persistence import boruvka, prim
from corel.persistence.checks import non_finite, overflow, refuse_no_metric, refuse_non_finite, refuse_overflow
from corel.persistence.lengths import edge_lengths


@torch.library.custom_op("corel::merge_edges", mutates_args=())
def merge_edges(points: Tensor, p: float) -> Tensor:
    """Edges ``[..., b-1, 2]`` in death order of ``points [..., b, D]`` under the p-norm."""
    return _per_cloud(points, lambda clouds: _of_points(clouds, p))


@torch.library.custom_op("corel::merge_edges_of_distances", mutates_args=())
def merge_edges_of_distances(distances: Tensor) -> Tensor:
    """Edges ``[..., b-1, 2]`` in death order of symmetric ``distances [..., b, b]``."""
    return _per_cloud(distances, _of_distances)


@merge_edges.register_fake
def _(points: Tensor, p: float) -> Tensor:
    return _empty_edges(points)


@merge_edges_of_distances.register_fake
def _(distances: Tensor) -> Tensor:
    return _empty_edges(distances)


@merge_edges.register_vmap
def _(info: Any, in_dims: tuple[int | None, ...], points: Tensor, p: float) -> tuple[Tensor, int]:
    return merge_edges(points.movedim(in_dims[0] or 0, 0), p), 0


@merge_edges_of_distances.register_vmap
def _(info: Any, in_dims: tuple[int | None, ...], distances: Tensor) -> tuple[Tensor, int]:
    return merge_edges_of_distances(distances.movedim(in_dims[0] or 0, 0)), 0


def _per_cloud(batch: Tensor, kernel: Callable[[Tensor], Tensor]) -> Tensor:
    clouds = batch.detach().reshape(-1, *batch.shape[-2:]).contiguous()
    edges: Tensor = kernel(clouds) if clouds.shape[0] else _empty_edges(clouds)
    return edges.reshape(*batch.shape[:-2], batch.shape[-2] - 1, 2)


def _empty_edges(batch: Tensor) -> Tensor:
    return batch.new_empty((*batch.shape[:-2], batch.shape[-2] - 1, 2), dtype=torch.int64)


def _of_points(clouds: Tensor, p: float) -> Tensor:
    if p != 2:
        return _by_device(clouds, p)
    gaps = clouds.amax(1) - clouds.amin(1)
    extents = gaps.amax(1).cpu()
    # A coordinate that never changes adds nothing to a distance, but might overflow where it is scaled: zeros do not.
    scales = _scales(extents).to(clouds.device)[:, None].where(gaps != 0, 0)
    edges = _by_device(clouds * scales[:, None], p)
    if not bool((extents * clouds.shape[2]).isfinite().all()):  # squares were kept in range, lengths may not be
        refuse_overflow(edge_lengths(clouds, edges, p))
    return edges


def _by_device(clouds: Tensor, p: float) -> Tensor:
    if clouds.device.type == "cpu":
        return torch.from_numpy(edges_and_powers(clouds.numpy(), p)[0])
    refuse_non_finite(clouds)
    if clouds.device.type == "cuda" and (triton := _triton()) and clouds.shape[1] <= triton.MAX_POINTS:
        return cast("Tensor", triton.merge_edges(clouds, p))
    return _by_torch(clouds, p)


def _by_torch(clouds: Tensor, p: float) -> Tensor:
    lengths = boruvka.pairwise(clouds, p)
    edges = boruvka.merge_edges(lengths.clamp(max=torch.finfo(lengths.dtype).max))
    # As with every kernel, only a merging edge must not overflow.
    refuse_overflow(lengths.flatten(1).gather(1, edges[..., 0] * clouds.shape[1] + edges[..., 1]))
    return edges


def _scales(extents: Tensor) -> Tensor:
    """A power of two for each cloud, which rounds nothing, so that squares neither overflow nor vanish.

    Those of its largest gaps come near the end of the range and leave the rest of it to the short ones.
    """
    room = 500 if extents.dtype == torch.float64 else 50  # half of the exponent range, with a margin for sums
    largest = torch.finfo(extents.dtype).max  # an extent that overflows is at most twice as much
    exponents = torch.where(extents > 0, torch.frexp(extents.clamp(max=largest)).exponent - room, 0)
    limit = 1022 if extents.dtype == torch.float64 else 126  # beyond, a power of two is no ordinary float
    return torch.full_like(extents, 2.0) ** -exponents.clamp(-limit, limit)


@functools.cache
def _triton() -> ModuleType | None:
    try:
        return importlib.import_module("corel.persistence.triton_prim")
    except ImportError:  # torch for CUDA without Triton: Windows, some builds
        return None


def _of_distances(matrices: Tensor) -> Tensor:
    matrices = matrices.clone()
    matrices.diagonal(dim1=-2, dim2=-1).zero_()
    refuse_non_finite(matrices, "distances")
    refuse_no_metric(matrices)
    # No -0.0, whose bits are those of a large number.
    matrices = (matrices / 2 + matrices.mT / 2).clamp(min=0).abs()
    if matrices.device.type == "cpu":
        return torch.from_numpy(edges_and_powers(matrices.numpy(), prim.PRECOMPUTED)[0])
    return boruvka.merge_edges(matrices)


def edges_and_powers(clouds: prim.Array, p: float, *, in_order: bool = True) -> tuple[prim.Array, prim.Array]:
    """The edges and powers that `prim.merge_edges` finds in ``clouds [n, b, D]``; raises if it met a bad value."""
    edges, powers, trouble = prim.merge_edges(clouds, p, in_order=in_order)
    if trouble > 0:
        raise non_finite(*divmod(trouble - 1, clouds.shape[1]))
    if trouble < 0:
        raise overflow(-trouble - 1, clouds.itemsize)
    return edges, powers
