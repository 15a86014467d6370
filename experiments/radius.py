"""The sweep of the score's radius from the authors' notebook: AUC on CIFAR-10 at m = 120 and 5,000.

Needs no training where the encoder ships. Writes experiments/results/radius.json and docs/figures/radius.png.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from corel.training import TrainConfig
from experiments import _figures, paper
from experiments._encoded import DRAWS, Encoded
from experiments._parts import Part, run_parts
from experiments._trainings import FULL, auxiliary_of_figures, folders, trained
from experiments._variants import EVALUATED

RADII = tuple(paper.RADIUS_SWEEP[120])


def sweep(m: int, auxiliary: str, data: Path, runs: Path) -> dict[str, float]:
    """AUC of the count by radius."""
    encoded = Encoded.of(trained(auxiliary, TrainConfig(epochs=FULL), data, runs), EVALUATED, data)
    ways = {r: replace(encoded, settings={**encoded.settings, "radius": r}) for r in RADII}
    return {f"{r:g}": way.auc(m) for r, way in ways.items()}


def main() -> None:
    """Read the command line, measure and draw."""
    arguments = folders(__doc__, ("data", "runs"))
    auxiliary = auxiliary_of_figures(arguments.data)
    settings = {"auxiliary": auxiliary, "radii": RADII}
    parts = [
        Part(str(m), settings, partial(sweep, m, auxiliary, arguments.data, arguments.runs)) for m in paper.RADIUS_SWEEP
    ]
    run_parts("radius", parts, {**settings, "evaluated": EVALUATED, "draws": DRAWS})
    _figures.save("radius")
