"""The README's table of accuracy: each cell of the protocol beside the authors' and the controls."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments import paper
from experiments._lib.names import SCORES, pairing
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.cells import M, Pair, control_rows, trainings
from experiments.render.tables import Row, markdown

CONTROLS = {
    "count, untrained encoder": "untrained, count",
    "contrast, untrained encoder": "untrained, contrast",
    "5 nearest neighbors, latents": "5-NN, latents",
    "5-NN minus the background's 50-NN, latents": "5-NN − 50-NN, latents",
    "5 nearest neighbors, pixels": "5-NN, pixels",
}


def results(records: Path = RESULTS) -> str:
    """The authors' AUC, ours by both scores, and the controls; one row a cell that was measured."""
    controls = _controls(records)
    pairs = [(cell.auxiliary, cell.evaluated) for cell in paper.CELLS]
    rows = [_row(pair, controls, records) for pair in pairs if trainings(pair, "count", M, records)]
    heading = ["encoder trained on → classes of", "authors", "corel, count", "corel, contrast", *CONTROLS.values()]
    note = (
        "corel: mean over the trainings that were measured, one to three, controls by the first; authors: one "
        "training; contrastive: one."
    )
    return f"{markdown(heading, [*rows, *_stronger(records)])}\n\n{note}"


def _row(pair: Pair, controls: dict[Pair, dict[str, float]], records: Path) -> Row:
    ours = [float(np.mean(trainings(pair, score, M, records))) for score in SCORES]
    known = controls.get(pair, {})
    return [pairing(*pair), f"{paper.cell(*pair).m120:.3f}", *(f"{auc:.3f}" for auc in ours),
            *(_optional(known.get(method)) for method in CONTROLS)]  # fmt: skip


def _stronger(records: Path) -> list[Row]:
    """The same of the contrastive encoder, once it was measured."""
    if not (records / "stronger.json").exists():
        return []
    rows: list[Row] = []
    for target, measured in read("stronger", records)["results"].items():
        auc = {row["method"]: row["mean"] for row in measured if row["exemplars"] == M}
        title = f"{pairing('tiny-imagenet', target)}, contrastive"
        rows.append([title, "–", *(_optional(auc.get(method)) for method in (*SCORES, *CONTROLS))])
    return rows


def _controls(records: Path) -> dict[Pair, dict[str, float]]:
    if not (records / "contrast.json").exists():
        return {}
    return {
        pair: {method: auc for (m, method), auc in by.items() if m == M} for pair, by in control_rows(records).items()
    }


def _optional(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
