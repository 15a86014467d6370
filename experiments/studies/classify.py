"""Many one-class models as one classifier: CIFAR-10's ten classes with 120 exemplars each.

``python -m experiments classify --data DIR`` measures the conformal prediction sets, the classes that do not reject an
image: how often they hold the true class, how large they are and how often they are empty; and the top-1 accuracy of
the ranking by score. It writes experiments/results/classify.json.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corel._terminal import track
from corel.oneclass import ClassBank, prediction_sets
from experiments._lib.names import SCORES
from experiments._lib.record import record
from experiments.studies.conformal import Setting, setting_from_command_line

EXEMPLARS, DRAWS, RATES = 120, 5, (0.01, 0.05, 0.1, 0.2)


def run(setting: Setting) -> None:
    """Measure both scores over several draws of the exemplars."""
    start, results = time.perf_counter(), {}
    for score in SCORES:
        banks = (setting.bank(EXEMPLARS, draw, score) for draw in track(range(DRAWS), score))
        draws = [measure(bank, setting.test, setting.test_labels) for bank in banks]
        results[score] = {key: _mean_and_spread([draw[key] for draw in draws]) for key in draws[0]}
    config = {"backbone": setting.backbone.digest, "exemplars": EXEMPLARS, "draws": DRAWS, "rates": RATES}
    record("classify", config=config, results=results, seed=0, seconds=time.perf_counter() - start)


def measure(bank: ClassBank, points: NDArray[np.float32], truth: NDArray[np.int64]) -> dict[str, float]:
    """Top-1 accuracy, and at each rate the coverage, mean size and emptiness of the prediction sets."""
    scores, p_values = bank.assess(points)
    found = {"top-1": float((scores.argmax(1) == truth).mean())}
    for rate in RATES:
        sets = prediction_sets(scores, p_values, rate)
        sizes = np.array([len(each) for each in sets])
        found[f"coverage at {rate:g}"] = float(np.mean([t in each for t, each in zip(truth, sets, strict=True)]))
        found[f"size at {rate:g}"] = float(sizes.mean())
        found[f"empty at {rate:g}"] = float((sizes == 0).mean())
    return found


def _mean_and_spread(values: list[float]) -> dict[str, Any]:
    return {"mean": float(np.mean(values)), "spread": float(np.std(values, ddof=1))}


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    run(setting_from_command_line(__name__, __doc__, argv))
