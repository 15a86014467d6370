"""Names, roots, splits and sizes; and what an `ImageSet` promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corel import images
from corel.images import ImageSet
from corel.images._user_folders import cache_folder, data_folder
from corel.images.known.catalog import CATALOG, SIZES
from corel.images.known.registry import KNOWN, NAMES
from tests.images.known.test_cifar import write_cifar10


def test_root_then_variable_then_cache(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_cifar10(cache / "data", binary=True, per_batch=10)
    assert len(images.open("cifar10")) == 50
    write_cifar10(tmp_path / "variable", binary=True, per_batch=20)
    monkeypatch.setenv("COREL_DATA", str(tmp_path / "variable"))
    assert len(images.open("cifar10")) == 100
    write_cifar10(tmp_path / "root", binary=True, per_batch=30)
    assert len(images.open("cifar10", root=tmp_path / "root")) == 150


COLORS = np.zeros((3, 9, 7), np.uint8)


def saved(array: np.ndarray[Any, Any], name: str) -> Callable[[Path], Path]:
    def save(folder: Path) -> Path:
        (np.save if name.endswith(".npy") else np.savez)(folder / name, array)
        return folder / name

    return save


FORMS: list[Callable[[np.ndarray[Any, Any]], Callable[[Path], Any]]] = [
    lambda array: lambda _: array,
    lambda array: saved(array, "a.npy"),
    lambda array: saved(array, "a.npz"),
    lambda array: lambda folder: [saved(array, "a.npy")(folder)],
]


@pytest.mark.parametrize("form", FORMS)
def test_three_gray_images_that_may_be_one_color_image_are_refused(form: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"shape \[3, 9, 7\]; give a color image as \[h, w, 3\] or \[1, 3, h, w\]"):
        images.open(form(COLORS)(tmp_path))
    clear = (COLORS[None], np.moveaxis(COLORS, 0, 2), COLORS[..., None], COLORS[:2])
    counts = [len(images.open(form(each)(tmp_path))) for each in clear]
    assert counts == [1, 1, 3, 2]


def test_labels_say_how_many_images_an_array_holds(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", images=COLORS, labels=np.arange(3))
    assert len(images.open(tmp_path / "a.npz")) == len(images.open((COLORS, [0, 1, 2]))) == 3


@pytest.mark.parametrize("read", [images.open, lambda url: images.find_files([url], exist=True)])
def test_a_url_is_named_as_it_was_given(read: Callable[[str], object]) -> None:
    url = "https://example.org/cat.jpg"
    with pytest.raises(FileNotFoundError, match=f"'{url}'; URLs are not read: download it"):
        read(url)


def test_a_document_named_by_its_path_is_called_that(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_text("%PDF-1.4")
    for source in (tmp_path / "a.pdf", [tmp_path / "a.pdf"]):
        with pytest.raises(ValueError, match=r"a\.pdf is PDF, which is not read; convert it to PNG or JPEG"):
            images.open(source)


def test_cache_folder_follows_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COREL_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "corel"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert data_folder() == tmp_path / "xdg" / "corel" / "data"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "corel"


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_known_name_that_is_not_there_says_what_to_run(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"{name} is not in .*corel data fetch {name}"):
        images.open(name, root=tmp_path)


def test_every_name_has_a_size_and_a_source() -> None:
    assert set(SIZES) == set(NAMES)
    assert set(NAMES) - set(CATALOG) == {"imagenet", "digits"}


def test_mistyped_name_is_guessed() -> None:
    with pytest.raises(FileNotFoundError, match="did you mean 'cifar10'"):
        images.open("cifar-10")
    with pytest.raises(FileNotFoundError, match="known names are cifar10"):
        images.open("nowhere")
    for path in ("/nowhere/at/all", "nowhere.png", Path("nowhere")):
        with pytest.raises(FileNotFoundError, match=r"; check the path$"):
            images.open(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.svg").touch()
    with pytest.raises(ValueError, match=r"a\.svg is SVG, which is not read"):
        images.open(tmp_path / "a.svg")


@pytest.mark.parametrize(("option", "value"), [("split", "training"), ("size", 0)])
def test_impossible_options_are_clear_errors(option: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"{option} must be .*{value}"):
        images.open("digits", **{option: value})  # type: ignore[arg-type]


def test_take_follows_indices_and_masks() -> None:
    digits = images.open("digits", "test", size=8)
    chosen = digits.take([5, 2, 5])
    assert np.array_equal(chosen.pixels, digits.pixels[[5, 2, 5]])
    assert np.array_equal(chosen.labels, digits.labels[[5, 2, 5]])  # type: ignore[index, arg-type]
    assert chosen.names == [digits.names[i] for i in (5, 2, 5)]
    assert len(digits.take(digits.labels == 3)) == (digits.labels == 3).sum()  # type: ignore[union-attr]
    assert len(digits.take([])) == 0


@pytest.mark.parametrize(
    ("pixels", "labels", "names", "message"),
    [
        (np.zeros((2, 8, 8, 3)), None, "ab", "pixels must be uint8"),
        (np.zeros((2, 8, 9, 3), np.uint8), None, "ab", "pixels must be uint8"),
        (np.zeros((2, 8, 8, 3), np.uint8), None, "abc", "names must be one for each of 2 images"),
        (np.zeros((2, 8, 8, 3), np.uint8), np.array([0]), "ab", "labels must be \\[2\\]"),
        (np.zeros((2, 8, 8, 3), np.uint8), np.array([0, 2]), "ab", "labels run from 0 to 2"),
        (np.zeros((2, 8, 8, 3), np.uint8), np.array([0, -1]), "ab", "labels run from -1 to 0"),
    ],
)
def test_image_set_refuses_what_does_not_fit(pixels: np.ndarray, labels: np.ndarray, names: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ImageSet(pixels, labels, ("ant", "bee"), names, "here")
