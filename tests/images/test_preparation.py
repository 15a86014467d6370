"""How an image becomes an encoder's input: the rules, what is stored of them, and the values they refuse."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from corel import images
from corel.images import Preparation, Rows

RNG = np.random.default_rng(0)


def gradient(width: int, height: int) -> Image.Image:
    """Red grows to the right, green downward."""
    red, green = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    return Image.fromarray(np.stack([red, green, 0 * red], axis=-1).astype(np.uint8))


def test_crop_keeps_the_aspect_ratio_and_the_center() -> None:
    wide = gradient(90, 30)
    (cropped,) = images.open(wide, preparation=Preparation(30, "crop")).pixels
    np.testing.assert_array_equal(cropped, np.asarray(wide)[:, 30:60])
    (stretched,) = images.open(wide, size=30).pixels
    assert stretched[0, -1, 0] > 245  # the right end is there
    assert cropped[0, -1, 0] < 175


@pytest.mark.parametrize("shape", [(300, 280), (257, 400), (600, 256)])
def test_crop_after_a_longer_side_is_resize_then_center_crop(shape: tuple[int, int]) -> None:
    picture, how = gradient(*shape), Preparation(224, "crop", "bicubic", shorter=256)
    scale = 256 / min(shape)
    resized = picture.resize((round(shape[0] * scale), round(shape[1] * scale)), Image.Resampling.BICUBIC)
    left, top = (resized.width - 224) // 2, (resized.height - 224) // 2
    expected = np.asarray(resized.crop((left, top, left + 224, top + 224)))
    (found,) = images.open(picture, preparation=how).pixels
    assert np.abs(found.astype(int) - expected).max() <= 2  # ours does not round the corner to a pixel


def test_a_long_strip_is_never_enlarged_as_a_whole() -> None:
    strip = Image.new("RGB", (60_000, 1), "red")
    (found,) = images.open(strip, preparation=Preparation(64, "crop", shorter=72)).pixels
    assert (found == [255, 0, 0]).all()


def test_draft_reads_large_jpegs_at_a_fraction_and_comes_close() -> None:
    out = io.BytesIO()
    gradient(2000, 1600).save(out, "JPEG", quality=95)
    plain, fast = (
        images.open(out.getvalue(), preparation=Preparation(32, draft=draft)).pixels.astype(int)
        for draft in (False, True)
    )
    assert 0 < np.abs(plain - fast).max() <= 4


def test_normalized_is_the_same_for_arrays_and_tensors() -> None:
    how = Preparation(4, mean=(0.485, 0.456, 0.406), deviation=(0.229, 0.224, 0.225))
    values = RNG.random((2, 3, 4, 4)).astype(np.float32)
    expected = (values - np.array(how.mean).reshape(1, 3, 1, 1)) / np.array(how.deviation).reshape(1, 3, 1, 1)
    np.testing.assert_allclose(how.normalized(values), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(how.normalized(torch.from_numpy(values)).numpy(), expected, rtol=1e-5, atol=1e-6)
    assert Preparation(4).normalized(values) is values


@pytest.mark.parametrize(
    "how",
    [
        Preparation(32),
        Preparation(224, "crop", "bicubic", shorter=256, mean=(0.1, 0.2, 0.3), deviation=(1, 1, 2), draft=True),
        Rows(7),
    ],
)
def test_what_is_stored_is_read_back_through_json(how: Preparation | Rows) -> None:
    assert images.from_document(json.loads(json.dumps(how.document()))) == how


def test_only_what_differs_from_the_default_is_stored() -> None:
    assert Preparation(48).document() == {"size": 48}
    assert Preparation(48, "crop").document() == {"size": 48, "resize": "crop"}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"size": 0}, "size must be"),
        ({"resize": "pad"}, "resize must be one of stretch, crop, got 'pad'"),
        ({"interpolation": "cubic"}, "interpolation must be one of"),
        ({"shorter": 40}, "shorter is for resize='crop'"),
        ({"resize": "crop", "shorter": 20}, "at least size=32"),
        ({"mean": (0, 0, 0)}, "go together"),
        ({"mean": (0, 0, 0), "deviation": (1, 0, 1)}, "a deviation positive"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Preparation(**settings)
