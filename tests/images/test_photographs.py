"""Frames without a subject are told from images of something."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import corel.images
from corel.images import measure_lacks, measure_traits, photographic

RNG = np.random.default_rng(0)
Pixels = NDArray[np.uint8]


def frames(size: int) -> dict[str, Pixels]:
    white = RNG.normal(128, 40, (20, size, size, 3))
    return {
        "black": np.zeros((20, size, size, 3), np.uint8),
        "one color": np.broadcast_to(RNG.integers(0, 256, (20, 1, 1, 3)), (20, size, size, 3)).astype(np.uint8),
        "noise": white.clip(0, 255).astype(np.uint8),
        "dots": RNG.choice([0, 255], (20, size, size, 1)).repeat(3, axis=3).astype(np.uint8),
        "lens cap": RNG.normal(6, 4, (20, size, size, 3)).clip(0, 255).astype(np.uint8),
        "gradient": np.broadcast_to(np.linspace(0, 255, size)[:, None], (20, size, size, 3)).astype(np.uint8),
    }


@pytest.mark.parametrize("size", [32, 100, 224])
def test_blank_flat_and_noise_frames_are_not_photographs(size: int) -> None:
    for name, pixels in frames(size).items():
        assert not photographic(pixels).any(), name


@pytest.mark.parametrize("size", [32, 96])
def test_digits_count_as_photographs(size: int) -> None:
    assert photographic(corel.images.open("digits", size=size).pixels).mean() >= 0.99


def test_a_photograph_is_recognized_at_every_size() -> None:
    from sklearn.datasets import load_sample_images

    for photo in load_sample_images().images:
        for size in (32, 64, 224, 400):
            assert photographic(np.asarray(Image.fromarray(photo).resize((size, size)))[None]).all()


def test_images_of_a_few_pixels_always_pass() -> None:
    assert photographic(np.zeros((3, 16, 16, 3), np.uint8)).all()
    assert photographic(np.zeros((0, 32, 32, 3), np.uint8)).shape == (0,)


def test_large_images_are_averaged_over_areas() -> None:
    pixels = RNG.integers(0, 256, (2, 96, 64, 3)).astype(np.uint8)
    means = pixels.mean(axis=3).reshape(2, 32, 3, 32, 2).mean(axis=(2, 4))
    np.testing.assert_allclose(measure_traits(pixels).contrast, means.std(axis=(1, 2)), rtol=1e-4)


def test_lacks_are_one_for_a_frame_without_any_structure() -> None:
    noise = RNG.integers(0, 256, (50, 32, 32, 3)).astype(np.uint8)
    black = np.maximum(measure_lacks(np.zeros((2, 32, 32, 3), np.uint8)), 0)
    np.testing.assert_array_equal(black, [[1, 1, 1, 0]] * 2)
    np.testing.assert_allclose(measure_lacks(noise)[:, 1].mean(), 1, atol=0.02)  # neighbors do not agree at all
    np.testing.assert_array_equal((measure_lacks(noise) <= 0).all(axis=1), photographic(noise))
