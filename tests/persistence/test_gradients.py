"""One gradient serves every kernel: checked numerically, and finite where points coincide."""

from __future__ import annotations

import math
from typing import Literal

import pytest
import torch
from torch import Tensor

from corel.losses import connectivity_loss
from corel.persistence import barcode, death_times
from corel.persistence.lengths import norm
from tests.persistence.clouds import gaussian


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_first_and_second_derivatives(p: float) -> None:
    points = gaussian(2, 7, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: death_times(z, p), points)
    assert torch.autograd.gradgradcheck(lambda z: death_times(z, p) ** 2, points)
    assert torch.autograd.gradcheck(lambda z: connectivity_loss(z, p=p), points)
    assert torch.autograd.gradgradcheck(lambda z: connectivity_loss(z, p=p) ** 2, points)


@pytest.mark.parametrize("seed", range(3))
def test_second_derivatives_where_points_share_a_coordinate(seed: int) -> None:
    """‖g‖₂ is smooth for g ≠ 0, so a zero coordinate of g has second derivatives as any other."""
    points = gaussian(6, 4, seed=seed).relu().requires_grad_()
    assert torch.autograd.gradcheck(lambda z: death_times(z, 2.0), points)
    assert torch.autograd.gradgradcheck(lambda z: death_times(z, 2.0), points)


def test_second_derivatives_of_the_euclidean_norm_in_closed_form() -> None:
    gap = torch.tensor([3.0, 0.0, 4.0], dtype=torch.float64)
    found = torch.autograd.functional.hessian(lambda g: norm(g, 2.0), gap)  # type: ignore[no-untyped-call]
    unit = gap / 5
    torch.testing.assert_close(found, (torch.eye(3) - unit[:, None] * unit) / 5)


def test_distances_share_their_gradient_between_both_halves() -> None:
    matrix = torch.cdist(gaussian(6, 2), gaussian(6, 2), p=1)
    matrix = (matrix + matrix.mT).requires_grad_()
    assert torch.autograd.gradcheck(lambda d: death_times(distances=(d + d.mT) / 2), matrix)
    (gradient,) = torch.autograd.grad(connectivity_loss(distances=matrix), matrix)
    assert torch.equal(gradient, gradient.mT)


@pytest.mark.parametrize("zero_bars", ["keep", "drop"])
def test_a_distance_of_zero_has_no_gradient_either(zero_bars: Literal["keep", "drop"]) -> None:
    matrix = torch.tensor([[0.0, 0, 3], [0, 0, 3], [3, 3, 0]], requires_grad=True)
    (gradient,) = torch.autograd.grad(connectivity_loss(distances=matrix, zero_bars=zero_bars), matrix)
    assert gradient.tolist() == [[0, 0, 0.5], [0, 0, 0], [0.5, 0, 0]]


def test_gradients_through_distances_and_through_points_agree() -> None:
    points = gaussian(9, 3).requires_grad_()
    distances = (points[:, None] - points).abs().sum(-1)
    expected = torch.autograd.grad(connectivity_loss(points), points)[0]
    torch.testing.assert_close(torch.autograd.grad(connectivity_loss(distances=distances), points)[0], expected)


@pytest.mark.parametrize("p", [1.0, 2.0, 1.5, math.inf])
def test_duplicates_have_no_gradient_and_never_nan(p: float) -> None:
    duplicates = torch.tensor([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], dtype=torch.float64, requires_grad=True)
    assert torch.equal(_derivatives(duplicates, p)[0], torch.zeros_like(duplicates))
    shared = torch.tensor([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    for derivative in _derivatives(shared, p):
        assert derivative.isfinite().all()


def _derivatives(points: Tensor, p: float) -> tuple[Tensor, Tensor]:
    loss = (connectivity_loss(points, p=p) ** 2).sum()
    (first,) = torch.autograd.grad(loss, points, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), points)
    return first, second


def test_gradient_flows_through_the_barcode_and_back_to_half_types() -> None:
    points = gaussian(5, 2, dtype=torch.float32).to(torch.bfloat16).requires_grad_()
    deaths = barcode(points).deaths
    assert deaths.dtype == torch.float32
    deaths.sum().backward()  # type: ignore[no-untyped-call]
    assert points.grad is not None
    assert points.grad.dtype == torch.bfloat16
    assert points.grad.abs().sum() > 0
