"""Files that are whole or absent: written beside their place, then moved into it."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a crash, a kill or a full disk leaves what was there before untouched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(
            error.errno, f"cannot write it, what was there before is unchanged: {error.strerror}", str(path)
        ) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
