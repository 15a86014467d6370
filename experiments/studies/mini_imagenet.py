"""The protocol of Table 1 on mini-ImageNet: 100 of ImageNet's classes at 84 pixels, where the paper has all 1,000.

The encoders are CIFAR-10's and CIFAR-100's, as in the paper. DIR/mini-imagenet holds train (500 images a class) and val
(100 a class), a folder a class. Writes experiments/results/mini_imagenet.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments._lib.command import parser
from experiments._lib.encoded import DRAWS, Encoded
from experiments._lib.parts import Part, run_parts
from experiments._lib.trainings import FULL, paper_encoder
from experiments.studies.table1 import EXEMPLARS, measure

DATASET = "mini-imagenet"
ENCODERS = ("cifar10", "cifar100")


def _measure(auxiliary: str, data: Path, runs: Path) -> dict[str, Any]:
    return measure(Encoded.of(paper_encoder(auxiliary, data, runs), DATASET, data))


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what is missing."""
    command = parser(__name__, __doc__, ("data", "runs"))
    command.add_argument("--only", nargs="+", metavar="ENCODER", choices=ENCODERS, help="encoders to measure now")
    arguments = command.parse_args(argv)
    if not (arguments.data / DATASET).exists():
        raise FileNotFoundError(
            f"there is no folder {arguments.data / DATASET}; put mini-ImageNet's train and val there"
        )
    settings = {"exemplars": EXEMPLARS, "draws": DRAWS}
    parts = [
        Part(auxiliary, {**settings, "epochs": FULL}, partial(_measure, auxiliary, arguments.data, arguments.runs))
        for auxiliary in ENCODERS
    ]
    run_parts("mini_imagenet", parts, {**settings, "classes": 100}, only=arguments.only)
