"""Do the promises about one gallery and about many images hold on real data, and what do they cost?

``python -m experiments daily --data DIR --runs DIR`` draws galleries from a pool of images. *Bags*: over 200 galleries,
how many call more than 5% of the unseen images of their classes strangers, with and without a confidence of 95%, and
how many strangers are stopped. *Selection*: the false discovery rate and the share of strangers found among 2,000
images, by Benjamini and Hochberg on a split, and by Benjamini and Yekutieli on full-conformal p-values. It writes
experiments/results/daily.json; encodings are kept in the runs folder.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, false_discovery_control

import corel.images
from corel._terminal import track
from corel.backbone import Backbone
from corel.oneclass import (
    Calibration,
    ClassBank,
    Split,
    backbone_settings,
    calibrating_size,
    discoveries,
    preferred_method,
    strict_limit,
)
from experiments._lib import command
from experiments._lib.record import record

RATE, CONFIDENCE, BAGS, UNSEEN = 0.05, 0.95, 200, 4000
FDR, DRAWS, IMAGES, ENROLLED, COPIES = 0.1, 100, 2000, 1200, 10
FULL_BAGS, FULL_DRAWS = 50, 30  # for full-conformal p-values, which take three times as long
POOL = 6000  # images encoded of each set
CLASSES = {"cifar10": 10, "fashion-mnist": 10, "cifar100": 20}
CASES = (("cifar10", "fashion-mnist"), ("fashion-mnist", "cifar10"), ("cifar100", "fashion-mnist"))
SIZES = (120, 600)  # exemplars of all classes together
STRANGERS = 500  # of another set, to measure detection on
MIXES = {"5% strangers": (0.05, 1), "50% strangers": (0.5, 1), "5%, known images in bursts": (0.05, COPIES)}

Rows = NDArray[np.float32]
Doubles = NDArray[np.float64]


class Pool(NamedTuple):
    """Features of images of some classes."""

    rows: Rows
    labels: NDArray[np.int64]

    def bank(self, chosen: NDArray[np.int64], settings: dict[str, Any]) -> ClassBank:
        """A gallery of these images, each in its class."""
        labels = self.labels[chosen]
        return ClassBank.of([self.rows[chosen[labels == c]] for c in np.unique(labels)], **settings)


def pool(backbone: Backbone, name: str, data: Path, runs: Path) -> Pool:
    """Encode as many train images of each of the first classes, drawn at random; once."""
    file = runs / f"daily-{name}-{backbone.digest[:12]}.npz"
    if not file.exists():
        opened = corel.images.open(name, "train", root=data, size=backbone.network.input_shape[-1], progress=False)
        rng, labels = np.random.default_rng(0), np.asarray(opened.labels)
        each = POOL // CLASSES[name]
        drawn = [rng.permutation(np.flatnonzero(labels == c))[:each] for c in range(CLASSES[name])]
        chosen = np.sort(np.concatenate(drawn))
        np.savez(file, features=backbone.embed(opened.take(chosen)).features, labels=labels[chosen])
    kept = np.load(file)
    return Pool(kept["features"], kept["labels"])


def full(bank: ClassBank, rows: Rows) -> Doubles:
    """Full-conformal p-values for "of one of the classes", as verdicts use them."""
    likeness = bank.likeness(rows)
    return Calibration.of(bank).known(likeness)


def bags(known: Pool, strangers: Rows, m: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Shares called stranger, of unseen images of the classes and of strangers, by each rule over all galleries."""
    held_out = calibrating_size(m, RATE, CONFIDENCE)
    limits = {"confidence": strict_limit(RATE, CONFIDENCE, held_out), "split": RATE, "full": RATE}
    alarms: dict[str, list[float]] = {rule: [] for rule in limits}
    stopped: dict[str, list[float]] = {rule: [] for rule in limits}
    for draw in range(BAGS):
        order = np.random.default_rng([m, draw]).permutation(len(known.rows))
        bank = known.bank(order[:m], settings)
        rows = np.concatenate([known.rows[order[m : m + UNSEEN]], strangers])
        by_split = Split.of(bank, calibrating=held_out).p_values(rows)
        found = {"confidence": by_split, "split": by_split}
        if draw < FULL_BAGS:
            found["full"] = full(bank, rows)
        for rule, p in found.items():
            alarms[rule].append(float((p[:UNSEEN] <= limits[rule]).mean()))
            stopped[rule].append(float((p[UNSEEN:] <= limits[rule]).mean()))
    return {
        "calibrating": held_out, "unseen": UNSEEN, "limit": limits["confidence"],
        **{rule: _summary(alarms[rule], stopped[rule]) for rule in limits},
    }  # fmt: skip


def _summary(alarms: Sequence[float], stopped: Sequence[float]) -> dict[str, float]:
    violations = int((np.array(alarms) > RATE).sum())
    return {
        "galleries": len(alarms),
        "violations": violations,
        "chance of as many": float(binom.sf(violations - 1, len(alarms), 1 - CONFIDENCE)),
        "known called stranger": float(np.mean(alarms)),
        "highest": float(np.max(alarms)),
        "strangers stopped": float(np.mean(stopped)),
    }


def selection(known: Pool, strangers: Rows, share: float, copies: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Mean share of wrong images in a selection, and of strangers found, by each rule."""
    other = round(share * IMAGES)
    found: dict[str, list[tuple[float, float]]] = {}
    for draw in range(DRAWS):
        rng = np.random.default_rng([draw, other, copies])
        order = rng.permutation(len(known.rows))
        seen = np.repeat(order[ENROLLED : ENROLLED + (IMAGES - other) // copies], copies)
        drawn = strangers[rng.choice(len(strangers), other, replace=False)]
        rows, bank = np.concatenate([drawn, known.rows[seen]]), known.bank(order[:ENROLLED], settings)
        for rule, chosen in _chosen(bank, rows, by_full=draw < FULL_DRAWS).items():
            wrong = chosen[other:].sum() / max(chosen.sum(), 1)
            found.setdefault(rule, []).append((float(wrong), float(chosen[:other].mean())))
    means = {rule: np.mean(values, axis=0).tolist() for rule, values in found.items()}
    errors = {rule: float(np.std([wrong for wrong, _ in each]) / np.sqrt(len(each))) for rule, each in found.items()}
    return {rule: {"fdr": means[rule][0], "error": errors[rule], "power": means[rule][1]} for rule in found}


def _chosen(bank: ClassBank, rows: Rows, *, by_full: bool) -> dict[str, NDArray[np.bool_]]:
    chosen = {"split": discoveries(Split.of(bank).p_values(rows), FDR)}
    if by_full:
        p = full(bank, rows)
        chosen |= {"full": discoveries(p, FDR), "full, BY": false_discovery_control(p, method="by") <= FDR}
    return chosen


def run(data: Path, runs: Path) -> None:
    """Measure every case and write down what was found."""
    start, backbone = time.perf_counter(), Backbone.load()
    settings = backbone_settings(backbone, preferred_method(backbone))
    pools = {name: pool(backbone, name, data, runs) for name in CLASSES}
    rows = []
    for known, other in track(CASES, "galleries"):
        strangers = pools[other].rows
        few = strangers[np.random.default_rng(0).permutation(len(strangers))[:STRANGERS]]
        case = {"known": known, "strangers": other}
        rows += [{**case, "exemplars": m, **bags(pools[known], few, m, settings)} for m in SIZES]
        rows += [{**case, "mix": mix, **selection(pools[known], strangers, *MIXES[mix], settings)} for mix in MIXES]
    config = {
        "backbone": backbone.digest, "method": settings["method"], "rate": RATE, "confidence": CONFIDENCE, "bags": BAGS,
        "full bags": FULL_BAGS, "fdr": FDR, "draws": DRAWS, "full draws": FULL_DRAWS, "images": IMAGES,
        "enrolled": ENROLLED, "copies": COPIES,
    }  # fmt: skip
    record("daily", config=config, results=rows, seed=0, seconds=time.perf_counter() - start)


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    arguments = command.folders(__name__, __doc__, argv)
    run(arguments.data, arguments.runs)
