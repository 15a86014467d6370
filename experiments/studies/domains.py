"""Which shipped encoder suits which images: photographs, pictures of clothes in gray, handwritten digits.

``python -m experiments domains --data DIR`` evaluates every encoder that ships on each kind, with its controls, from as
many exemplars as the smallest dataset has. Writes experiments/results/domains.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

from corel.backbone import Backbone, shipped
from corel.evaluation import evaluate
from experiments._lib.command import folders
from experiments._lib.names import SCORES
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import split

SETS = ("cifar10", "fashion-mnist", "digits")
EXEMPLARS, DRAWS = 80, 3


def measure(encoder: str, dataset: str, data: Path) -> dict[str, float]:
    """Mean AUC of both scores and of the controls."""
    train, test = (split(dataset, part, data) for part in ("train", "test"))
    found = evaluate(Backbone.load(encoder), train, test, exemplars=[EXEMPLARS], draws=DRAWS, scores=SCORES)
    return {row.method: row.mean for row in found.summary()}


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what is missing."""
    arguments = folders(__name__, __doc__, argv, ("data",))
    settings = {"exemplars": EXEMPLARS, "draws": DRAWS}
    parts = [
        Part(f"{encoder} → {dataset}", {**settings, "encoder": Backbone.load(encoder).digests[-1]},
             partial(measure, encoder, dataset, arguments.data))
        for encoder, dataset in product(shipped(), SETS)
    ]  # fmt: skip
    run_parts("domains", parts, {**settings, "encoders": shipped(), "evaluated": SETS})
