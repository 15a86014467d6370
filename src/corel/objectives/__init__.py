"""What is learned beside connectivity: one file an objective, found by its file's name.

Each file defines one subclass of `Objective` and calls it ``OBJECTIVE``. Nothing else needs to know of it.
"""

from __future__ import annotations

import importlib
import pkgutil

from corel._errors import ArgumentError
from corel.objectives._base import Objective as Objective


def names() -> list[str]:
    """Give the objectives there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def find(name: str) -> type[Objective]:
    """Give the objective of this name."""
    if name not in names():
        raise ArgumentError("objective", f"must be one of {', '.join(names())} in this version of corel, got {name!r}")
    objective: type[Objective] = importlib.import_module(f"{__name__}.{name}").OBJECTIVE
    return objective
