"""One class of a table from a few rows: branches on features beside scikit-learn's detectors, on its bundled data.

python -m experiments features      # a minute of one core; writes experiments/results/features.json

A random half of each table is train, the other test. Each class in turn is enrolled by some of its train rows, the
same for every method, and all test rows are ranked. Ours trains one head a split on all train rows without labels and
contrasts with them; the detectors see the enrolled rows alone, in the same standardized units, for they have no use for
others. Ours is the preset features for a fixed number of steps, theirs are scikit-learn's defaults. One thing was added
after a look at the results: LocalOutlierFactor's 20 neighbors are more than there are, so it takes all and does badly;
a row with 5 gives it a fair chance.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.model_selection import train_test_split
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from corel._terminal import track
from corel.evaluation import one_vs_all_auc
from corel.oneclass import OneClass
from corel.training import TrainConfig, train
from experiments._lib import command
from experiments._lib.names import SCORES
from experiments._lib.record import record

TABLES: dict[str, Callable[..., Any]] = {"breast cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}
ENROLLED, SPLITS, STEPS = 20, 5, 600
NEIGHBORS = (5, ENROLLED - 1)
CONFIG = TrainConfig.preset("features")

Rows = NDArray[np.float64]
Aucs = dict[str, float]
Method = Callable[[Rows, Rows], Rows]  # enrolled rows and rows to rank, to a score of each that is higher in the class


def main(argv: Sequence[str]) -> None:
    """Measure every table, print and record."""
    command.parser(__name__, __doc__).parse_args(argv)
    torch.set_num_threads(1)  # the head is so small that a second thread only waits
    started = time.perf_counter()
    splits = [(table, split) for table in TABLES for split in range(SPLITS)]
    measured = [(table, _split(table, split)) for table, split in track(splits, "tables")]
    results = [
        {"table": table, **row}
        for table in TABLES
        for row in _summary([aucs for name, aucs in measured if name == table])
    ]
    for row in results:
        print(f"{row['table']:14} {row['method']:34} {row['auc']:.3f} ± {row['sd']:.3f}")
    config = {"enrolled": ENROLLED, "splits": SPLITS, "steps": STEPS, "preset": "features", "sd": "over splits"}
    record("features", config=config, results=results, seed=0, seconds=time.perf_counter() - started)


def _split(table: str, split: int) -> Aucs:
    """The mean over classes of each method's one-class AUC on one split."""
    rows, labels = TABLES[table](return_X_y=True)
    known, unknown, classes, truth = train_test_split(rows, labels, test_size=0.5, stratify=labels, random_state=split)
    methods = {**_ours(known, split), **_detectors(known, split)}
    enrolled = [known[chosen] for chosen in _draws(classes, split)]
    return {
        name: float(one_vs_all_auc(truth, np.stack([method(few, unknown) for few in enrolled], axis=1)).mean())
        for name, method in methods.items()
    }


def _draws(classes: NDArray[np.int64], split: int) -> list[NDArray[np.int64]]:
    """The train rows that stand for each class."""
    random = np.random.default_rng(split)
    return [random.permutation(np.flatnonzero(classes == label))[:ENROLLED] for label in np.unique(classes)]


def _ours(known: Rows, split: int) -> dict[str, Method]:
    """Both scores on the latents of one head."""
    epochs = STEPS // (len(known) // CONFIG.batch_size)
    backbone = train(known, replace(CONFIG, epochs=epochs, seed=split), progress=False)

    def method(score: str) -> Method:
        model = OneClass.from_backbone(backbone, method=score)
        return lambda few, rows: model.fit(backbone.encode(few)).score_samples(backbone.encode(rows))

    return {f"corel, {score}": method(score) for score in SCORES}


def _detectors(known: Rows, split: int) -> dict[str, Method]:
    """scikit-learn's detectors on rows in units of the train half's deviations."""
    scale = StandardScaler().fit(known)

    def method(model: Any) -> Method:
        return lambda few, rows: model.fit(scale.transform(few)).score_samples(scale.transform(rows))

    return {
        "IsolationForest": method(IsolationForest(random_state=split)),
        **{f"LocalOutlierFactor, {k} neighbors": method(LocalOutlierFactor(k, novelty=True)) for k in NEIGHBORS},
        "OneClassSVM": method(OneClassSVM()),
    }


def _summary(splits: list[Aucs]) -> list[dict[str, Any]]:
    return [
        {"method": name, "auc": float(np.mean(found)), "sd": float(np.std(found, ddof=1))}
        for name in splits[0]
        for found in [[aucs[name] for aucs in splits]]
    ]
