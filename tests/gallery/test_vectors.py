"""A backbone on vectors from end to end: wine's measurements are trained on, evaluated, enrolled and explained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_wine
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler, normalize

from corel import images
from corel.backbone import Backbone
from corel.evaluation import Evaluation, evaluate
from corel.evaluation._methods import _initial_network
from corel.gallery import Gallery
from corel.oneclass import OneClass
from corel.training import TrainConfig, train

pytestmark = pytest.mark.usefixtures("one_thread")

WINE, CULTIVAR = load_wine(return_X_y=True)
TRAIN, TEST = (WINE[::2], CULTIVAR[::2]), (WINE[1::2], CULTIVAR[1::2])
SETTING: dict[str, Any] = {"exemplars": (5, 20), "draws": 3, "seed": 4}


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    config = TrainConfig.preset("features", epochs=60, branches=4, width=32, learning_rate=1e-2)
    return train(TRAIN[0], config, progress=False)


@pytest.fixture(scope="module")
def result(backbone: Backbone) -> Evaluation:
    return evaluate(backbone, TRAIN, TEST, **SETTING)


def expected_auc(m: int, scores: Callable[[NDArray[Any]], NDArray[Any]]) -> list[list[float]]:
    """AUCs ``[draws, classes]`` by the protocol's words: m train vectors of a class rank all test vectors."""
    found: list[list[float]] = []
    for draw in range(SETTING["draws"]):
        found.append([])
        for label in range(3):
            members = np.flatnonzero(TRAIN[1] == label)
            chosen = np.random.default_rng([SETTING["seed"], draw, label]).permutation(members)[:m]
            found[-1].append(roc_auc_score(TEST[1] == label, scores(TRAIN[0][chosen])))
    return found


@pytest.mark.parametrize("m", SETTING["exemplars"])
@pytest.mark.parametrize("score", ["count", "contrast"])
def test_every_cell_is_the_auc_of_one_class(result: Evaluation, backbone: Backbone, score: str, m: int) -> None:
    def scores(exemplars: NDArray[Any]) -> NDArray[Any]:
        model = OneClass.from_backbone(backbone, method=score).fit(backbone.encode(exemplars))
        return model.score_samples(backbone.encode(TEST[0]))

    np.testing.assert_allclose(result.auc(score, m), expected_auc(m, scores))


def test_neighbors_without_an_encoder_see_standardized_vectors(result: Evaluation) -> None:
    scale = StandardScaler().fit(TRAIN[0])

    def scores(exemplars: NDArray[Any]) -> NDArray[Any]:
        model = NearestNeighbors(n_neighbors=5).fit(scale.transform(exemplars))
        return np.asarray(-model.kneighbors(scale.transform(TEST[0]))[0].mean(1))

    found = result.auc("5 nearest neighbors, standardized vectors", 20)
    np.testing.assert_allclose(found, expected_auc(20, scores), atol=1e-3)  # float32 may swap near ties


def test_neighbors_without_an_encoder_see_normalized_vectors(result: Evaluation) -> None:
    def scores(exemplars: NDArray[Any]) -> NDArray[Any]:
        model = NearestNeighbors(n_neighbors=5).fit(normalize(exemplars))
        return np.asarray(-model.kneighbors(normalize(TEST[0]))[0].mean(1))

    found = result.auc("5 nearest neighbors, normalized vectors", 20)
    np.testing.assert_allclose(found, expected_auc(20, scores), atol=1e-2)  # float32 may swap near ties


def test_controls_have_names_for_vectors_and_solve_the_problem(result: Evaluation) -> None:
    rows = {row.method: row.mean for row in result.summary() if row.exemplars == 20}
    assert len(rows) == 8
    assert list(rows)[-2:] == [f"5 nearest neighbors, {kind} vectors" for kind in ("standardized", "normalized")]
    assert not any("pixel" in method or "image" in method for method in rows)
    assert rows["contrast"] > 0.9
    assert min(rows.values()) > 0.6  # guessing is a half
    assert (result.config["items"], result.config["test_items"]) == ("vectors", 89)


def test_the_untrained_encoder_is_standardized_but_not_trained(backbone: Backbone) -> None:
    """Without them the feature with the largest numbers decides, and any training looks good beside it."""
    fresh, trained = _initial_network(backbone).state_dict(), backbone.network.state_dict()
    same = {name for name, tensor in fresh.items() if torch.equal(tensor, trained[name])}
    assert same == {"encoder.0.mean", "encoder.0.deviation"}


@pytest.mark.parametrize(
    ("kind", "classes"),
    [
        (lambda labels: labels.tolist(), ["0", "1", "2"]),
        (lambda labels: torch.from_numpy(labels), ["0", "1", "2"]),
        (lambda labels: np.array(["barbera", "barolo", "nebbiolo"])[labels], ["barbera", "barolo", "nebbiolo"]),
        (lambda labels: [(9 + label, "x") for label in labels.tolist()], ["(9, 'x')", "(10, 'x')", "(11, 'x')"]),
        (lambda labels: [(2, b"x", "one")[label] for label in labels], ["2", "b'x'", "one"]),
    ],
    ids=["numbers", "a tensor", "strings", "tuples", "no order"],
)
def test_labels_of_any_kind_are_sorted_into_classes(
    result: Evaluation, backbone: Backbone, kind: Callable[[NDArray[np.int64]], Any], classes: list[str]
) -> None:
    pairs = [(vectors, kind(labels)) for vectors, labels in (TRAIN, TEST)]
    again = evaluate(backbone, *pairs, **SETTING, controls=False)
    assert list(dict.fromkeys(record.label for record in again.records)) == classes
    np.testing.assert_array_equal(again.auc("contrast", 5), result.auc("contrast", 5))


def test_labels_that_mean_nothing_give_an_auc_of_a_half(backbone: Backbone) -> None:
    rng = np.random.default_rng(0)
    pairs = [(vectors, rng.permutation(labels)) for vectors, labels in (TRAIN, TEST)]
    found = evaluate(backbone, *pairs, exemplars=[15], draws=10, controls=False)
    assert all(abs(row.mean - 0.5) < 0.08 for row in found.summary())


# --- What is wrong, and what to do


def with_nan(row: int) -> NDArray[np.float64]:
    vectors: NDArray[np.float64] = TEST[0].copy()
    vectors[row, 3] = np.nan
    return vectors


@pytest.mark.parametrize(
    ("train_pair", "test_pair", "error", "sentence"),
    [
        (TRAIN[0], TEST, ValueError, r"^train must have labels, but an array has none; .* or a pair \(items, labels\)"),
        (TRAIN, (with_nan(7), TEST[1]), ValueError, "^test must be finite.*rows 7 are not: drop, impute"),
        (
            (TRAIN[0][:, :5], TRAIN[1]),
            TEST,
            ValueError,
            r"^train must be rows of 13 features, \[n, 13\], got \[89, 5\]",
        ),
        (TRAIN, (TEST[0][0], TEST[1]), ValueError, r"^test must be .* got \[13\]"),
        ((TRAIN[0].astype(int), TRAIN[1]), TEST, TypeError, "^train must be floating point"),
        (TRAIN, (TEST[0], TEST[1][:80]), ValueError, "^test has 89 items but 80 labels; give one for each"),
        (TRAIN, (TEST[0], TEST[1] + 1), ValueError, "train has 0 vectors of class '3' in an array but 5 are needed"),
        (TRAIN, (TEST[0], None), TypeError, "^test must have a label for each item, got None"),
        ((TRAIN[0], TRAIN[1][:, None]), TEST, TypeError, "^train must have one value as the label.*label 0 is a list"),
        ((TRAIN[0], np.full(89, np.nan)), TEST, ValueError, "^train has nan as label 0; leave such items out"),
        ((TRAIN[0], [1, "1", 2] * 29 + [1, 2]), TEST, ValueError, "labels that differ but read alike"),
        (
            (TRAIN[0], [0] * 89),
            (TEST[0], [0] * 89),
            ValueError,
            "at least 2 classes for a one-vs-all AUC, an array has 1; add another",
        ),
        (TRAIN, (TEST[0][TEST[1] < 2], TEST[1][TEST[1] < 2]), ValueError, "test has 0 vectors of class '2'"),
    ],
)
def test_pairs_that_cannot_be_evaluated_are_refused(
    backbone: Backbone, train_pair: Any, test_pair: Any, error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        evaluate(backbone, train_pair, test_pair, exemplars=[5])


def test_too_few_vectors_are_counted(backbone: Backbone) -> None:
    with pytest.raises(
        ValueError, match="train has 24 vectors of class '2' in an array but 30 are needed; add vectors"
    ):
        evaluate(backbone, TRAIN, TEST, exemplars=[30])


def test_images_are_refused_as_vectors_and_vectors_as_images(backbone: Backbone) -> None:
    digits = images.open("digits")
    with pytest.raises(
        ValueError, match=r"^train must be vectors of 13 features for this backbone, got images \(.*give the features"
    ):
        evaluate(backbone, digits, digits)
    with pytest.raises(ValueError, match=r"^test must be vectors of 13 features for this backbone, got images"):
        evaluate(backbone, TRAIN, digits)
    with pytest.raises(
        ValueError, match=r"^train must have the shape .* of shape \[89, 13\]; .* vectors need a backbone on vectors"
    ):
        evaluate(Backbone.load(), TRAIN, TEST)


# --- The gallery


@pytest.fixture
def gallery(tmp_path: Path, backbone: Backbone) -> Any:
    with Gallery.open(tmp_path / "wine.gallery", backbone, create=True) as gallery:
        for label in range(3):
            gallery.enroll(str(label), TRAIN[0][TRAIN[1] == label])
        yield gallery


def test_p_values_of_members_keep_the_rate_and_sets_name_the_class(gallery: Gallery) -> None:
    found = gallery.score(TEST[0])
    own = found.p_values[np.arange(89), TEST[1]]
    assert found.images[:2] == ["row 0", "row 1"]
    assert (own <= 0.2).mean() < 0.33  # the deviation of such a share of 89 is 0.042
    assert np.mean(found.p_values.argmax(1) == TEST[1]) > 2 * np.bincount(TEST[1]).max() / 89  # guessing, twice
    assert gallery.classify(TEST[0], rate=0.1) == found.prediction_sets(0.1)


def test_the_picture_names_the_vectors_that_vote(gallery: Gallery) -> None:
    found = gallery.explain(TEST[0][:1], "0")
    item, voters, _ = found.draw(expert=True).axes
    assert not item.images
    for branch, text in enumerate(voters.texts):
        names = [found.exemplars[voter].source for voter in found.votes.neighbors[branch][:10]]
        assert text.get_text() == ", ".join(names)
    assert any(text.get_text() for text in voters.texts)
    item, _, exemplars = found.draw().axes[:3]
    assert not item.images
    named = [(exemplar.source, share) for exemplar, share in found.comparisons[0].voters(8)]
    assert [text.get_text() for text in exemplars.texts] == [f"{share:4.0%}  {source}" for source, share in named]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (TEST[0][0], r"images must be rows \[n, 13\], got \[13\]; a single vector needs a leading dimension"),
        (3.0, r"must be rows \[n, 13\], got \[\]"),
        (TEST[0][:, :4], r"rows of 13 features, \[n, 13\], got \[89, 4\]"),
        (with_nan(7), "rows 7 are not: drop, impute"),
        (np.full((2, 13), 1e300), "finite, in float32 too; rows 0, 1 are not"),
        (images.open("digits"), "must be vectors of 13 features"),
        (images.open("digits").pixels, r"got \[899, 32, 32, 3\]"),
    ],
    ids=["one", "a number", "narrow", "nan", "too large", "images", "pixels"],
)
def test_the_gallery_refuses_tables_with_other_features(gallery: Gallery, given: Any, sentence: str) -> None:
    before = gallery.classes()
    for act in (lambda: gallery.enroll("new", given), lambda: gallery.score(given)):
        with pytest.raises(ValueError, match=sentence):
            act()
    assert gallery.classes() == before


def test_one_vector_is_explained_at_a_time(gallery: Gallery) -> None:
    with pytest.raises(ValueError, match="image must be one image or vector, got 89"):
        gallery.explain(TEST[0], "0")
