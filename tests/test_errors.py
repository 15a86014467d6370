"""An error about an argument carries the argument's name as data, and gives its sentence under any name."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import corel
from corel._errors import ArgumentError, ArgumentTypeError
from corel.losses import connectivity_loss
from corel.persistence import death_times
from corel.training import TrainConfig


@pytest.mark.parametrize("kind", [ArgumentError, ArgumentTypeError])
def test_the_name_is_data_and_survives_pickling(kind: type[ArgumentError]) -> None:
    error = pickle.loads(pickle.dumps(kind("epochs", "must be at least 1, got 0")))
    assert (type(error), error.argument, str(error)) == (kind, "epochs", "epochs must be at least 1, got 0")
    assert error.called("--epochs") == "--epochs must be at least 1, got 0"


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: TrainConfig(batch_size=1), "batch_size"),
        (lambda: TrainConfig.preset("ours"), "preset"),
        (lambda: corel.images.open(np.zeros((2, 8, 8, 3), np.uint8), size=0), "size"),
        (lambda: corel.images.open(np.zeros((2, 8, 8, 3), np.uint8), split="half"), "split"),
        (lambda: connectivity_loss(torch.zeros(3, 2), eta=0.0), "eta"),
        (lambda: death_times(torch.zeros(3, 2), p=0.5), "p"),
        (lambda: death_times(torch.zeros(3, dtype=torch.int64)), "points"),
    ],
)
def test_the_library_says_which_argument_is_wrong(call: Callable[[], Any], argument: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{argument} ") as caught:
        call()
    assert caught.value.argument == argument
