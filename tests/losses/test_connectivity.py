"""Eq. 4, its reductions, Theorem 1, and the precision it is computed in."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from corel import ConnectivityLoss, TrainConfig, connectivity_loss, death_times
from corel.losses import split_branches
from tests.persistence.clouds import gaussian


def test_equation_4_by_hand() -> None:
    points = torch.tensor([[0.0], [1.0], [4.0], [4.0]])
    assert connectivity_loss(points, eta=2.0, zero_bars="keep").item() == abs(2 - 0) + abs(2 - 1) + abs(2 - 3)
    assert connectivity_loss(points, eta=2.0).item() == 2.0


@given(st.integers(2, 7), st.integers(1, 3), st.integers(0, 2**31), st.floats(0.1, 5))
def test_theorem_1(b: int, dimension: int, seed: int, eta: float) -> None:
    """The sum over all pairs, each weighed by its indicator, equals the loss where distances are unique."""
    points = gaussian(b, dimension, seed=seed)
    deaths = set(death_times(points).tolist())
    lengths = [(points[i] - points[j]).abs().sum().item() for i, j in itertools.combinations(range(b), 2)]
    indicated = sum(abs(eta - length) for length in lengths if any(abs(length - death) < 1e-12 for death in deaths))
    assert connectivity_loss(points, eta).item() == pytest.approx(indicated, rel=1e-9)


def test_reductions_run_over_clouds() -> None:
    points = gaussian(2, 3, 10, 4)
    each = connectivity_loss(points, branch_reduction="none")
    assert each.shape == (2, 3)
    torch.testing.assert_close(each[1, 2], connectivity_loss(points[1, 2]))
    torch.testing.assert_close(connectivity_loss(points, branch_reduction="sum"), each.sum())
    torch.testing.assert_close(connectivity_loss(points), each.mean())


def test_the_module_splits_branches() -> None:
    latents = gaussian(20, 12)
    by_hand = sum(connectivity_loss(latents[:, 4 * j : 4 * j + 4]) for j in range(3))
    torch.testing.assert_close(ConnectivityLoss(branches=3)(latents), by_hand / 3)
    torch.testing.assert_close(ConnectivityLoss(branches=3, preset="paper")(latents), by_hand)
    assert torch.equal(split_branches(latents, 3)[1], latents[:, 4:8])
    assert "branches=3" in repr(ConnectivityLoss(branches=3))


@pytest.mark.parametrize("reduction", ["sum", "mean", "none"])
def test_a_sum_that_overflows_is_infinite_without_a_warning(reduction: Literal["sum", "mean", "none"]) -> None:
    line = 2e38 * torch.arange(-1.0, 2)[:, None]
    assert death_times(line).isfinite().all()
    assert connectivity_loss(line[None], branch_reduction=reduction).isinf().all()


def test_a_cloud_of_one_point_costs_nothing() -> None:
    assert connectivity_loss(torch.zeros(3, 1, 2, requires_grad=True)).item() == 0


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_autocast_does_not_round_the_distances(p: float) -> None:
    """p = 1 takes the short way, the others the general one."""
    outside, inside = (gaussian(30, 10, dtype=torch.float32).requires_grad_() for _ in range(2))
    expected = connectivity_loss(outside, p=p)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = connectivity_loss(inside, p=p)
    assert loss.dtype == torch.float32
    assert torch.equal(loss, expected)
    assert torch.equal(torch.autograd.grad(loss, inside)[0], torch.autograd.grad(expected, outside)[0])


def test_descent_reaches_eta() -> None:
    """With nothing else to satisfy, and room to do so, every death time arrives at η."""
    points = gaussian(12, 10, dtype=torch.float32).requires_grad_()
    optimizer = torch.optim.Adam([points], lr=0.05)
    for _ in range(400):
        optimizer.zero_grad()
        connectivity_loss(points, eta=2.0).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.param_groups[0]["lr"] *= 0.99
    assert (death_times(points) - 2).abs().max() < 0.05


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"eta": 0.0}, "eta must be a positive number, not 0.0"),
        ({"eta": float("nan")}, "eta must be a positive number, not nan"),
        ({"eta": float("inf")}, "eta must be a positive number, not inf"),
        ({"eta": torch.tensor(2.0, requires_grad=True)}, "eta must be a positive number, not tensor"),
        ({"branch_reduction": "max"}, "branch_reduction must be .* not 'max'"),
        ({"zero_bars": "ignore"}, "zero_bars must be .* not 'ignore'"),
    ],
)
def test_error_messages(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        connectivity_loss(gaussian(3, 2), **arguments)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"eta": -1.0}, "eta must be a positive number, not -1.0"),
        ({"branches": 0}, "branches must be at least 1, not 0"),
        ({"branches": 2.0}, "branches must be a whole number, not 2.0"),
        ({"branches": None}, "branches must be a whole number, not None"),
        ({"p": 0.5}, "p must be a real number from 1 to infinity, not 0.5"),
        ({"branch_reduction": "max"}, "branch_reduction must be .* not 'max'"),
        ({"zero_bars": "ignore"}, "zero_bars must be .* not 'ignore'"),
    ],
)
def test_a_module_refuses_its_settings_before_it_sees_latents(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ConnectivityLoss(**settings)


def test_branches_are_any_whole_number() -> None:
    latents = gaussian(20, 12)
    loss = ConnectivityLoss(branches=np.int64(3))  # type: ignore[arg-type]
    assert torch.equal(loss(latents), ConnectivityLoss(branches=3)(latents))
    assert repr(loss) == repr(ConnectivityLoss(branches=3))


def test_eta_is_any_number_in_every_norm() -> None:
    points, eta = gaussian(5, 2), Fraction(3, 2)
    for p in (1, 2):
        assert torch.equal(connectivity_loss(points, eta, p), connectivity_loss(points, 1.5, p))  # type: ignore[arg-type]


def test_the_meta_device_computes_shapes() -> None:
    assert connectivity_loss(torch.empty(4, 7, 2, device="meta"), branch_reduction="none").shape == (4,)


def test_an_empty_batch_and_other_types_than_tensors_are_refused() -> None:
    with pytest.raises(ValueError, match=r"b ≥ 1 points .* not \[4, 0, 4\]"):
        ConnectivityLoss(branches=4)(torch.zeros(0, 16))
    with pytest.raises(TypeError, match=r"not ndarray: use torch.as_tensor\(latents\)"):
        ConnectivityLoss()(np.zeros((3, 2)))


@pytest.mark.parametrize(("shape", "branches"), [((3, 4, 5), 2), ((3, 5), 2), ((3, 4), 0)])
def test_latents_that_do_not_split_are_refused(shape: tuple[int, ...], branches: int) -> None:
    with pytest.raises(ValueError, match=f"with {branches} branches, not"):
        split_branches(torch.zeros(shape), branches)


@pytest.mark.parametrize("preset", ["authors", "paper"])
def test_a_preset_means_the_same_for_the_loss_and_for_the_training(preset: str) -> None:
    loss, config = ConnectivityLoss(preset=preset), TrainConfig.preset(preset)
    assert (loss.branch_reduction, loss.zero_bars) == (config.branch_reduction, config.zero_bars)
    expected = {"authors": ("mean", "drop"), "paper": ("sum", "keep")}
    assert (loss.branch_reduction, loss.zero_bars) == expected[preset]


def test_one_default_for_the_function_the_loss_and_the_training() -> None:
    config, latents = TrainConfig(branches=4), gaussian(20, 12).float()
    latents[1] = latents[0]
    by_config = ConnectivityLoss(config.eta, config.branches, config.p, config.branch_reduction, config.zero_bars)
    assert torch.equal(ConnectivityLoss(branches=4)(latents), by_config(latents))
    assert torch.equal(connectivity_loss(split_branches(latents, 4)), by_config(latents))
    with pytest.raises(ValueError, match="preset must be one of authors, paper, got 'ours'"):
        ConnectivityLoss(preset="ours")
