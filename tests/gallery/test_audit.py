"""The audit of exemplars: what does not belong is found, what does is left alone, and tests keep their level."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from PIL import Image

import corel.images
from corel.backbone import Backbone
from corel.gallery import Exemplar, Gallery
from corel.gallery._duplicates import near_duplicates
from corel.gallery._items import thumbnail
from corel.gallery._later_enrollments import FEWEST, compare_enrollments
from corel.images import ImageSet
from corel.oneclass import ClassBank

from .test_gallery import Pixels, colored, make_backbone


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return make_backbone(0)


@pytest.fixture
def gallery(tmp_path: Path, backbone: Backbone) -> Gallery:
    """Red images with a green and a blue one among them; green ones."""
    opened = Gallery.open(tmp_path / "g", backbone, create=True)
    wrong = np.concatenate([colored(0, 30, 1), colored(1, 1, 7), colored(2, 1, 8)])
    opened.enroll("red", named(wrong, "reds"))
    opened.enroll("green", named(colored(1, 30, 2), "greens"))
    return opened


def named(pixels: Pixels, folder: str) -> ImageSet:
    return ImageSet(pixels, None, (), [f"{folder}/{i}.png" for i in range(len(pixels))], folder)


def test_planted_exemplars_come_first_and_their_own_class_is_named(gallery: Gallery) -> None:
    found = gallery.audit()
    first, second = sorted(found.fits[:2], key=lambda each: each.exemplar.source)
    assert (first.exemplar.source, first.likelier, first.odd) == ("reds/30.png", "green", True)
    assert (second.exemplar.source, second.background, second.odd) == ("reds/31.png", True, True)
    assert {first.position, second.position} == {1, 2}
    assert not found.duplicates
    usual = [each for each in found.fits if each.gap < 0]
    assert not any(each.likelier or each.background for each in usual)
    assert len(found.fits) == 62
    of_red = [each for each in found.fits if each.exemplar.name == "red"]
    alone = gallery.ranked("red")
    assert [each.exemplar.hash for each in alone] == [each.exemplar.hash for each in of_red]
    assert [(each.score, each.gap, each.odd) for each in alone] == [(each.score, each.gap, each.odd) for each in of_red]


def test_scores_and_gaps_are_those_of_the_definition(gallery: Gallery, backbone: Backbone) -> None:
    latents = gallery.compared("red")
    # A class's score with one more point, far from all: the exemplar's own copy stands for it in the constant.
    bank = ClassBank.of([latents], branches=4, radius=backbone.eta, background=backbone.background)
    scores = bank.leave_one_out()
    deviation = 1.4826 * np.median(np.abs(scores - np.median(scores)))
    fits = gallery.audit("red").fits
    np.testing.assert_allclose([each.score for each in fits], np.sort(scores))
    np.testing.assert_allclose([each.gap for each in fits], (np.median(scores) - np.sort(scores)) / deviation)
    assert [each.position for each in fits] == list(range(1, 33))


def test_audit_of_a_class_of_one_and_of_equal_exemplars(tmp_path: Path, backbone: Backbone) -> None:
    with Gallery.open(tmp_path / "one", backbone, create=True) as opened:
        opened.enroll("one", colored(0, 1, 1))
        (only,) = opened.audit("one").fits
        assert (only.gap, only.odd, only.position) == (0.0, False, 1)


def test_only_copies_are_found_and_across_classes_too() -> None:
    digits = corel.images.open("digits").pixels[:300]
    exemplars = [pictured("digit", i, pixels) for i, pixels in enumerate(digits)]
    rows = np.zeros((310, 2), np.float32)
    assert len(near_duplicates(exemplars, rows[:300], {"digit"})) <= 2  # some ones are lines of the same slope
    copies = [pictured("copy", i, recompressed(digits[i])) for i in range(0, 100, 10)]
    found = near_duplicates([*exemplars, *copies], rows, {"copy"})
    assert sorted(int(each.one.hash) for each in found) == list(range(0, 100, 10))
    assert all((each.one.hash, each.other.name) == (each.other.hash, "copy") for each in found)
    assert not near_duplicates([*exemplars, *copies], rows, {"other"})


def test_vectors_are_compared_as_they_are() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    rows[7] = rows[3] + 0.001
    exemplars = [replace(exemplar(""), hash=str(i)) for i in range(50)]
    (pair,) = near_duplicates(exemplars, rows, {"a"})
    assert (pair.one.hash, pair.other.hash) == ("3", "7")


def pictured(name: str, number: int, pixels: Pixels) -> Exemplar:
    return replace(exemplar(""), name=name, hash=str(number), thumbnail=thumbnail(pixels))


def recompressed(pixels: Pixels) -> Pixels:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=50)
    return np.asarray(Image.open(file))


def test_an_enrollment_of_different_images_has_a_small_p_value(
    tmp_path: Path, backbone: Backbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gallery.open(tmp_path / "g", backbone, create=True) as opened:
        for hue, seed in ((0, 1), (0, 2), (2, 3)):
            monkeypatch.setattr("corel.gallery._gallery.datetime", Mock(now=lambda _, day=seed: datetime(2026, 1, day)))
            opened.enroll("red", colored(hue, 20, seed))
        same, other = opened.audit("red").later
    assert (same.count, same.earlier, other.count, other.earlier) == (20, 20, 20, 40)
    assert same.p_value > 0.05
    assert other.p_value == 1 / 1000


def test_the_test_of_enrollments_keeps_its_level() -> None:
    random = np.random.default_rng(0)
    p_values = []
    for _ in range(300):
        rows = random.standard_normal((24, 4)).astype(np.float32)
        rows[::3] = rows[1::3]  # ties
        bank = ClassBank.of(
            [random.permutation(rows)], branches=2, radius=2.0, background=random.standard_normal((50, 4))
        )
        times = ["1"] * 14 + ["2"] * 10
        (later,) = compare_enrollments(bank, 0, [exemplar(time) for time in times])
        p_values.append(later.p_value)
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(p_values) <= level) <= level + 3 * np.sqrt(level * (1 - level) / 300)


def exemplar(time: str) -> Exemplar:
    return Exemplar("a", "", "", time, np.zeros(4, np.float32), None)


def test_enrollments_too_small_to_test_count_with_the_one_before() -> None:
    bank = ClassBank.of([np.random.default_rng(0).standard_normal((12, 2))], branches=1, radius=2.0)
    times = ["1"] * 2 + ["2"] * FEWEST + ["3"] * 2 + ["4"] * 3
    assert compare_enrollments(bank, 0, [exemplar(time) for time in times]) == []


def test_forget_takes_a_file_s_name_or_a_position(gallery: Gallery) -> None:
    worst = {each.exemplar.hash for each in gallery.audit("red").fits[:2]}
    assert gallery.forget("red", [1, 2]) == 2
    assert not worst & {each.hash for each in gallery.exemplars("red")}
    assert gallery.forget("red", ["3.png", "reds/4.png"]) == 2
    left = [each.source for each in gallery.exemplars("red")]
    assert left == [f"reds/{i}.png" for i in range(30) if i not in (3, 4)]


@pytest.mark.parametrize(
    "which", [1, np.int64(1), [np.int64(1)], np.array([1]), "30.png", Path("reds/30.png"), [Path("30.png")], iter([1])]
)
def test_forget_takes_one_name_or_position_of_any_type(gallery: Gallery, which: Any) -> None:
    gallery.forget("red", ["31.png"])
    assert gallery.forget("red", which) == 1
    assert "reds/30.png" not in {each.source for each in gallery.exemplars("red")}


@pytest.mark.parametrize("which", [1.0, [None], [b"30.png"]])
def test_forget_refuses_what_is_neither_a_name_nor_a_position(gallery: Gallery, which: Any) -> None:
    with pytest.raises(TypeError, match="which must be names of files, beginnings of hashes, or positions from 1, not"):
        gallery.forget("red", which)
    assert gallery.classes() == {"green": 30, "red": 32}


@pytest.mark.parametrize(
    ("which", "sentence"),
    [
        ([0], "position 0, .* 1 to 32"),
        ([1, 33], "position 33"),
        (["99.png"], "'99.png' is neither the file of an exemplar"),
        (["reds"], "is neither the file of an exemplar"),
        ([1, "eds/3.png"], "is neither the file of an exemplar"),
        ([""], "at least 6 letters"),
    ],
)
def test_a_wrong_choice_forgets_nothing(gallery: Gallery, which: list[str | int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        gallery.forget("red", which)
    assert gallery.classes() == {"green": 30, "red": 32}


def test_a_name_that_two_exemplars_have_is_refused(gallery: Gallery) -> None:
    gallery.enroll("red", replace(named(colored(0, 1, 77), "more"), names=["more/3.png"]))
    with pytest.raises(ValueError, match=r"'3.png' matches 2 exemplars; name one by its hash"):
        gallery.forget("red", ["3.png"])
    assert gallery.forget("red", ["more/3.png"]) == 1


Change = Callable[[Gallery], object]


@pytest.mark.parametrize(
    "change",
    [
        lambda other: other.enroll("green", colored(1, 2, 90)),
        lambda other: other.forget("green", [1]),
        lambda other: other.rename("green", "lime"),
        lambda other: other.forget("green"),
    ],
)
def test_an_audit_survives_a_change_while_it_reads(
    gallery: Gallery, backbone: Backbone, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process changes a class after the audit has read which exemplars there are, and before it reads them."""
    given, changes, bank = gallery.audit("red"), [change], gallery._bank

    def changed() -> Any:
        kept = bank()
        with Gallery.open(gallery._store.path, backbone) as other:
            while changes:
                changes.pop()(other)
        return kept

    monkeypatch.setattr(gallery, "_bank", changed)
    found = gallery.audit("red")
    assert [each.exemplar.hash for each in found.fits] == [each.exemplar.hash for each in given.fits]


def test_a_class_that_changes_all_the_time_is_not_audited(
    gallery: Gallery, backbone: Backbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = gallery._bank

    def changed() -> Any:
        kept = bank()
        gallery.forget("green", gallery.hashes()["green"][:1])
        return kept

    monkeypatch.setattr(gallery, "_bank", changed)
    with pytest.raises(ValueError, match="'green' was changed meanwhile; ask again"):
        gallery.audit("red")
