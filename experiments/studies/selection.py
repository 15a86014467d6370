"""Of strangers selected among 2,000 images, how many are wrong, and how many strangers are found?

``python -m experiments selection --data DIR --runs DIR`` draws galleries of 1,200 exemplars and images with few or many
strangers, and selects at a false discovery rate of 10%: by Benjamini and Hochberg on p-values of a split, which is
proved; by the same on full-conformal p-values, which is not; and by Benjamini and Yekutieli on these, which is. In
bursts each known image comes ten times, which breaks the assumption. It writes experiments/results/selection.json.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from corel._terminal import track
from corel.backbone import Backbone
from corel.oneclass import ClassBank, Split, discoveries
from experiments._lib import command
from experiments._lib.pools import CASES, CLASSES, Pool, Rows, full_p_values
from experiments._lib.record import record

FDR, IMAGES, ENROLLED = 0.1, 2000, 1200
DRAWS, FULL = 60, 20  # full-conformal p-values take three times as long
# Share of strangers, and how often each known image comes.
MIXES = {"5% strangers": (0.05, 1), "50% strangers": (0.5, 1), "5% strangers, known images in bursts": (0.05, 10)}


def measure(known: Pool, strangers: Rows, share: float, copies: int) -> dict[str, Any]:
    """Mean share of wrong images in a selection with its standard error, and of strangers found, by each rule."""
    other = round(share * IMAGES)
    found: dict[str, list[tuple[float, float]]] = {}
    for draw in range(DRAWS):
        rng = np.random.default_rng([draw, other, copies])
        order = rng.permutation(len(known.rows))
        seen = np.repeat(order[ENROLLED : ENROLLED + (IMAGES - other) // copies], copies)
        drawn = strangers[rng.choice(len(strangers), other, replace=False)]
        rows, bank = np.concatenate([drawn, known.rows[seen]]), known.bank(order[:ENROLLED])
        for rule, chosen in choose(bank, rows, by_full=draw < FULL).items():
            wrong = chosen[other:].sum() / max(chosen.sum(), 1)
            found.setdefault(rule, []).append((float(wrong), float(chosen[:other].mean())))
    return {rule: summary(np.array(shares)) for rule, shares in found.items()}


def choose(bank: ClassBank, rows: Rows, *, by_full: bool) -> dict[str, NDArray[np.bool_]]:
    """What each rule selects."""
    chosen = {"split": discoveries(Split.of(bank).p_values(rows), FDR)}
    if by_full:
        p = full_p_values(bank, rows)
        chosen |= {"full": discoveries(p, FDR), "full, BY": false_discovery_control(p, method="by") <= FDR}
    return chosen


def summary(shares: Any) -> dict[str, float]:
    """Of shares `[draws, 2]`, of the selection that is wrong and of strangers found."""
    fdr, power = shares.mean(axis=0).tolist()
    error = float(shares[:, 0].std() / np.sqrt(len(shares)))
    return {"draws": len(shares), "fdr": fdr, "error": error, "power": power}


def run(data: Path, runs: Path) -> None:
    """Measure every case and write down what was found."""
    start, backbone = time.perf_counter(), Backbone.load()
    pools = {name: Pool.of(backbone, name, data, runs) for name in CLASSES}
    rows = []
    for known, other in track(CASES, "selections"):
        for mix, (share, copies) in MIXES.items():
            found = measure(pools[known], pools[other].rows, share, copies)
            rows.append({"known": known, "strangers": other, "images": mix, **found})
    config = {"backbone": backbone.digest, "fdr": FDR, "images": IMAGES, "enrolled": ENROLLED}
    record("selection", config=config, results=rows, seed=0, seconds=time.perf_counter() - start)


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    arguments = command.folders(__name__, __doc__, argv)
    run(arguments.data, arguments.runs)
