"""How many galleries call more known images strangers than the rate, with and without a confidence?

``python -m experiments confidence --data DIR --runs DIR`` draws 200 galleries from a pool of images and asks each about
all images of the pool that it does not hold, and about strangers from another set. A violation is a gallery that calls
more than 5% of the unseen images of its classes strangers; a confidence of 95% allows 5% of the galleries to. It writes
experiments/results/confidence.json; encodings are kept in the runs folder.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from corel._terminal import track
from corel.backbone import Backbone
from corel.oneclass import Split, calibrating_size, strict_limit
from experiments._lib import command
from experiments._lib.pools import CASES, CLASSES, Pool, Rows, full_p_values
from experiments._lib.record import record

RATE, CONFIDENCE, GALLERIES = 0.05, 0.95, 200
FULL = 50  # galleries for full-conformal p-values, which take three times as long
SIZES = (120, 600)  # exemplars of all classes together
STRANGERS = 500


def measure(known: Pool, strangers: Rows, m: int) -> dict[str, Any]:
    """Shares called stranger, of unseen images of the classes and of strangers, by each rule over all galleries."""
    held_out, rows = calibrating_size(m, RATE, CONFIDENCE), np.concatenate([known.rows, strangers])
    limits = {"confidence": strict_limit(RATE, CONFIDENCE, held_out), "split": RATE, "full": RATE}
    shares: dict[str, list[tuple[float, float]]] = {rule: [] for rule in limits}
    for draw in range(GALLERIES):
        order = np.random.default_rng([m, draw]).permutation(len(known.rows))
        bank, unseen = known.bank(order[:m]), order[m:]
        by_split = Split.of(bank, calibrating=held_out).p_values(rows)
        found = {"confidence": by_split, "split": by_split}
        if draw < FULL:
            found["full"] = full_p_values(bank, rows)
        for rule, p in found.items():
            called = p <= limits[rule]
            shares[rule].append((float(called[unseen].mean()), float(called[len(known.rows) :].mean())))
    settings = {"calibrating": held_out, "unseen": len(known.rows) - m, "limit": limits["confidence"]}
    return {**settings, **{rule: summary(np.array(shares[rule])) for rule in limits}}


def summary(shares: Any) -> dict[str, float]:
    """Of shares `[galleries, 2]`, of known images and of strangers called stranger."""
    violations = int((shares[:, 0] > RATE).sum())
    return {
        "galleries": len(shares),
        "violations": violations,
        "chance of as many": float(binom.sf(violations - 1, len(shares), 1 - CONFIDENCE)),
        "known called stranger": float(shares[:, 0].mean()),
        "highest": float(shares[:, 0].max()),
        "strangers stopped": float(shares[:, 1].mean()),
    }


def run(data: Path, runs: Path) -> None:
    """Measure every case and write down what was found."""
    start, backbone = time.perf_counter(), Backbone.load()
    pools = {name: Pool.of(backbone, name, data, runs) for name in CLASSES}
    rows = []
    for known, other in track(CASES, "galleries"):
        strangers = np.random.default_rng(0).permutation(pools[other].rows)[:STRANGERS]
        case = {"known": known, "strangers": other}
        rows += [{**case, "exemplars": m, **measure(pools[known], strangers, m)} for m in SIZES]
    method = pools["cifar10"].settings["method"]
    config = {"backbone": backbone.digest, "method": method, "rate": RATE, "confidence": CONFIDENCE}
    record("confidence", config=config, results=rows, seed=0, seconds=time.perf_counter() - start)


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    arguments = command.folders(__name__, __doc__, argv)
    run(arguments.data, arguments.runs)
