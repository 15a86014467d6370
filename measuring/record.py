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

from corel._io.atomic import write_atomically

REPOSITORY = Path(__file__).parents[1]


def record(name: str, *, config: dict[str, Any], results: Any, seed: int | None, seconds: float, folder: Path) -> Path:
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


def read(name: str, folder: Path) -> dict[str, Any]:
    """The document that `record` wrote under this name."""
    document: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    return document


@functools.cache  # what is edited while a long experiment runs is not what runs
def commit(repository: Path = REPOSITORY) -> str:
    """The commit the numbers were made from, marked when code or weights had changes; other results decide nothing."""
    head = _git(repository, "rev-parse", "--short=12", "HEAD")
    changes = _git(repository, "status", "--porcelain", "--", "src", "*.py", "constraints.txt")
    return f"{head}-dirty" if head and changes else head or "unknown"


def _git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


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
