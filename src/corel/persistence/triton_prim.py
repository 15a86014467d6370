"""CUDA kernel: fused dense Prim, one program per cloud, the tree's state in registers.

Importing this module needs Triton, so the dispatcher imports it only when it meets a CUDA tensor.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from corel.persistence.boruvka import in_death_order
from corel.persistence.checks import refuse_overflow

# 32 warps of four points a lane; a larger cloud's state would spill out of the registers.
MAX_POINTS = 4096
_POINTS_PER_WARP = 128
_INFINITY = tl.constexpr(float("inf"))
_NO_EDGE = tl.constexpr(2**31 - 1)


@triton.jit
def _gap(columns, vertex, lane, b, k):  # type: ignore[no-untyped-def]
    """|x_k - y_k| between `vertex` and every lane's point."""
    return tl.abs(tl.load(columns + k * b + lane, mask=lane < b, other=0.0) - tl.load(columns + k * b + vertex))


@triton.jit
def _lengths(columns, vertex, lane, b, dim, P: tl.constexpr):  # type: ignore[no-untyped-def]
    """‖x - y‖_P, squared for P = 2, between `vertex` and every lane's point.

    Coordinate after coordinate, the order every kernel keeps: without fused multiply-add the sums, and with
    them the edges, are then the same to the last bit on every device for P = 1, 2 and ∞.
    """
    total = tl.zeros(lane.shape, columns.dtype.element_ty)
    for k in tl.range(0, dim, loop_unroll_factor=4):
        gap = _gap(columns, vertex, lane, b, k)
        if P == 1.0:
            total += gap
        elif P == 2.0:
            total += gap * gap
        else:
            total = tl.maximum(total, gap)
    if (P != 1.0 and P != 2.0) and P != _INFINITY:
        # With the largest gap taken out, powers neither overflow nor vanish where that matters.
        unit = tl.where(total > 0, total, 1.0)
        total = tl.zeros(lane.shape, columns.dtype.element_ty)
        for k in tl.range(0, dim, loop_unroll_factor=4):
            total += tl.exp2(P * tl.log2(_gap(columns, vertex, lane, b, k) / unit))
        total = unit * tl.exp2(tl.log2(total) / P)
    return total


@triton.jit
def _earlier(sum_a, edge_a, sum_b, edge_b):  # type: ignore[no-untyped-def]
    """The first of two edges in the order (distance, i, j)."""
    a_first = (sum_a < sum_b) | ((sum_a == sum_b) & (edge_a < edge_b))
    return tl.where(a_first, sum_a, sum_b), tl.where(a_first, edge_a, edge_b)


@triton.jit
def _prim(columns, codes, deaths, b, dim, P: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Grow one cloud's tree from point 0; each lane keeps its point's shortest edge into the tree."""
    cloud = tl.program_id(0).to(tl.int64)
    columns += cloud * b * dim
    codes += cloud * (b - 1)
    deaths += cloud * (b - 1)
    lane = tl.arange(0, BLOCK)
    outside = (lane > 0) & (lane < b)
    shortest = tl.full([BLOCK], float("inf"), columns.dtype.element_ty)
    parent = tl.full([BLOCK], BLOCK, tl.int32)
    vertex = 0
    for step in range(b - 1):
        lengths = _lengths(columns, vertex, lane, b, dim, P)
        # For a fixed lane, edges of equal length are ordered by their other end.
        closer = (lengths < shortest) | ((lengths == shortest) & (vertex < parent))
        shortest = tl.where(closer, lengths, shortest)
        parent = tl.where(closer, vertex, parent)
        # (i, j) in one integer that sorts like the pair; the last bit says which end is new to the tree.
        edge = (tl.minimum(lane, parent) * BLOCK + tl.maximum(lane, parent)) * 2 + (lane > parent).to(tl.int32)
        candidates = tl.where(outside, shortest, float("inf")), tl.where(outside, edge, _NO_EDGE)
        death, chosen = tl.reduce(candidates, 0, _earlier)
        i = chosen // 2 // BLOCK
        j = chosen // 2 % BLOCK
        tl.store(codes + step, i.to(tl.int64) * b + j)
        tl.store(deaths + step, death)
        vertex = tl.where(chosen % 2 == 1, j, i)
        outside = outside & (lane != vertex)


def merge_edges(points: Tensor, p: float) -> Tensor:
    """Edges ``[n, b-1, 2]`` in death order of finite ``points [n, b, D]``, b at most `MAX_POINTS`."""
    n, b, dim = points.shape
    codes = torch.empty(n, b - 1, dtype=torch.int64, device=points.device)
    deaths = torch.empty(n, b - 1, dtype=points.dtype, device=points.device)
    if codes.numel():
        block = triton.next_power_of_2(b)
        # Coordinate-major, so that neighboring lanes load neighboring addresses.
        columns = points.transpose(1, 2).contiguous()
        with torch.cuda.device_of(points):  # type: ignore[no-untyped-call]
            _prim[(n,)](columns, codes, deaths, b, dim, P=float(p), BLOCK=block, **launch_options(block))
    return in_death_order(codes, refuse_overflow(deaths), b)


def launch_options(block: int) -> dict[str, int | bool]:
    """How a block of so many points is compiled; fused multiply-add would round unlike the other kernels."""
    return {"num_warps": max(1, block // _POINTS_PER_WARP), "enable_fp_fusion": False}
