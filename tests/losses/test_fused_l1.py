"""The fast path of the loss agrees with the general path, and steps aside where it cannot work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from corel._compute import torch_internals
from corel.losses import _fused_l1, connectivity_loss
from corel.persistence import death_times, direct_l1
from corel.persistence.lengths import edge_lengths
from corel.persistence.ops import merge_edges
from corel.persistence.prim import _sorted_by_bytes
from tests.persistence.clouds import gaussian


def _by_operators(points: Tensor, eta: float, drop_zeros: bool) -> Tensor:
    lengths = edge_lengths(points, merge_edges(points.detach(), 1.0), 1.0)
    misses = (eta - lengths).abs()
    return (misses.where(lengths > 0, 0) if drop_zeros else misses).sum(-1)


@pytest.mark.parametrize("drop_zeros", [True, False])
@pytest.mark.parametrize("shape", [(9, 3), (4, 9, 3), (2, 3, 9, 3), (0, 9, 3), (2, 1, 3), (1, 300, 2), (2, 9, 37)])
def test_sums_and_gradients_are_those_of_the_operators(shape: tuple[int, ...], drop_zeros: bool) -> None:
    points = gaussian(*shape)
    points[..., -1, :] = points[..., 0, :]  # a bar of length zero, where there are two points
    points.requires_grad_()
    sums, expected = _fused_l1.miss_sums(points, 1.0, drop_zeros=drop_zeros), _by_operators(points, 1.0, drop_zeros)
    torch.testing.assert_close(sums, expected)
    weights = gaussian(*sums.shape, seed=1) if sums.dim() else torch.tensor(2.0, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(sums, points, weights)
    torch.testing.assert_close(gradient, torch.autograd.grad(expected, points, weights)[0])


@pytest.mark.parametrize("drop_zeros", [True, False])
@pytest.mark.parametrize("shape", [(16, 40, 10), (2, 17, 9, 3), (16, 5, 1), (16, 9, 16), (16, 9, 33)])
def test_sixteen_clouds_at_once_have_the_gradients_of_the_operators(shape: tuple[int, ...], drop_zeros: bool) -> None:
    points = gaussian(*shape, dtype=torch.float32)
    points[..., -1, :] = points[..., 0, :]
    points.requires_grad_()
    sums, expected = _fused_l1.miss_sums(points, 1.0, drop_zeros=drop_zeros), _by_operators(points, 1.0, drop_zeros)
    torch.testing.assert_close(sums, expected)
    weights = gaussian(*sums.shape, seed=1, dtype=torch.float32)
    (gradient,) = torch.autograd.grad(sums, points, weights)
    torch.testing.assert_close(gradient, torch.autograd.grad(expected, points, weights)[0])


@pytest.mark.parametrize("shape", [(9, 3), (4, 9, 3), (2, 3, 9, 3), (0, 9, 3)])
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_a_reduced_loss_equals_the_reduced_losses(shape: tuple[int, ...], reduction: Any) -> None:
    points = gaussian(*shape).requires_grad_()
    losses = connectivity_loss(points, 1.0, branch_reduction="none")
    loss, expected = connectivity_loss(points, 1.0, branch_reduction=reduction), getattr(losses, reduction)()
    torch.testing.assert_close(loss, expected, equal_nan=True)
    found, wanted = (torch.autograd.grad(3 * value, points)[0] for value in (loss, expected))
    torch.testing.assert_close(found, wanted)


def test_many_gradients_of_a_sum_at_once() -> None:
    points, factors = gaussian(3, 6, 2).requires_grad_(), torch.tensor([1.0, -2.0]).double()
    loss = connectivity_loss(points, 1.0)
    (once,) = torch.autograd.grad(loss, points, retain_graph=True)
    (batched,) = torch.autograd.grad(loss, points, factors, is_grads_batched=True)
    torch.testing.assert_close(batched, torch.stack([once, -2 * once]))


def test_a_gradient_with_a_graph_equals_one_without() -> None:
    points = gaussian(3, 8, 2).requires_grad_()
    plain, graphed = (
        torch.autograd.grad(_fused_l1.miss_sums(points, 1.0, drop_zeros=False).sum(), points, create_graph=create)[0]
        for create in (False, True)
    )
    assert torch.equal(plain, graphed)
    assert graphed.requires_grad


def test_a_step_after_the_points_changed_in_place_is_refused() -> None:
    points = gaussian(5, 2).requires_grad_()
    moved = points * 1
    sums = _fused_l1.miss_sums(moved, 1.0, drop_zeros=False)
    moved.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        sums.backward()  # type: ignore[no-untyped-call]


def test_lengths_ascend() -> None:
    deaths = death_times(gaussian(3, 200, 4, dtype=torch.float32))
    assert (deaths.diff() >= 0).all()
    torch.testing.assert_close(deaths, death_times(gaussian(3, 200, 4, dtype=torch.float32).requires_grad_()).detach())


def test_inputs_and_gradients_of_any_layout() -> None:
    points = gaussian(3, 4, 7, 2)
    expected = torch.autograd.grad(_by_operators(points.requires_grad_(), 1.0, False).sum(), points)[0]
    for laid_out in (points.detach().transpose(0, 1).contiguous().transpose(0, 1), torch._neg_view(-points.detach())):
        laid_out.requires_grad_()
        sums = _fused_l1.miss_sums(laid_out, 1.0, drop_zeros=False)
        for gradient in (torch.ones(()).double().expand(3, 4), torch._neg_view(-torch.ones(3, 4).double())):
            (found,) = torch.autograd.grad(sums, laid_out, gradient, retain_graph=True)
            torch.testing.assert_close(found, expected)
    with torch.inference_mode():
        torch.testing.assert_close(death_times(torch._neg_view(-points)), death_times(points))


def test_many_gradients_at_once() -> None:
    points = gaussian(3, 6, 2).requires_grad_()
    sums = _fused_l1.miss_sums(points, 1.0, drop_zeros=False)
    rows = torch.eye(3, dtype=torch.float64)
    expected = torch.stack([torch.autograd.grad(sums, points, row, retain_graph=True)[0] for row in rows])
    (batched,) = torch.autograd.grad(sums, points, rows, is_grads_batched=True, retain_graph=True)
    torch.testing.assert_close(batched, expected)
    by_vmap = torch.func.vmap(lambda row: torch.autograd.grad(sums, points, row, retain_graph=True)[0])(rows)
    torch.testing.assert_close(by_vmap, expected)


def test_a_copy_that_hooks_keep_is_what_the_gradient_is_taken_at() -> None:
    points = gaussian(9, 2)
    expected = torch.autograd.grad(_by_operators(points.requires_grad_(), 1.0, False), points)[0]
    moved = points * 1
    with torch.autograd.graph.saved_tensors_hooks(torch.clone, lambda kept: kept):
        sums = _fused_l1.miss_sums(moved, 1.0, drop_zeros=False)
    moved.detach().mul_(-1)
    torch.testing.assert_close(torch.autograd.grad(sums, points)[0], expected)


def test_checkpointing_frees_and_recomputes() -> None:
    points = gaussian(9, 2).requires_grad_()
    plain = torch.autograd.grad(_fused_l1.miss_sums(points, 1.0, drop_zeros=False), points)[0]
    again = checkpoint(lambda z: _fused_l1.miss_sums(z, 1.0, drop_zeros=False), points, use_reentrant=False)
    torch.testing.assert_close(torch.autograd.grad(again, points)[0], plain)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")
def test_a_trace_computes() -> None:
    points = gaussian(6, 2)
    traced = torch.jit.trace(death_times, (points,))  # type: ignore[no-untyped-call]
    torch.testing.assert_close(traced(2 * points), 2 * death_times(points))


class _Passing(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def test_the_fast_path_is_not_taken_for_other_input_or_while_torch_is_traced() -> None:
    points = gaussian(5, 2)
    assert direct_l1.applies(points, 1.0)
    assert direct_l1.applies(nn.Parameter(points), 1.0)
    for other, p in [
        (points, 2.0),
        (points.half(), 1.0),
        (points[0], 1.0),
        (points[:, :0], 1.0),
        (points.numpy(), 1.0),
    ]:
        assert not direct_l1.applies(other, p)
    assert not direct_l1.applies(points.to("meta"), 1.0)
    with forward_ad.dual_level():
        assert not direct_l1.applies(points, 1.0)
    with _Passing():  # type: ignore[no-untyped-call]
        assert not direct_l1.applies(points, 1.0)


@pytest.mark.parametrize("name", ["_transforms_active", "_modes_active", "_tracing"])
def test_a_torch_without_a_private_name_takes_the_general_path(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points = gaussian(4, 9, 3).requires_grad_()
    fast = connectivity_loss(points, 1.0)
    monkeypatch.setattr(torch_internals, name, torch_internals._absent)
    assert not direct_l1.applies(points, 1.0)
    torch.testing.assert_close(connectivity_loss(points, 1.0), fast)


def test_a_torch_without_a_level_of_forward_mode_takes_the_general_path(monkeypatch: pytest.MonkeyPatch) -> None:
    points = gaussian(4, 9, 3)
    assert direct_l1.applies(points, 1.0)
    monkeypatch.delattr(forward_ad, "_current_level")
    assert not direct_l1.applies(points, 1.0)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_forward_mode_gives_the_directional_derivative() -> None:
    points, direction = gaussian(6, 3), gaussian(6, 3, seed=1)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(points, direction)  # type: ignore[no-untyped-call]
        tangent = forward_ad.unpack_dual(death_times(dual)).tangent  # type: ignore[no-untyped-call]
    step = 1e-6
    difference = (death_times(points + step * direction) - death_times(points - step * direction)) / (2 * step)
    torch.testing.assert_close(tangent, difference, rtol=1e-6, atol=1e-6)


@given(st.lists(st.integers(0, 2**31 - 1) | st.integers(0, 3), max_size=40), st.sampled_from([np.int32, np.int64]))
def test_the_byte_sort_is_stable(keys: list[int], dtype: type) -> None:
    array = np.array(keys, dtype) << (30 if dtype is np.int64 else 0)
    start = np.arange(len(keys))[::-1].copy()
    expected = start[np.argsort(array[start], kind="stable")]
    assert _sorted_by_bytes(array, start).tolist() == expected.tolist()
