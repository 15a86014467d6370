"""Results are committed JSON that says how it came to be: config, seed, commit, hardware, seconds and date."""

from __future__ import annotations

import datetime
import functools
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from corel._atomic import write_atomically

RESULTS = Path(__file__).parent / "results"


def record(
    name: str, *, config: dict[str, Any], results: Any, seed: int | None, seconds: float, folder: Path = RESULTS
) -> Path:
    """Write ``folder/name.json`` atomically and return its path."""
    document = {
        "name": name,
        "config": config,
        "seed": seed,
        "commit": commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "hardware": hardware(),
        "seconds": round(seconds, 1),
        "results": results,
    }
    path = folder / f"{name}.json"
    write_atomically(path, (json.dumps(document, indent=1, allow_nan=False) + "\n").encode())
    return path


def read(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """The document that `record` wrote under this name."""
    document: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    return document


@functools.cache  # or a record of several parts would call its first part a change of the tree
def commit() -> str:
    """The commit the numbers were made from, marked when the tree had changes."""
    git = ["git", "-C", str(RESULTS.parent), "describe", "--always", "--dirty", "--abbrev=12"]
    result = subprocess.run(git, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "unknown"


def hardware() -> dict[str, Any]:
    """The processor, its cores and the versions that decide speed."""
    import numba
    import torch

    return {
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "accelerator": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numba": numba.__version__,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
