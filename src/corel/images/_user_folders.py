"""Where datasets and caches live on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Give ``$COREL_CACHE``, or corel's folder among the user's caches; it need not exist."""
    if chosen := os.environ.get("COREL_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "corel"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "corel" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "corel"


def data_folder(root: str | os.PathLike[str] | None = None) -> Path:
    """Give the folder where known names are looked up: `root`, ``$COREL_DATA``, or ``data`` in the cache."""
    chosen = root if root is not None else os.environ.get("COREL_DATA")
    return Path(chosen).expanduser() if chosen else cache_folder() / "data"
