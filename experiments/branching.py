"""The paper's Figure 4: connectivity and reconstruction over training, 160 dimensions as 1, 16 or 32 branches.

Writes experiments/results/branching.json and docs/figures/branching.png.
"""

from __future__ import annotations

from corel.training import TrainConfig
from experiments import _figures
from experiments._trainings import EPOCHS, folders
from experiments._variants import run_variants

VARIANTS = {
    f"{branches} × {160 // branches}": TrainConfig(branches=branches, branch_dim=160 // branches, epochs=EPOCHS)
    for branches in (1, 16, 32)
}


def main() -> None:
    """Read the command line, measure and draw."""
    arguments = folders(__doc__, ("data", "runs"))
    run_variants("branching", VARIANTS, arguments.data, arguments.runs)
    _figures.save("branching")
