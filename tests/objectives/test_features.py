from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_wine
from sklearn.metrics import roc_auc_score

from corel.backbone import Backbone
from corel.encoders import FeatureHead
from corel.gallery import Gallery
from corel.oneclass import OneClass
from corel.training import TrainConfig, train

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = TrainConfig.preset("features", epochs=40, width=32, learning_rate=1e-2)


@pytest.fixture(scope="module")
def wine() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    features, labels = load_wine(return_X_y=True)
    return features, labels


@pytest.fixture(scope="module")
def backbone(wine: tuple[NDArray[np.float64], NDArray[np.int64]]) -> Backbone:
    return train(wine[0], SMALL)


def test_training_reconstructs_and_shapes(backbone: Backbone) -> None:
    """A head that gives zeros has the mean absolute deviation as its loss, about 0.8 of a standard one."""
    first, *_, last = backbone.metadata["history"]
    assert last["reconstruction"] < 0.6 < first["reconstruction"]
    assert last["connectivity"] < 0.5 * first["connectivity"]
    assert backbone.batch_size == SMALL.batch_size


def test_the_scale_of_a_feature_does_not_matter(wine: tuple[Any, Any]) -> None:
    """Other units, the same latents, for standardizing is part of the backbone; powers of two round nothing."""
    features, _ = wine
    scaled = features * 2.0 ** np.arange(-6, 7)
    config = TrainConfig.preset("features", epochs=1)
    expected, other = train(features, config), train(scaled, config)
    np.testing.assert_allclose(other.encode(scaled), expected.encode(features), atol=1e-5)


def test_statistics_are_those_of_the_data_and_constants_stay_finite() -> None:
    rows = np.random.default_rng(0).normal(3, 2, (80, 4))
    rows[:, 2] = 7
    found = train(rows, TrainConfig.preset("features", epochs=1))
    scale = found.network.encoder[0]  # type: ignore[index]
    np.testing.assert_allclose(scale.mean, rows.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(scale.deviation, [*rows.std(axis=0)[:2], 1, rows[:, 3].std()], rtol=1e-6)
    assert np.isfinite(found.encode(rows)).all()


def test_a_stopped_training_continues_to_the_same_weights(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)
    config = TrainConfig.preset("features", epochs=2)
    train(rows, TrainConfig.preset("features", epochs=1), run_dir=tmp_path)
    assert train(rows, config, run_dir=tmp_path).digest == train(rows, config).digest


def test_everything_downstream_takes_vectors(wine: tuple[Any, Any], backbone: Backbone, tmp_path: Path) -> None:
    features, labels = wine
    backbone.save(tmp_path / "wine.safetensors")
    again = Backbone.load(tmp_path / "wine.safetensors")
    assert again.digest == backbone.digest
    exemplars, rest = np.flatnonzero(labels == 0)[:20], np.r_[20:178]
    model = OneClass.from_backbone(again).fit(again.encode(features[exemplars]))
    scores = model.score_samples(again.encode(features[rest]))
    assert roc_auc_score(labels[rest] == 0, scores) > 0.9
    with Gallery.open(tmp_path / "g", again, create=True) as gallery:
        assert gallery.enroll("first", features[exemplars]).added == {"first": 20}
        found = [classes == ("first",) for classes in gallery.classify(features[rest])]
    assert np.mean(found[:39]) > 0.8
    assert np.mean(found[39:]) < 0.2


def test_onnx_takes_raw_features(wine: tuple[Any, Any], backbone: Backbone, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    backbone.export_onnx(tmp_path / "wine.onnx")
    rows = wine[0][:5].astype(np.float32)
    (latents,) = onnxruntime.InferenceSession(tmp_path / "wine.onnx").run(None, {"vectors": rows})
    np.testing.assert_allclose(latents, backbone.encode(rows), atol=1e-4)


# --- What is wrong, and what to do


def test_a_feature_that_float32_cannot_resolve_is_refused() -> None:
    rows = np.random.default_rng(0).normal(size=(89, 3))
    rows[:, 1] = 1.7e9 + np.arange(89)  # seconds since 1970
    with pytest.raises(ValueError, match=r"feature 1, which varies by .* around 1.7e\+09.*subtract a constant"):
        train(rows, TrainConfig.preset("features", epochs=1))
    rows[:, 1] = 0.1  # never changes, and is only centered
    assert np.isfinite(train(rows, TrainConfig.preset("features", epochs=1)).background).all()


def rows_with(bad: dict[int, float], count: int = 60) -> NDArray[np.float64]:
    rows = np.random.default_rng(0).normal(size=(count, 3))
    for row, value in bad.items():
        rows[row, 1] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "error", "sentence"),
    [
        (rows_with({7: np.nan, 41: np.inf}), ValueError, "rows 7, 41 are not: drop, impute or rescale them"),
        (rows_with(dict.fromkeys(range(9), np.nan)), ValueError, "rows 0, 1, 2, 3, 4 and 4 more are not"),
        (rows_with({3: 1e300}), ValueError, "finite, in float32 too; rows 3 are not"),
        (np.ones((60, 3), np.int64), TypeError, "floating point, got torch.int64; use astype"),
        (np.ones((60, 3, 2)), ValueError, r"an array \[n, features\] .* got items of shape \[3, 2\]; flatten"),
        (np.ones((20, 3)), ValueError, "batch_size is 50 but there are 20 items"),
    ],
)
def test_bad_features_are_refused_before_training(rows: NDArray[Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        train(rows, TrainConfig.preset("features", epochs=1))


def test_encoding_names_the_row_in_the_whole_array_and_the_width() -> None:
    head = FeatureHead(branches=2, branch_dim=2, width=4, features=3)
    with pytest.raises(ValueError, match="rows 55 are not"):
        head.encode(rows_with({55: np.nan}), batch_size=10)
    with pytest.raises(ValueError, match=r"rows of 3 features, \[n, 3\], got \[60, 4\]"):
        head.encode(np.ones((60, 4), np.float32))
    assert head.encode(np.ones((0, 3), np.float32)).shape == (0, 4)
    torch.testing.assert_close(head.encode(rows_with({}), batch_size=7), head.encode(rows_with({})))
