"""What the record of the baselines holds: the names of its rows, and their means."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments import paper

# The published OC-SVM is the best of a grid by test AUC: an upper bound that nobody could have reached beforehand.
ORACLE = "OC-SVM (CAE), best of the grid by test AUC"
PUBLISHED = {name: name for name in paper.BASELINES_BY_CLASS} | {ORACLE: "OC-SVM (CAE)"}
OURS = "corel on the images ADT scored"

Row = dict[str, Any]


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
