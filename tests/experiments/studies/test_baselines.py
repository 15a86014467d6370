"""The baselines' experiment, small: it resumes, and its subset and its oracle are what they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from corel.baselines import ADT, DSEBM, OCSVM, Baseline
from corel.images import ImageSet
from experiments._lib.baselines import ORACLE, summarize
from experiments._lib.parts import progress, results, run_parts
from experiments.studies.baselines import Protocol, best_of_grid, parts, stratified
from experiments.studies.wider import Case, beside_others, spaced
from experiments.studies.wider import parts as wider_parts
from tests.baselines.images import ramps

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_experiment_continues_where_it_stopped(tmp_path: Path) -> None:
    pixels = np.concatenate([ramps(6, rising=True, seed=0), ramps(6, rising=False, seed=1)])
    names = [str(i) for i in range(12)]
    images = ImageSet(pixels, np.repeat([0, 1], 6), ("up", "down"), names, "ramps")
    methods: dict[str, Baseline] = {
        "DSEBM": DSEBM(epochs=1, batch_size=12),
        "OC-SVM (CAE)": OCSVM(epochs=1, batch_size=12),
        "ADT": ADT(epochs=1, width=1),
    }
    whole = parts(methods, images, images, Protocol(exemplars=4, adt_test_images=4))
    run_parts("baselines", whole, {}, only=["DSEBM, up"], folder=tmp_path)
    first = results("baselines", tmp_path)
    assert progress("baselines", tmp_path) == (1, 3 * 2 + 1)
    run_parts("baselines", whole, {}, only=[f"{name}, up" for name in methods], folder=tmp_path)
    rows = results("baselines", tmp_path)
    assert rows["DSEBM, up"] == first["DSEBM, up"]
    assert [row["test images"] for row in rows.values()] == [12, 12, 4]
    assert list(summarize([*rows.values()])) == ["DSEBM", "OC-SVM (CAE)", ORACLE, "ADT (plain)", "ADT (Dirichlet)"]


def test_the_oracle_is_above_every_point_of_its_grid() -> None:
    images, truth = ramps(8, rising=True, seed=0), np.arange(8) % 2 == 0
    baseline = OCSVM(epochs=1, nu=0.5, gamma=0.25).fit(images)
    best = best_of_grid(baseline, images, images, truth)
    assert roc_auc_score(truth, baseline.score_samples(images)) <= best <= 1


def test_a_stratified_subset_has_every_class_equally() -> None:
    images = ImageSet(ramps(30, rising=True, seed=0), np.arange(30) % 3, ("a", "b", "c"), ["x"] * 30, "ramps")
    assert np.bincount(np.asarray(stratified(images, 12, 0).labels)).tolist() == [4, 4, 4]


def test_all_images_of_a_class_are_tested_beside_a_sample_of_the_others() -> None:
    images = ImageSet(ramps(30, rising=True, seed=0), np.arange(30) % 3, ("a", "b", "c"), ["x"] * 30, "ramps")
    for total, others in ((25, 15), (10, 10)):  # a class may have as many test images as are asked for in all
        labels = np.asarray(beside_others(images, 1, total).labels)
        assert ((labels == 1).sum(), (labels != 1).sum()) == (10, others)


def test_a_case_beyond_cifar10_is_measured_class_by_class(tmp_path: Path) -> None:
    pixels = np.concatenate([ramps(6, rising=True, seed=0), ramps(6, rising=False, seed=1)])
    images = ImageSet(pixels, np.repeat([0, 1], 6), ("up", "down"), [str(i) for i in range(12)], "ramps")
    whole = [*wider_parts(Case("ramps", "ADT", 4, 2), ADT(epochs=1, width=1), images, images, tested=9)]
    assert [part.name for part in whole] == ["ramps, ADT-4, up", "ramps, ADT-4, down"]
    run_parts("wider", whole, {}, only=["ramps, ADT-4, down"], folder=tmp_path)
    assert progress("wider", tmp_path) == (1, 2)
    (row,) = results("wider", tmp_path).values()
    assert (row["class"], row["label"], row["test images"]) == ("down", 1, 12)
    assert set(row["auc"]) == {"ADT (plain)", "ADT (Dirichlet)"}
    assert whole[0].settings["network"] == "bfloat16"


def test_adt_learns_in_bfloat16() -> None:
    def images(count: int, seed: int) -> ImageSet:
        pixels = np.concatenate([ramps(count, rising=True, seed=seed), ramps(count, rising=False, seed=seed + 1)])
        return ImageSet(pixels, np.repeat([0, 1], count), ("up", "down"), ["x"] * 2 * count, "ramps")

    case, method = Case("ramps", "ADT", 6, 2), ADT(epochs=1, width=1, batch_size=32)
    for part in wider_parts(case, method, images(6, 0), images(8, 2), tested=16):
        assert min(part.work()["auc"].values()) > 0.9


def test_classes_are_evenly_spaced() -> None:
    assert spaced(10, 20) == list(range(0, 20, 2))
    assert spaced(3, 10) == [0, 3, 6]
