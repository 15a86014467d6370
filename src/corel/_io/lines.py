"""Files of JSON lines that only grow: after a kill every line in them is whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from corel._io.atomic import naming
from corel._io.regular import read_regular
from corel._terminal import shown


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read the lines that were written whole; none if there is no file."""
    if not path.exists():
        return []
    whole = read_regular(path).rpartition(b"\n")[0]
    try:
        return [json.loads(line) for line in whole.splitlines()]
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a file of JSON lines ({shown(error)}); name another") from error


def append_lines(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Append lines and write them to the disk; a last line that a kill cut off is removed first."""
    append_text(path, "".join(json.dumps(line) + "\n" for line in lines))


def append_text(path: Path, text: str) -> None:
    """Append whole lines of text and write them to the disk; a last line that a kill cut off is removed first."""
    with naming(path), path.open("ab+") as file:
        file.truncate(_whole(file))
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def _whole(file: IO[bytes]) -> int:
    """Count the bytes up to the end of the last whole line."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 1))
    if file.read() in (b"", b"\n"):
        return size
    file.seek(0)
    return file.read().rfind(b"\n") + 1
