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
from tests.baselines.images import ramps

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_experiment_goes_on_where_it_stopped(tmp_path: Path) -> None:
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
