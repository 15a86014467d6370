"""The connectivity loss as the paper's text has it, summed over branches, beside the authors' code, which averages.

With 16 branches the sum weighs connectivity 16 times as heavily against reconstruction. The text also lets zero-length
bars count. Writes experiments/results/presets.json.
"""

from __future__ import annotations

from collections.abc import Sequence

from corel.training import TrainConfig
from experiments._lib.command import folders
from experiments._lib.trainings import EPOCHS
from experiments._lib.variants import run_variants

VARIANTS = {name: TrainConfig.preset(name, epochs=EPOCHS) for name in ("authors", "paper")}


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure."""
    arguments = folders(__name__, __doc__, argv)
    run_variants("presets", VARIANTS, arguments.data, arguments.runs)
