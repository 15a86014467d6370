"""The path of training steps gives what the operators give, and leaves to them what it cannot do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

from corel.persistence import _manhattan, death_times
from corel.persistence._lengths import edge_lengths
from corel.persistence._numba import _sorted_by_bytes
from corel.persistence._ops import merge_edges
from tests.persistence.clouds import gaussian


def _by_operators(points: Tensor, eta: float, drop_zeros: bool) -> Tensor:
    lengths = edge_lengths(points, merge_edges(points.detach(), 1.0), 1.0)
    misses = (eta - lengths).abs()
    return (misses.where(lengths > 0, 0) if drop_zeros else misses).sum(-1)


@pytest.mark.parametrize("drop_zeros", [True, False])
@pytest.mark.parametrize("shape", [(9, 3), (4, 9, 3), (2, 3, 9, 3), (0, 9, 3), (2, 1, 3), (1, 300, 2)])
def test_sums_and_gradients_are_those_of_the_operators(shape: tuple[int, ...], drop_zeros: bool) -> None:
    points = gaussian(*shape)
    points[..., -1, :] = points[..., 0, :]  # a bar of length zero, where there are two points
    points.requires_grad_()
    sums, expected = _manhattan.miss_sums(points, 1.0, drop_zeros=drop_zeros), _by_operators(points, 1.0, drop_zeros)
    torch.testing.assert_close(sums, expected)
    weights = gaussian(*sums.shape, seed=1) if sums.dim() else torch.tensor(2.0, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(sums, points, weights)
    torch.testing.assert_close(gradient, torch.autograd.grad(expected, points, weights)[0])


def test_a_gradient_with_a_graph_equals_one_without() -> None:
    points = gaussian(3, 8, 2).requires_grad_()
    plain, graphed = (
        torch.autograd.grad(_manhattan.miss_sums(points, 1.0, drop_zeros=False).sum(), points, create_graph=create)[0]
        for create in (False, True)
    )
    assert torch.equal(plain, graphed)
    assert graphed.requires_grad


def test_a_step_after_the_points_changed_in_place_is_refused() -> None:
    points = gaussian(5, 2).requires_grad_()
    moved = points * 1
    sums = _manhattan.miss_sums(moved, 1.0, drop_zeros=False)
    moved.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        sums.backward()  # type: ignore[no-untyped-call]


def test_lengths_ascend_without_a_sort() -> None:
    deaths = death_times(gaussian(3, 200, 4, dtype=torch.float32))
    assert (deaths.diff() >= 0).all()
    torch.testing.assert_close(deaths, death_times(gaussian(3, 200, 4, dtype=torch.float32).requires_grad_()).detach())


class _Passing(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def test_it_stands_back_where_something_looks_on() -> None:
    points = gaussian(5, 2)
    assert _manhattan.applies(points, 1.0)
    assert _manhattan.applies(nn.Parameter(points), 1.0)
    for other, p in [
        (points, 2.0),
        (points.half(), 1.0),
        (points[0], 1.0),
        (points[:, :0], 1.0),
        (points.numpy(), 1.0),
    ]:
        assert not _manhattan.applies(other, p)
    assert not _manhattan.applies(points.to("meta"), 1.0)
    with forward_ad.dual_level():
        assert not _manhattan.applies(points, 1.0)
    with _Passing():  # type: ignore[no-untyped-call]
        assert not _manhattan.applies(points, 1.0)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_forward_mode_gives_the_directional_derivative() -> None:
    points, direction = gaussian(6, 3), gaussian(6, 3, seed=1)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(points, direction)  # type: ignore[no-untyped-call]
        tangent = forward_ad.unpack_dual(death_times(dual)).tangent  # type: ignore[no-untyped-call]
    step = 1e-6
    difference = (death_times(points + step * direction) - death_times(points - step * direction)) / (2 * step)
    torch.testing.assert_close(tangent, difference, rtol=1e-6, atol=1e-6)


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**31 - 1) | st.integers(0, 3), max_size=40), st.sampled_from([np.int32, np.int64]))
def test_the_byte_sort_is_stable(keys: list[int], dtype: type) -> None:
    array = np.array(keys, dtype) << (30 if dtype is np.int64 else 0)
    start = np.arange(len(keys))[::-1].copy()
    expected = start[np.argsort(array[start], kind="stable")]
    assert _sorted_by_bytes(array, start).tolist() == expected.tolist()
