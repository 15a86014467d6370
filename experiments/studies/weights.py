"""The paper's Figure 5: the weight λ of the connectivity loss, over training and by the number m of exemplars.

Writes experiments/results/weights.json and docs/figures/weights.png.
"""

from __future__ import annotations

from collections.abc import Sequence

from corel.training import TrainConfig
from experiments._lib.command import folders
from experiments._lib.trainings import EPOCHS
from experiments._lib.variants import run_variants
from experiments.render import figures

VARIANTS = {f"λ = {weight:g}": TrainConfig(weight=weight, epochs=EPOCHS) for weight in (1.0, 10.0, 20.0, 40.0)}


def main(argv: Sequence[str]) -> None:
    """Read the command line, measure and draw."""
    arguments = folders(__name__, __doc__, argv)
    run_variants("weights", VARIANTS, arguments.data, arguments.runs)
    figures.save("weights")
