"""Rows of the background that equal an exemplar or the image: left out, exactly, and p-values are right again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

from corel.backbone import Backbone
from corel.gallery import Gallery
from corel.oneclass import METHODS, ClassBank, backbone_settings
from corel.oneclass._measures import WEIGHED, Cosines

pytestmark = pytest.mark.usefixtures("one_thread")
RNG = np.random.default_rng(0)
BACKGROUND = RNG.normal(size=(60, 6)).astype(np.float32)
BAGS = [BACKGROUND[:9], RNG.normal(size=(8, 6)).astype(np.float32) + 1]
SETTINGS: dict[str, Any] = {"branches": 2, "radius": 2.0}
DECIDING = ("contrast", "cosine")  # the count has no background


def everything(bank: ClassBank, z: Any) -> list[Any]:
    """All that a bank says about points."""
    (first,) = bank.explain(z[:1], 1)
    found = [*bank.assess(z), bank.likeness(z), bank.votes(z), bank.leave_one_out(), bank.peer_likeness(), first.parts]
    return [*found, first.counts, first.background_rates]


@pytest.mark.parametrize("method", METHODS)
def test_omitting_rows_equals_a_background_without_them(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    branches = 1 if method == "cosine" else 2
    settings = {"branches": branches, "radius": 2.0, "method": method}
    bank = ClassBank.of(BAGS, **settings, background=BACKGROUND, omitted=np.arange(9))
    z = np.concatenate([BACKGROUND[20:21], RNG.normal(size=(5, 6)).astype(np.float32)])
    fewer = {row: np.delete(BACKGROUND, [*range(9), *([] if row is None else [row])], axis=0) for row in (None, 20)}
    whole = Cosines(BACKGROUND)._whitening
    if method == "cosine":  # center and whitening stay those of all rows
        monkeypatch.setattr("corel.oneclass._measures.whitening_of", lambda background: whole)
    for row, kept in fewer.items():
        expected = everything(ClassBank.of(BAGS, **settings, background=kept), z)
        for ours, theirs in zip(everything(bank if row is None else bank.without(row), z), expected, strict=True):
            assert_array_equal(ours, theirs)


@pytest.mark.parametrize("method", METHODS)
def test_row_that_is_omitted_already_changes_nothing(method: Any) -> None:
    branches = 1 if method == "cosine" else 2
    bank = ClassBank.of(BAGS, branches=branches, radius=2.0, method=method, background=BACKGROUND, omitted=[3])
    assert bank.without(3) is bank


def test_likeness_of_exemplars_falls_by_no_more_than_the_slack() -> None:
    for method in DECIDING:
        branches = 1 if method == "cosine" else 2
        bank = ClassBank.of(BAGS, branches=branches, radius=2.0, method=method, background=BACKGROUND)
        for row in range(60):
            assert (bank.without(row).peer_likeness() >= bank.peer_likeness() - bank.slack - 1e-12).all()
    assert ClassBank.of(BAGS, **SETTINGS).slack == 0


def test_row_beyond_those_that_cosine_weighs_changes_nothing() -> None:
    many = RNG.normal(size=(WEIGHED + 5, 6)).astype(np.float32)
    bank = ClassBank.of(BAGS, branches=1, radius=1.0, method="cosine", background=many)
    assert bank.without(WEIGHED + 2) is bank


def test_background_of_nothing_but_exemplars_is_refused() -> None:
    bank = ClassBank.of([BACKGROUND], branches=1, radius=1.0, method="cosine", background=BACKGROUND, omitted=range(60))
    with pytest.raises(ValueError, match="background has no row but exemplars"):
        bank.scores(BACKGROUND)


def splits(count: int) -> Any:
    """Halves of scikit-learn's digits: background with exemplars among it, and new images of one class."""
    rows, labels = load_digits(return_X_y=True)
    for seed in range(count):
        rng = np.random.default_rng(seed)
        first, second = np.split(rng.permutation(len(rows))[: 2 * (len(rows) // 2)], 2)
        digit = seed % 10
        yield rows[first], rows[first][labels[first] == digit][:59], rows[second][labels[second] == digit]


@pytest.fixture(scope="module")
def rejected() -> dict[tuple[str, bool], float]:
    """The share of known images with p ≤ .05, which is 3 of 60, by method and whether rows are left out."""
    below: dict[tuple[str, bool], list[Any]] = {(method, out): [] for method in DECIDING for out in (True, False)}
    for background, exemplars, new in splits(40):
        backbone = Backbone.wrap("vectors", background)
        z, asked = backbone.encode(exemplars), backbone.encode(new)
        # The same row up to rounding: whitened in another batch, and kept in half precision.
        equal = [np.abs(backbone.background - each).sum(axis=1).argmin() for each in z]
        for method, out in below:
            bank = ClassBank.of([z], **backbone_settings(backbone, method), omitted=equal if out else [])
            below[method, out].append(bank.p_values(asked, "random", 0) <= 0.05)
    return {key: float(np.concatenate(found).mean()) for key, found in below.items()}


def half(rows: Any) -> Any:
    return rows.astype(np.float16).astype(np.float32)


@pytest.mark.parametrize("method", DECIDING)
def test_p_values_are_right_when_exemplars_are_in_the_background(method: str, rejected: Any) -> None:
    # 40 splits of some 90 new images; their mean has a standard error of about .005.
    assert rejected[method, True] == pytest.approx(0.05, abs=0.012)
    assert rejected[method, False] < 0.036


@pytest.fixture
def vectors() -> tuple[Backbone, Any]:
    background = np.random.default_rng(1).normal(size=(200, 6))
    return Backbone.wrap("vectors", background), background


@pytest.mark.parametrize("method", METHODS)
def test_gallery_leaves_out_exemplars_and_the_image(method: str, tmp_path: Any, vectors: Any) -> None:
    backbone, rows = vectors
    with Gallery.open(tmp_path / "x.gallery", backbone, create=True) as gallery:
        with pytest.warns(UserWarning, match="30 exemplars also gave the backbone its center, whitening and radius"):
            gallery.enroll("first", rows[:30])
        gallery.enroll("second", rows[:20] + 1)  # of which the background has none
        gallery.configure(method=method)
        scores = gallery.score(rows[25:40])
        hashes = [each.hash for name in ("first", "second") for each in gallery.exemplars(name)]
        latents = [gallery.compared(name) for name in ("first", "second")]
        why = gallery.explain(rows[35:36])
    for place in range(15):  # five that are enrolled, ten that only the background has
        own = backbone.encode(rows[25 + place : 26 + place])
        (number,) = np.flatnonzero((backbone.background == half(own)).all(axis=1))
        omitted = [*backbone.background_rows(hashes).values(), number]
        bank = ClassBank.of(latents, **backbone_settings(backbone, method), omitted=omitted)
        found = bank.assess(own)
        assert_allclose(scores.scores[place], found.scores[0], rtol=1e-12)
        assert_array_equal(scores.p_values[place], found.p_values[0])
        slack = 0 if place < 5 or method == "count" else np.log(170 / 169)
        assert_allclose(scores.likeness[place], bank.likeness(own)[0] + slack, rtol=1e-12)
    assert why.p_value == scores.p_values[10].max()
