"""The paper's Figure 4: connectivity and reconstruction over training, 160 dimensions as 1, 16 or 32 branches.

Writes experiments/results/branching.json and docs/figures/branching.png.
"""

from __future__ import annotations

from collections.abc import Sequence

from corel.training import TrainConfig
from experiments._lib.command import folders
from experiments._lib.trainings import EPOCHS
from experiments._lib.variants import run_variants
from experiments.render import figures

VARIANTS = {
    f"{branches} × {160 // branches}": TrainConfig(branches=branches, branch_dim=160 // branches, epochs=EPOCHS)
    for branches in (1, 16, 32)
}


def main(argv: Sequence[str]) -> None:
    """Read the command line, measure and draw."""
    arguments = folders(__name__, __doc__, argv)
    run_variants("branching", VARIANTS, arguments.data, arguments.runs)
    figures.save("branching")
