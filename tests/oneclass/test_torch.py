"""The path for other devices, run on CPU tensors: equal to the CPU kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from corel.oneclass import ClassBank, _torch
from corel.oneclass._checks import computing_device
from corel.oneclass._contrast import exponential
from corel.oneclass._kernel import Classes


@pytest.mark.parametrize("cells", [1, 5000, 1 << 24])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("score", ["count", "contrast"])
def test_equals_the_cpu_kernels(
    monkeypatch: pytest.MonkeyPatch, cells: int, dtype: type[np.floating[Any]], score: str
) -> None:
    monkeypatch.setattr(_torch, "CELLS", cells)
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(m, 36)).astype(dtype) for m in (12, 0, 30)]
    setting = {"branches": 18, "radius": 2.0, "background": rng.normal(size=(60, 36)), "method": score}
    bank, z = ClassBank.of(bags, **setting), rng.normal(size=(8, 36)).astype(dtype)
    expected = bank.assess(z)
    monkeypatch.setattr("corel.oneclass._bank.computing_device", lambda z: torch.device("cpu"))
    found = bank.assess(torch.from_numpy(z))
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-12 if score == "contrast" else 0)
    np.testing.assert_array_equal(found.p_values, expected.p_values)
    np.testing.assert_array_equal(bank.scores(torch.from_numpy(z)), found.scores)
    assert len(np.unique(expected.p_values)) > 5


def test_no_points_give_no_rows() -> None:
    columns, offsets, points = np.zeros((2, 3, 4)), np.array([0, 1, 4]), torch.zeros(0, 2, 3, dtype=torch.float64)
    window = exponential(1.0, np.float64)
    assert _torch.mass(points, columns, window).shape == (0, 2)
    assert _torch.score(points, np.ones((0, 2)), Classes(columns, offsets, window, True)).shape == (0, 2)


def test_an_accelerator_that_holds_the_points_scores_them() -> None:
    assert computing_device(torch.empty(1, device="meta")) == torch.device("meta")
    assert computing_device(torch.empty(1)) is None
    assert computing_device([[0.0]]) is None


def test_points_with_gradients_are_scored() -> None:
    bank = ClassBank.of([np.zeros((1, 2), np.float32)], branches=1, radius=1.0)
    assert bank.scores(torch.zeros(3, 2, requires_grad=True)).tolist() == [[1.0]] * 3
