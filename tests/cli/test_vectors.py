"""Every command on a backbone that was trained on a file of vectors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from corel.backbone import Backbone
from corel.cli import app
from corel.evaluation import evaluate
from corel.gallery import Gallery
from corel.theory import diagnose

from .conftest import Corel

pytestmark = pytest.mark.usefixtures("one_thread")

IRIS, NUMBERS = load_iris(return_X_y=True)
SPECIES = np.array(["setosa", "versicolor", "virginica"])[NUMBERS]
TRAIN, TEST = (IRIS[::2], SPECIES[::2]), (IRIS[1::2], SPECIES[1::2])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of train without labels, the backbone trained on it, labeled splits, and a file for each species."""
    folder = tmp_path_factory.mktemp("iris")
    np.save(folder / "all.npy", TRAIN[0])
    np.savez(
        folder / "iris.npz", train_features=TRAIN[0], train_labels=TRAIN[1], test_features=TEST[0], test_labels=TEST[1]
    )
    for name in np.unique(SPECIES):
        np.save(folder / f"{name}.npy", TRAIN[0][TRAIN[1] == name])
    np.savez(folder / "new.npz", features=TEST[0], anything=TEST[1])
    np.save(folder / "one.npy", TEST[0][:1])
    small = ("--epochs", "30", "--branches", "3", "--width", "16", "--learning-rate", "0.01", "--quiet")
    asked = ("train", "--features", folder / "all.npy", "--out", folder / "iris.safetensors", *small)
    result = CliRunner().invoke(app, [str(each) for each in asked])
    assert result.exit_code == 0, result.output
    return folder


def test_evaluate_reads_both_splits_from_one_file(corel: Corel, folder: Path, tmp_path: Path) -> None:
    asked = ("evaluate", folder / "iris.npz", "--backbone", folder / "iris.safetensors", "-m", 5, "--draws", 2)
    expected = evaluate(Backbone.load(folder / "iris.safetensors"), TRAIN, TEST, exemplars=[5], draws=2)
    found = json.loads(corel(*asked, "--json", "--report", tmp_path / "page.html").stdout)
    assert found["records"] == expected.document()["records"]
    assert {record["label"] for record in found["records"]} == set(SPECIES)
    assert found["config"]["dataset"] == str(folder / "iris.npz")
    assert found["config"]["auxiliary"] == str(folder / "all.npy")
    page = (tmp_path / "page.html").read_text()
    assert "a few vectors are enrolled, and 75 others" in " ".join(page.split())
    assert "5 nearest neighbors, standardized vectors" in corel(*asked).stdout


def test_evaluate_says_that_vectors_need_a_backbone_of_their_own(corel: Corel, folder: Path) -> None:
    said = corel("evaluate", folder / "iris.npz", exits=2).stderr
    assert "choose a backbone that `corel train --features` made (--backbone FILE)" in said


def test_evaluate_says_what_the_file_must_hold(corel: Corel, folder: Path, tmp_path: Path) -> None:
    def said(source: object, *options: object) -> str:
        return corel("evaluate", source, "--backbone", folder / "iris.safetensors", *options, exits=2).stderr

    wanted = "labeled vectors come in an .npz file with train_features, train_labels, test_features, test_labels"
    assert f"holds features, anything; {wanted}" in said(folder / "new.npz")
    assert f"holds no named array; {wanted}" in said(folder / "all.npy")
    assert f"there is no file digits; {wanted}" in said("digits")
    entries = {"train_features": TRAIN[0], "test_features": TEST[0], "test_labels": TEST[1]}
    np.savez(tmp_path / "objects.npz", **entries, train_labels=np.array([*TRAIN[1][:-1], None]))
    assert "needs a pickle, which is not read" in said(tmp_path / "objects.npz")
    assert "train has 25 vectors of class 'setosa'" in said(folder / "iris.npz", "-m", 120)


def test_evaluate_draws_once_if_all_items_are_enrolled(corel: Corel, folder: Path) -> None:
    """Drawn again, the same exemplars would give an interval of no width."""
    asked = ("evaluate", folder / "iris.npz", "--backbone", folder / "iris.safetensors", "--no-controls", "--json")
    found = json.loads(corel(*asked).stdout)
    assert (found["config"]["exemplars"], found["config"]["draws"]) == ([25], 1)
    assert all(row["low"] is None for row in found["summary"])


def test_diagnose_measures_the_background_or_vectors(corel: Corel, folder: Path) -> None:
    backbone = Backbone.load(folder / "iris.safetensors")
    asked = ("diagnose", "--backbone", folder / "iris.safetensors", "--batches", 5)
    expected = diagnose(backbone.background, backbone.eta, 3, backbone.batch_size, batches=5)
    assert corel(*asked).stdout == f"{expected}\n"
    assert "must be one .npy or .npz file" in corel(*asked, "--images", "digits", exits=2).stderr
    assert corel(*asked, "--images", folder / "all.npy").stdout != f"{expected}\n"


def test_a_gallery_of_vectors_from_enrolling_to_forgetting(corel: Corel, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "iris.gallery"
    for name in np.unique(SPECIES):
        different = len(np.unique(TRAIN[0][TRAIN[1] == name], axis=0))
        enrolled = corel("enroll", path, name, folder / f"{name}.npy", "--backbone", folder / "iris.safetensors")
        assert enrolled.stdout.startswith(f"{name}: {different} new\n")
    with Gallery.open(path) as gallery:
        expected = gallery.score(TEST[0])
    scored = corel("score", path, folder / "new.npz", "--format", "jsonl").stdout
    rows = [json.loads(line) for line in scored.splitlines()]
    assert [row["image"] for row in rows] == [f"row {i}" for i in range(75)]
    best = expected.ranking(0.05)[:, 0]
    assert [row["class"] for row in rows] == [expected.classes[c] for c in best]
    np.testing.assert_allclose([row["class_p_value"] for row in rows], expected.p_values[np.arange(75), best])
    assert np.mean([row["class"] == name for row, name in zip(rows, TEST[1], strict=True)]) > 2 / 3  # guessing, twice
    said = corel("explain", path, folder / "one.npy", "setosa", "--out", tmp_path / "why.svg").stdout
    assert said.startswith("Known: setosa\nOf all exemplars, at most ")
    assert "<svg" in (tmp_path / "why.svg").read_text()
    assert (
        "IMAGE must be one image or vector, got 75"
        in corel("explain", path, folder / "new.npz", "setosa", exits=2).stderr
    )
    listed = corel("classes", path, "setosa").stdout.splitlines()
    assert corel("forget", path, "setosa").stdout == f"setosa: {len(listed)} forgotten\n"
    assert list(json.loads(corel("classes", path, "--json").stdout)["classes"]) == ["versicolor", "virginica"]


@pytest.mark.parametrize(("count", "remark"), [(999, True), (1000, False)])
def test_wrap_asks_for_more_than_a_small_background(corel: Corel, tmp_path: Path, count: int, remark: bool) -> None:
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(count, 4)))
    asked = ("backbone", "wrap", "vectors", "--background", tmp_path / "rows.npy", "--out", tmp_path / "v.safetensors")
    assert ("a background of 999 items is small" in corel(*asked).stderr) == remark
