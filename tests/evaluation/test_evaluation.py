"""The protocol against its definition, the controls against plain loops, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import ttest_1samp, ttest_ind
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from corel.backbone import Backbone
from corel.encoders import Autoencoder
from corel.evaluation import (
    Evaluation,
    Record,
    draw_exemplars,
    evaluate,
    half_interval,
    nearest_neighbors,
    remark,
    shown,
)
from corel.evaluation._methods import _matching_scale
from corel.images import ImageSet
from corel.oneclass import OneClass

CLASSES = ("red", "green", "blue")


def hues(split: str, per_class: int, seed: int) -> ImageSet:
    """Images with one strong channel, so that even an untrained encoder tells the classes apart."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), per_class)
    pixels = rng.integers(0, 90, (len(labels), 8, 8, 3))
    pixels[np.arange(len(labels)), :, :, labels] += rng.integers(0, 160, (len(labels), 1, 1))
    names = [f"{split}/{i}" for i in range(len(labels))]
    return ImageSet(pixels.astype(np.uint8), labels, CLASSES, names, f"hues, {split}")


@pytest.fixture(scope="module")
def train() -> ImageSet:
    return hues("train", 40, 0)


@pytest.fixture(scope="module")
def test() -> ImageSet:
    return hues("test", 30, 1)


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    torch.manual_seed(1)
    network = Autoencoder(branches=4, branch_dim=2, width=4, image_size=8)
    latents = network.encode(hues("auxiliary", 60, 2).pixels).numpy()
    eta = float(np.abs(latents[::2] - latents[1::2]).sum(1).mean()) / 4
    metadata = {"data": {"source": "hues, auxiliary"}}
    return Backbone(network, "autoencoder", eta, 1.0, 100, np.ones((4, 3), np.float32), latents, metadata)


@pytest.fixture(scope="module")
def result(backbone: Backbone, train: ImageSet, test: ImageSet) -> Evaluation:
    return evaluate(backbone, train, test, exemplars=(5, 20), draws=3, seed=4, expected_classes=3)


def test_every_cell_is_the_auc_of_that_class_from_that_draw(
    result: Evaluation, backbone: Backbone, train: ImageSet, test: ImageSet
) -> None:
    latents, tests = backbone.encode(train), backbone.encode(test)
    for m in (5, 20):
        for draw in range(3):
            chosen = draw_exemplars(train, 20, 4, draw)[:, :m]
            for label in range(3):
                assert (np.asarray(train.labels)[chosen[label]] == label).all()
                for score in ("count", "contrast"):
                    model = OneClass.from_backbone(backbone, method=score).fit(latents[chosen[label]])
                    expected = roc_auc_score(test.labels == label, model.score_samples(tests))
                    assert result.auc(score, m)[draw, label] == pytest.approx(expected)


def test_methods_and_controls_are_all_there_and_solve_an_easy_problem(result: Evaluation) -> None:
    rows = {row.method: row for row in result.summary() if row.exemplars == 20}
    assert list(rows) == [
        "count",
        "contrast",
        "count, untrained encoder",
        "contrast, untrained encoder",
        "5 nearest neighbors, latents",
        "5-NN minus the background's 50-NN, latents",
        "5 nearest neighbors, pixels",
    ]
    assert all(row.mean > 0.7 for row in rows.values())
    assert all((row.low or 0) <= row.mean <= (row.high or 0) for row in rows.values())


def test_labels_that_mean_nothing_give_an_auc_of_a_half(backbone: Backbone, train: ImageSet, test: ImageSet) -> None:
    rng = np.random.default_rng(0)
    shuffled = [replace(images, labels=rng.permutation(np.asarray(images.labels))) for images in (train, test)]
    result = evaluate(backbone, *shuffled, exemplars=[20], draws=5, controls=False)
    assert all(abs(row.mean - 0.5) < 0.06 for row in result.summary())


def test_the_seed_decides_the_draws(backbone: Backbone, train: ImageSet, test: ImageSet, result: Evaluation) -> None:
    setting: dict[str, Any] = {"exemplars": (5, 20), "draws": 2, "controls": False}
    again = evaluate(backbone, train, test, seed=4, **setting)
    other = evaluate(backbone, train, test, seed=5, **setting)
    np.testing.assert_array_equal(again.auc("count", 5), result.auc("count", 5)[:2])
    assert (other.auc("contrast", 5) != again.auc("contrast", 5)).any()


def test_small_draws_begin_large_ones(train: ImageSet) -> None:
    np.testing.assert_array_equal(draw_exemplars(train, 20, 0, 1)[:, :5], draw_exemplars(train, 5, 0, 1))
    assert (draw_exemplars(train, 20, 0, 1) != draw_exemplars(train, 20, 0, 2)).any()
    assert len(np.unique(draw_exemplars(train, 40, 0, 0))) == 120


def test_summary_is_mean_and_spread_over_draws() -> None:
    auc = np.array([[0.5, 0.9], [0.7, 0.9], [0.9, 0.6]])
    records = [Record("count", 7, d, f"c{c}", auc[d, c]) for d in range(3) for c in range(2)]
    (row,) = Evaluation({"classes": 2}, tuple(records)).summary()
    assert row.mean == pytest.approx(0.75)
    assert row.spread == pytest.approx(np.std([0.7, 0.8, 0.75], ddof=1))
    assert row.class_spread == pytest.approx((np.std(auc[:, 0], ddof=1) + np.std(auc[:, 1], ddof=1)) / 2)
    assert (row.low, row.high) == pytest.approx((0.75 - half_interval(auc), 0.75 + half_interval(auc)))


def test_the_interval_of_one_class_is_students_and_of_two_is_welchs() -> None:
    """The mean of two classes is half the difference of one and the other's negative."""
    one, other = np.array([0.6, 0.8, 0.7]), np.array([0.81, 0.83, 0.79])
    alone = ttest_1samp(one, 0).confidence_interval(0.95)
    assert half_interval(one[:, None]) == pytest.approx((alone.high - alone.low) / 2)
    both = ttest_ind(one, -other, equal_var=False).confidence_interval(0.95)
    assert half_interval(np.stack([one, other], axis=1)) == pytest.approx((both.high - both.low) / 4)
    assert half_interval(np.full((3, 2), 0.5)) == 0
    assert np.isnan(half_interval(np.full((1, 2), 0.5)))


def test_an_interval_covers_the_mean_as_often_as_it_says() -> None:
    """Few draws of a normal: percentiles of a bootstrap would cover its mean in nine of ten only."""
    rng, covered = np.random.default_rng(0), 0
    for values in rng.normal(0.5, 0.01, (2000, 5, 3)):
        records = [Record("count", 7, d, f"c{c}", values[d, c]) for d in range(5) for c in range(3)]
        (row,) = Evaluation({"classes": 3}, tuple(records)).summary()
        assert row.low is not None
        assert row.high is not None
        covered += row.low <= 0.5 <= row.high
    assert covered / 2000 == pytest.approx(0.95, abs=0.015)


def test_an_interval_ends_at_a_perfect_auc() -> None:
    records = [Record("count", 7, d, "c", auc) for d, auc in enumerate([0.9, 1.0, 1.0])]
    (row,) = Evaluation({"classes": 1}, tuple(records)).summary()
    assert row.high == 1.0


def test_a_control_that_wins_is_called_one_and_easy_images_are_called_easy() -> None:
    def said(**means: float) -> str:
        names = {"untrained": "contrast, untrained encoder", "pixels": "5 nearest neighbors, pixels"}
        records = tuple(Record(names.get(method, method), 30, 0, "a", auc) for method, auc in means.items())
        return remark(Evaluation({"classes": 1, "exemplars": [30], "items": "images"}, records))

    assert said(contrast=0.9, untrained=0.8, pixels=0.8) == "Highest mean with 30 images enrolled: contrast."
    lost = said(count=0.85, contrast=0.9, untrained=0.95, pixels=0.8)
    assert lost.endswith("contrast, untrained encoder. That is a control; the encoder has 0.9000.")
    assert said(contrast=0.6, untrained=0.55, pixels=0.7).endswith("has 0.6000.")  # a poor encoder, not easy images
    easy = said(contrast=0.95, untrained=0.99, pixels=0.98)
    assert "the encoder has 0.9500. Raw pixels already give 0.9800: these images are too easy" in easy


def test_one_draw_has_no_spread_and_no_interval() -> None:
    (row,) = Evaluation({"classes": 1}, (Record("count", 7, 0, "c", 0.75),)).summary()
    assert (row.spread, row.class_spread, row.low, row.high) == (None, None, None, None)
    assert (shown(row.mean), shown(row.low, row.high)) == ("0.7500", "–")


def test_json_holds_everything(result: Evaluation, tmp_path: Path, backbone: Backbone) -> None:
    result.save(tmp_path / "deep" / "result.json")
    document = json.loads((tmp_path / "deep" / "result.json").read_text())
    assert document == json.loads(json.dumps(result.document()))
    assert document["config"]["backbone"] == backbone.digest
    assert (document["config"]["auxiliary"], document["config"]["dataset"]) == ("hues, auxiliary", "hues, train")
    assert len(document["records"]) == 7 * 2 * 3 * 3


def test_missing_records_are_named(result: Evaluation) -> None:
    with pytest.raises(KeyError, match=r"no records of .{1,2}count.{1,2} with 80 exemplars"):
        result.auc("count", 80)


def test_untrained_latents_are_brought_to_the_scale_of_the_trained() -> None:
    rng = np.random.default_rng(0)
    raw, trained = (rng.normal(size=(200, 6)).astype(np.float32) * scale for scale in (0.01, 3.0))
    scaled = raw * _matching_scale(raw, trained, branches=2, radius=4.0)
    for part in (slice(0, 3), slice(3, 6)):
        shares = [(np.abs(x[:, None, part] - x[None, :, part]).sum(2) <= 4.0).mean() for x in (scaled, trained)]
        assert shares[0] == pytest.approx(shares[1], abs=2e-3)


def test_nearest_neighbors_are_the_mean_of_the_smallest_distances() -> None:
    rng = np.random.default_rng(0)
    train, test = rng.integers(0, 255, (12, 7), np.uint8), rng.integers(0, 255, (4, 7), np.uint8)
    chosen = np.arange(12).reshape(2, 6)
    distances = np.linalg.norm(test[:, None].astype(float) - train[None].astype(float), axis=2)
    expected = [[-np.sort(distances[t, rows])[:5].mean() for rows in chosen] for t in range(4)]
    np.testing.assert_allclose(nearest_neighbors("pixels", (train, test)).score(chosen), expected, rtol=1e-5)
    nearest = nearest_neighbors("pixels", (train, test)).score(chosen[:, :2])  # fewer exemplars than neighbors
    np.testing.assert_allclose(
        nearest, [[-distances[t, rows[:2]].mean() for rows in chosen] for t in range(4)], rtol=1e-5
    )


def test_data_that_cannot_be_evaluated_is_refused_with_a_clear_error(
    backbone: Backbone, train: ImageSet, test: ImageSet
) -> None:
    with pytest.raises(ValueError, match="expected_classes is 20, but hues, train has 3 classes"):
        evaluate(backbone, train, test, expected_classes=20)
    with pytest.raises(ValueError, match="train must have labels"):
        evaluate(backbone, replace(train, labels=None), test)
    with pytest.raises(ValueError, match="train has 0 images of class 'pink' in hues, train but 5 are needed"):
        evaluate(backbone, train, replace(test, classes=("red", "green", "pink")), exemplars=[5])
    with pytest.raises(ValueError, match="train has 40 images of class 'red' in hues, train but 120 are needed"):
        evaluate(backbone, train, test)
    with pytest.raises(ValueError, match="train has 1 image of class 'red' in hues, train but 5 are needed"):
        evaluate(backbone, train.take(np.r_[:1, 40:120]), test, exemplars=[5])
    with pytest.raises(ValueError, match="test has 0 images of class 'blue'"):
        evaluate(backbone, train, test.take(np.arange(60)), exemplars=[5])
    with pytest.raises(ValueError, match="at least 1 per class"):
        evaluate(backbone, train, test, exemplars=[])
    with pytest.raises(ValueError, match="draws must be at least 1, got 0"):
        evaluate(backbone, train, test, exemplars=[5], draws=0)


def test_a_repeated_request_is_measured_once(backbone: Backbone, train: ImageSet, test: ImageSet) -> None:
    once, twice = (
        evaluate(backbone, train, test, exemplars=[5] * n, scores=["count"] * n, draws=2, controls=False)
        for n in (1, 2)
    )
    assert twice.records == once.records
    assert twice.config == once.config


def test_the_background_measures_how_sparse_the_space_around_an_item_is() -> None:
    rng = np.random.default_rng(0)
    train, test, background = (rng.normal(size=(n, 6)).astype(np.float32) for n in (12, 5, 80))
    chosen = np.arange(12).reshape(2, 6)
    plain = nearest_neighbors("", (train, test)).score(chosen)
    distances, _ = NearestNeighbors(n_neighbors=50).fit(background).kneighbors(test)
    corrected = nearest_neighbors("", (train, test), background).score(chosen)
    np.testing.assert_allclose(corrected, plain + distances.mean(1)[:, None], rtol=1e-4)


@pytest.mark.parametrize("m", [3, 8])
def test_nearest_neighbors_are_scikit_learns(m: int) -> None:
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(40, 6)), rng.normal(size=(1100, 6))
    chosen = rng.permutation(40)[: 4 * m].reshape(4, m)
    found = nearest_neighbors("", (train, test)).score(chosen)
    for rows, column in zip(chosen, found.T, strict=True):
        distances, _ = NearestNeighbors(n_neighbors=min(5, m)).fit(train[rows]).kneighbors(test)
        np.testing.assert_allclose(column, -distances.mean(1), rtol=1e-4)
