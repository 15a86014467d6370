"""How corel notices what torch tells only by private names; `tests/losses/test_fused_l1.py` has the fast path's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from corel._compute.torch_internals import change_count
from corel.backbone import Backbone


def test_a_tensor_that_was_changed_in_place_has_another_count() -> None:
    tensor = torch.zeros(3)
    before = change_count(tensor)
    assert change_count(tensor) == before
    tensor.add_(1)
    assert change_count(tensor) != before


def test_a_tensor_made_in_inference_mode_counts_as_changed() -> None:
    with torch.inference_mode():
        tensor = torch.zeros(3)
    assert change_count(tensor) != change_count(tensor)


@pytest.mark.parametrize("loading", [torch.inference_mode, torch.no_grad])
def test_a_backbone_encodes_alike_wherever_it_was_loaded(loading: type) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    expected = Backbone.load().encode(pixels)
    with loading():
        loaded = Backbone.load()
        inside = loaded.encode(pixels)
    np.testing.assert_array_equal(inside, expected)
    np.testing.assert_array_equal(loaded.encode(pixels), expected)
