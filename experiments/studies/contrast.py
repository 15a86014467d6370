"""Scores and controls on test splits, cell by cell: what the encoder, its training and the score contribute.

Controls are the same encoder before training, nearest neighbors on latents, the same less those of the background, and
nearest neighbors on pixels. Writes experiments/results/contrast.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corel.evaluation import evaluate
from experiments._lib.command import parser
from experiments._lib.names import SCORES
from experiments._lib.parts import Part, named, run_parts
from experiments._lib.trainings import FULL, is_here, paper_encoder, split

EXEMPLARS, DRAWS = (10, 120), 3
AUXILIARY = ("cifar10", "tiny-imagenet", "cifar100")
EVALUATED = ("cifar10", "cifar20", "cifar100", "tiny-imagenet")  # quick ones first
NOTE = "where a dataset is its own auxiliary set, the background contains unlabeled images of the other classes"


def measure(auxiliary: str, evaluated: str, data: Path, runs: Path) -> list[dict[str, Any]]:
    """Mean AUC of each method at each m, as `corel.evaluate` sums them up."""
    train, test = (split(evaluated, part, data) for part in ("train", "test"))
    backbone = paper_encoder(auxiliary, data, runs)
    rows: list[dict[str, Any]] = evaluate(
        backbone, train, test, exemplars=EXEMPLARS, draws=DRAWS, scores=SCORES
    ).document()["summary"]
    return rows


def _part(auxiliary: str, evaluated: str, data: Path, runs: Path) -> Part:
    settings = {"exemplars": EXEMPLARS, "draws": DRAWS, "epochs": FULL}
    return Part(f"{auxiliary} → {evaluated}", settings, lambda: measure(auxiliary, evaluated, data, runs))


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what is missing."""
    command = parser(__name__, __doc__, ("data", "runs"))
    command.add_argument("--only", nargs="+", metavar="CELL", help="cells to measure now, such as 'cifar10 → cifar20'")
    arguments = command.parse_args(argv)
    parts = [
        _part(auxiliary, evaluated, arguments.data, arguments.runs)
        for evaluated in EVALUATED
        for auxiliary in AUXILIARY
        if is_here(evaluated, arguments.data) and (auxiliary != "cifar100" or is_here(auxiliary, arguments.data))
    ]
    run_parts(
        "contrast", parts, {"exemplars": EXEMPLARS, "draws": DRAWS, "note": NOTE}, only=named(parts, arguments.only)
    )
