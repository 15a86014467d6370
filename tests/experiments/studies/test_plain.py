"""The study of plain surfaces measures what a gallery decides."""

from __future__ import annotations

import numpy as np
import pytest

import corel.images
from corel.gallery import BlankTest
from experiments.studies.plain import measured, windows_of


@pytest.mark.parametrize("count", [0, 30, 120])
def test_lacks_measured_once_decide_as_a_gallery_does(count: int) -> None:
    from sklearn.datasets import load_sample_image

    photo, rng = load_sample_image("china.jpg"), np.random.default_rng(0)
    windows, frames = windows_of(photo, 200, rng), rng.integers(0, 256, (5, 32, 32, 3)).astype(np.uint8)
    asked, exemplars = np.concatenate([windows[120:], frames]), windows[:count]
    shown = BlankTest.of_images(exemplars).photographic(asked)
    np.testing.assert_array_equal(shown, ~corel.images.lack_more(measured(asked).new, measured(exemplars).exemplars))
    assert (
        count == 30 or not shown.all()
    )  # 30 windows of sky and pagoda are too unlike each other to move a limit little
