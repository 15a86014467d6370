from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.interpolate import RegularGridInterpolator

import corel
from corel.cli import app
from corel.finding import Found, find_class


@pytest.fixture(scope="module")
def backbone() -> corel.Backbone:
    return corel.Backbone.load()


def scene(seed: int = 0) -> NDArray[np.uint8]:
    """A dark photograph with a striped patch, 160 × 120 pixels; the patch is at 80…150, 30…100."""
    generator = np.random.default_rng(seed)
    photo = generator.integers(0, 25, (120, 160, 3), np.uint8)
    stripes = np.where(np.arange(70) % 8 < 4, 220, 120).astype(np.uint8)
    photo[30:100, 80:150] = stripes[:, None, None] + generator.integers(0, 25, (70, 70, 3), np.uint8)
    return photo


def test_the_marked_thing_is_found_and_the_rest_is_not(backbone: corel.Backbone) -> None:
    (found,) = corel.find(scene(), (82, 32, 66, 66), backbone=backbone)
    values = found.at_pixels()
    assert values[60:70, 110:120].min() > 0.05
    assert values[:20, :60].max() <= 0.05
    (box,) = found.boxes()
    assert 60 < box.left < 110
    assert 10 < box.top < 60


def test_the_thing_is_found_in_other_photographs_of_any_kind(backbone: corel.Backbone, tmp_path: Path) -> None:
    Image.fromarray(scene(1)[::-1, ::-1]).save(tmp_path / "other.png")
    data = (tmp_path / "other.png").read_bytes()
    with Image.open(tmp_path / "other.png") as picture:
        others = [tmp_path / "other.png", data, io.BytesIO(data), picture, scene(1)[::-1, ::-1]]
        first, *rest = corel.find(scene(), (82, 32, 66, 66), others=others, backbone=backbone)
    assert first.marked == (82, 32, 66, 66)
    for found in rest:
        np.testing.assert_array_equal(found.p_values, rest[0].p_values)
    assert rest[0].at_pixels()[50:60, 40:50].min() > 0.05


def test_several_scales_give_the_largest_p_value(backbone: corel.Backbone) -> None:
    (found,) = corel.find(scene(), (82, 32, 66, 66), backbone=backbone, scales=(1, 1.5))
    assert found.p_values.shape == (len(found.rows), len(found.columns))
    assert found.at_pixels()[60:70, 110:120].min() > 0.05


def test_a_class_of_a_gallery_is_found(backbone: corel.Backbone, tmp_path: Path) -> None:
    from corel.finding import windows_in

    with corel.Gallery.open(tmp_path / "a.gallery", backbone, create=True) as gallery:
        gallery.enroll("stripes", windows_in(scene(), (82, 32, 66, 66), 60, size=32, sides=[32]))
        (found,) = find_class(gallery, "stripes", [scene(2)])
    assert found.at_pixels()[60:70, 110:120].min() > 0.05
    assert found.at_pixels()[:20, :60].max() <= 0.05


def test_pixels_are_interpolated_between_the_centers_of_windows() -> None:
    generator = np.random.default_rng(0)
    rows, columns = np.array([4.0, 9, 15]), np.array([4.0, 8, 20, 26])
    found = Found("a", np.zeros((20, 30, 3), np.uint8), generator.random((3, 4)), rows, columns)
    oracle = RegularGridInterpolator((rows, columns), found.p_values)
    y, x = np.mgrid[:20, :30] + 0.5
    expected = oracle((np.clip(y, 4, 15), np.clip(x, 4, 26)))
    np.testing.assert_allclose(found.at_pixels(), expected, atol=1e-6)


def checkered(height: int, width: int, pattern: NDArray[np.float64]) -> Found:
    """A photograph in which the thing is where the pattern is above the rate."""
    photo = np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)
    rows, columns = (
        np.linspace(10, length - 10, count) for length, count in zip(photo.shape[:2], pattern.shape, strict=True)
    )
    return Found("a", photo, pattern, rows, columns, marked=(5, 5, 20, 20))


def test_pictures_do_not_depend_on_how_many_rows_are_drawn_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found = checkered(150, 200, np.random.default_rng(1).random((6, 9)) / 8)
    whole, mask = np.asarray(found.overlay()), found.mask()
    np.testing.assert_array_equal(mask, found.at_pixels() > 0.05)
    monkeypatch.setattr("corel.finding._found.BAND", 1400)
    np.testing.assert_array_equal(np.asarray(found.overlay()), whole)
    np.testing.assert_array_equal(found.mask(), mask)


def test_boxes_of_a_large_photograph_are_those_of_a_small_one() -> None:
    pattern = np.zeros((30, 40))
    pattern[5:12, 8:20] = pattern[20:25, 30:34] = 0.5
    small, large = checkered(600, 800, pattern).boxes(), checkered(3600, 4800, pattern).boxes()
    assert len(small) == len(large) == 2
    for one, other in zip(small, large, strict=True):
        np.testing.assert_allclose(np.array(other[:4]) / 6, one[:4], atol=6)
        assert other.p_value == one.p_value == 0.5


def test_drawing_a_large_photograph_takes_less_memory_than_another_copy() -> None:
    found = checkered(2000, 3000, np.random.default_rng(1).random((20, 30)) / 8)
    tracemalloc.start()
    found.mask(), found.boxes(), found.overlay()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * found.photo.nbytes  # of numpy; Pillow holds the picture itself


def test_a_photograph_above_pillows_own_limit_is_read_without_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    Image.fromarray(scene()).save(file, "PNG")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", scene()[..., 0].size - 1)
    np.testing.assert_array_equal(corel.images.read_photo(file.getvalue()), scene())


@pytest.mark.parametrize("bad", [b"", b"no photograph", np.zeros((2, 3, 4, 5), np.uint8)])
def test_other_input_than_a_photograph_is_a_clear_error(bad: object, backbone: corel.Backbone) -> None:
    with pytest.raises(ValueError, match="photograph"):
        corel.find(bad, (0, 0, 40, 40), backbone=backbone)


def test_the_command_writes_overlay_mask_and_boxes(
    backbone: corel.Backbone, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backbone.save(tmp_path / "small.safetensors")
    for k in (1, 2):
        Image.fromarray(scene(k)).save(tmp_path / f"{k}.png")
    common = [str(tmp_path / "1.png"), "--box", "82,32,66,66", "--backbone", str(tmp_path / "small.safetensors"), "-q"]
    run(["find", *common, "--in", str(tmp_path / "2.png"), "--out", str(tmp_path / "found.png")])
    assert pixels(tmp_path / "found.png").shape == pixels(tmp_path / "found-2.png").shape == (120, 160, 3)
    run(["find", *common, "--out", str(tmp_path / "found.png")])  # an earlier result may be replaced
    run(["find", *common, "--as", "mask", "--out", str(tmp_path / "mask.png")])
    assert pixels(tmp_path / "mask.png")[65, 115].all()
    run(["find", *common, "--out", str(tmp_path / "found.json")])
    (entry,) = json.loads((tmp_path / "found.json").read_text())
    assert entry["boxes"][0].keys() == {"left", "top", "width", "height", "p_value"}


def test_no_photograph_is_replaced_by_what_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("1.png", "2.png", "out-2.png"):
        Image.fromarray(scene()).save(name)
    before = Path("out-2.png").read_bytes()
    with pytest.raises(SystemExit):
        app(["find", "1.png", "--box", "0,0,40,40", "--in", "2.png", "--out", "out.png"])
    assert "out-2.png is a PNG image, and a PNG figure would replace it" in capsys.readouterr().err
    assert Path("out-2.png").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "look for what"),
        (["--box", "1,2,3"], "four whole numbers"),
        (["--box", "1,2,3,x"], "four whole numbers"),
        (["--box", "500,0,40,40"], "does not lie in the photograph"),
        (["--gallery", "g"], "look for what"),
        (["--box", "0,0,40,40", "--out", "1.png"], "would replace"),
        (["--box", "0,0,40,40", "--out", "x.jpg"], "name x.png"),
    ],
)
def test_mistakes_get_one_sentence_and_leave_everything_as_it_was(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    photo = tmp_path / "1.png"
    Image.fromarray(scene()).save(photo)
    before = photo.read_bytes()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        app(["find", "1.png", *arguments])
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == [photo]
    assert photo.read_bytes() == before


def pixels(path: Path) -> NDArray[np.uint8]:
    return corel.images.read_photo(path)


def run(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        app(arguments)
    assert not stopped.value.code


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"scales": (1, 0.01)}, "scales must give windows of at least 8 pixels, but 0.01 times 32 pixels is 0"),
        ({"scales": (0.2,), "window": 20}, "scales must give windows of at least 8 pixels, but 0.2 times 20 pixels"),
        ({"scales": ()}, "scales must be one or more positive numbers"),
        ({"scales": (float("nan"),)}, "scales must be one or more positive numbers"),
        ({"scales": (1, float("inf"))}, "scales must be one or more positive numbers"),
        ({"examples": 0}, "examples must be at least 1, one for each side of a window, got 0"),
        ({"examples": -3}, "examples must be at least 1"),
        ({"examples": 1, "scales": (1, 1.5)}, "examples must be at least 2"),
    ],
)
def test_windows_that_cannot_be_drawn_are_refused(
    options: dict[str, object], sentence: str, backbone: corel.Backbone
) -> None:
    with pytest.raises(ValueError, match=sentence):
        corel.find(scene(), (82, 32, 66, 66), backbone=backbone, **options)  # type: ignore[arg-type]


def test_scales_may_be_an_array_and_one_example_is_enough(backbone: corel.Backbone) -> None:
    (found,) = corel.find(scene(), (82, 32, 66, 66), backbone=backbone, scales=np.array([1.0]), examples=1)  # type: ignore[arg-type]
    assert found.p_values.shape == (len(found.rows), len(found.columns))
