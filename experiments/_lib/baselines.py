"""What the record of the baselines holds: the names of its rows, and their means."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments import paper

# The published OC-SVM is the best of a grid by test AUC: an upper bound that nobody could have reached beforehand.
ORACLE = "OC-SVM (CAE), best of the grid by test AUC"
PUBLISHED = {name: name for name in paper.BASELINES_BY_CLASS} | {ORACLE: "OC-SVM (CAE)"}
OURS = "corel on the images ADT scored"

# Beyond CIFAR-10 at m = 120: dataset, method, exemplars, and on how many classes. The quick ones first.
WIDER = (
    ("cifar20", "OC-SVM (CAE)", 120, 20),
    ("cifar20", "DAGMM", 120, 20),
    ("cifar20", "DSEBM", 120, 20),
    ("cifar20", "Deep-SVDD", 120, 20),
    ("cifar100", "ADT", 120, 10),
    ("cifar20", "ADT", 120, 10),
    ("cifar10", "ADT", 1000, 3),
)
HALF = 3  # classes of CIFAR-10 on which ADT in bfloat16 is compared with ADT in float32

Row = dict[str, Any]


def wider_part(dataset: str, method: str, exemplars: int, kind: str) -> str:
    """What a row beyond CIFAR-10 at m = 120 is called in its record."""
    return f"{dataset}, {method}-{exemplars}, {kind}"


def half_part(kind: str) -> str:
    """What ADT in bfloat16 on a class of CIFAR-10 is called in that record."""
    return f"ADT in bfloat16, {kind}"


def summarize(rows: list[Row]) -> dict[str, dict[str, float]]:
    """Mean AUC of each score over the classes, beside the published mean, and seconds a class."""
    names = dict.fromkeys(name for row in rows for name in row["auc"])
    means = {}
    for name in names:
        own = [row for row in rows if name in row["auc"]]
        means[name] = {"auc": float(np.mean([row["auc"][name] for row in own]))}
        means[name] |= {
            key: float(np.mean([row[key] for row in own]))
            for key in ("fit seconds", "score seconds", "test images", "parameters")
        }
        if name in PUBLISHED:
            means[name]["published"] = paper.BASELINE_MEANS[PUBLISHED[name]]
    return means
