"""Records of the experiments: those of `measuring.record`, kept in `experiments/results` unless told otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import measuring.record
from experiments._lib.paths import RESULTS


def record(
    name: str, *, config: dict[str, Any], results: Any, seed: int | None, seconds: float, folder: Path = RESULTS
) -> Path:
    """Write ``folder/name.json`` atomically and return its path."""
    return measuring.record.record(name, config=config, results=results, seed=seed, seconds=seconds, folder=folder)


def read(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """The document that `record` wrote under this name."""
    return measuring.record.read(name, folder)
