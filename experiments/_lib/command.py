"""The command line of a study."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

HELP = {"data": "where the datasets are laid out", "runs": "checkpoints and backbones of the trainings"}


def parser(module: str, description: str | None, needs: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of a study, given its `__name__` and `__doc__` and the folders it must be told."""
    made = argparse.ArgumentParser(
        prog=f"python -m experiments {module.rpartition('.')[2]}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for need in needs:
        made.add_argument(f"--{need}", type=Path, required=True, help=HELP[need])
    return made


def folders(
    module: str, description: str | None, arguments: Sequence[str], needs: Sequence[str] = ("data", "runs")
) -> argparse.Namespace:
    """Parse the arguments of a study that takes its folders and nothing else."""
    return parser(module, description, needs).parse_args(arguments)
