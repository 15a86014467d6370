"""Verdicts with a confidence, and strangers selected among many images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from corel.backbone import Backbone
from corel.gallery import Gallery, Selection
from corel.gallery._assessment import split_scores
from corel.oneclass import ClassBank, Split, strict_limit

from .test_gallery import colored, make_backbone


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return make_backbone(0)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, backbone: Backbone) -> Path:
    path = tmp_path_factory.mktemp("many") / "hues.gallery"
    with Gallery.open(path, backbone, create=True) as gallery:
        gallery.enroll("red", colored(0, 80, 1))
        gallery.enroll("green", colored(1, 60, 2))
    return path


def test_scores_of_a_split_are_those_of_the_exemplars_by_hash(path: Path, backbone: Backbone) -> None:
    images = colored(0, 9, 3)
    with Gallery.open(path, backbone) as gallery:
        found, split = gallery.score(images, held_out=60), gallery.split(60)
        hashes = [each.hash for name in gallery.classes() for each in gallery.exemplars(name)]
        bank = gallery._bank().bank
        assert len(gallery.split().calibration) == 70
    expected = Split.of(bank, hashes, 60)
    rows = backbone.encode(images)
    assert found.held_out is not None
    np.testing.assert_array_equal(found.held_out.calibration, expected.calibration)
    np.testing.assert_array_equal(found.held_out.scores, split.scores(rows))
    np.testing.assert_array_equal(found.known, expected.p_values(rows))


def test_a_split_does_not_depend_on_the_order_of_enrollment(path: Path, backbone: Backbone, tmp_path: Path) -> None:
    with Gallery.open(tmp_path / "other", backbone, create=True) as gallery:
        gallery.enroll("green", colored(1, 60, 2)[::-1].copy())
        gallery.enroll("red", colored(0, 80, 1)[40:])
        gallery.enroll("red", colored(0, 80, 1))
        other = gallery.split()
    with Gallery.open(path, backbone) as gallery:
        np.testing.assert_array_equal(gallery.split().calibration, other.calibration)


def test_with_a_confidence_the_limit_is_stricter_than_the_rate(path: Path, backbone: Backbone) -> None:
    images = np.concatenate([colored(hue, 40, 5 + hue) for hue in range(3)])
    with Gallery.open(path, backbone) as gallery:
        verdicts = gallery.recognize(images, 0.05, 0.95)
        held_out = gallery.calibrating(0.05, 0.95)
        again = gallery.score(images, held_out=held_out).decide(0.05, 0.95)
    assert held_out == 70
    assert verdicts == again
    limit = strict_limit(0.05, 0.95, 70)
    assert limit == 1 / 71
    assert [each.verdict == "stranger" for each in verdicts] == [each.p_value <= limit for each in verdicts]
    assert np.mean([each.verdict == "stranger" for each in verdicts[80:]]) > 0.9


def test_a_confidence_that_the_exemplars_cannot_give_is_refused(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as gallery:
        with pytest.raises(ValueError, match=r"of 0.95 in a rate of 0.01 needs at least 299 exemplars that calibrate"):
            gallery.recognize(colored(0, 2, 3), 0.01, 0.95)
        with pytest.raises(ValueError, match="needs exemplars that only calibrate"):
            gallery.score(colored(0, 2, 3)).decide(0.05, 0.95)
        with pytest.raises(ValueError, match="needs exemplars that only calibrate"):
            gallery.score(colored(0, 2, 3)).select()


def test_strangers_are_selected_among_many(path: Path, backbone: Backbone) -> None:
    images = np.concatenate([colored(0, 60, 6), colored(2, 40, 7)])
    with Gallery.open(path, backbone) as gallery:
        found = gallery.select(images, fdr=0.1)
    assert found.selected[60:].mean() > 0.9
    assert found.selected[:60].sum() <= 10
    assert set(found.strangers) == {name for name, each in zip(found.images, found.selected, strict=True) if each}
    ranks = dict(zip(found.images, found.p_values, strict=True))
    assert [ranks[name] for name in found.strangers] == sorted(ranks[name] for name in found.strangers)
    assert (
        str(found) == f"{found.selected.sum()} of 100 images selected; on average at most 10.0% of a selection is wrong"
    )


def test_an_exemplar_is_never_selected(backbone: Backbone, tmp_path: Path) -> None:
    odd = colored(2, 20, 7)
    with Gallery.open(tmp_path / "odd", backbone, create=True) as gallery:
        gallery.enroll("red", np.concatenate([colored(0, 80, 1), odd[:1]]))
        found = gallery.select(np.concatenate([odd, colored(0, 20, 6)]), fdr=0.2)
    assert found.p_values[0] == 1
    assert not found.selected[0]
    assert found.selected[1:20].all()


def test_an_empty_selection_says_how_many_exemplars_are_needed(path: Path, backbone: Backbone) -> None:
    images = np.concatenate([colored(0, 99, 6), colored(2, 1, 7)])
    with Gallery.open(path, backbone) as gallery:
        assert str(gallery.select(images, fdr=0.01)).startswith("nothing can be selected")
    p_values = np.full(10_000, 0.5)
    p_values[:20] = 1 / 121
    none = Selection([""] * 10_000, p_values, np.zeros(10_000, bool), 0.1, 120)
    assert str(none) == (
        "nothing can be selected: 20 of 10,000 images fit worse than all 120 exemplars that calibrate, and 827 "
        "are needed; enroll 9,998 exemplars, half of which calibrate: then 20 such images are enough"
    )
    tiny = Selection(["a", "b"], np.array([1 / 3, 1.0]), np.zeros(2, bool), 0.1, 2)
    assert "1 of 2 images fits worse" in str(tiny)
    assert str(tiny).endswith("then 1 such image is enough")
    assert "even all 2 would be too few; enroll 38 exemplars" in str(tiny)


def test_one_exemplar_cannot_be_split(backbone: Backbone, tmp_path: Path) -> None:
    with Gallery.open(tmp_path / "one", backbone, create=True) as gallery:
        gallery.enroll("red", colored(0, 1, 1))
        with pytest.raises(ValueError, match="leaves one side without any"):
            gallery.select(colored(0, 2, 2))


def test_an_image_of_the_background_is_scored_without_its_own_row() -> None:
    rng = np.random.default_rng(0)
    background = rng.normal(size=(30, 4))
    bank = ClassBank.of([rng.normal(size=(20, 4))], branches=2, radius=2.0, background=background)
    split, rows = Split.of(bank), np.concatenate([rng.normal(size=(3, 4)), background[7:8]])
    fewer = Split.of(ClassBank(bank.exemplars, bank.offsets, 2, 2.0, np.delete(background, 7, axis=0)))
    found = split_scores(split, rows, {3: 7})
    np.testing.assert_array_equal(found[:3], split.scores(rows[:3]))
    assert found[3] - split.bank.slack == pytest.approx(fewer.scores(rows[3:]).item())
