"""The sweep of the score's radius from the authors' notebook: AUC on CIFAR-10 at m = 120 and 5,000.

Writes experiments/results/radius.json and docs/figures/radius.png.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from experiments import paper
from experiments._lib.command import folders
from experiments._lib.encoded import DRAWS, Encoded
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import AUXILIARY, FULL, paper_encoder
from experiments._lib.variants import EVALUATED
from experiments.render import figures

RADII = tuple(paper.RADIUS_SWEEP[120])


def sweep(m: int, data: Path, runs: Path) -> dict[str, float]:
    """AUC of the count by radius."""
    encoded = Encoded.of(paper_encoder(AUXILIARY, data, runs), EVALUATED, data)
    ways = {r: replace(encoded, settings={**encoded.settings, "radius": r}) for r in RADII}
    return {f"{r:g}": way.auc(m) for r, way in ways.items()}


def main(argv: Sequence[str]) -> None:
    """Read the command line, measure and draw."""
    arguments = folders(__name__, __doc__, argv)
    settings = {"auxiliary": AUXILIARY, "epochs": FULL, "radii": RADII}
    parts = [Part(str(m), settings, partial(sweep, m, arguments.data, arguments.runs)) for m in paper.RADIUS_SWEEP]
    run_parts("radius", parts, {**settings, "evaluated": EVALUATED, "draws": DRAWS})
    figures.save("radius")
