"""The paper's Figure 5: the weight λ of the connectivity loss, over training and by the number m of exemplars.

Writes experiments/results/weights.json and docs/figures/weights.png.
"""

from __future__ import annotations

from corel.training import TrainConfig
from experiments import _figures
from experiments._trainings import EPOCHS, folders
from experiments._variants import run_variants

VARIANTS = {f"λ = {weight:g}": TrainConfig(weight=weight, epochs=EPOCHS) for weight in (1.0, 10.0, 20.0, 40.0)}


def main() -> None:
    """Read the command line, measure and draw."""
    arguments = folders(__doc__, ("data", "runs"))
    run_variants("weights", VARIANTS, arguments.data, arguments.runs)
    _figures.save("weights")
