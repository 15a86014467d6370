"""Lists that come with a dataset as text: class names, file names, labels."""

from __future__ import annotations

from pathlib import Path

from corel._io.regular import read_regular

_MOST = 64 << 20  # bytes; the longest official list has 3 MB


def read_lines(path: Path) -> list[str]:
    """Read a text file's lines, empty ones left out."""
    try:
        text = read_regular(path, _MOST).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a text file ({error}); fetch the dataset again") from error
    return [line for line in map(str.strip, text.splitlines()) if line]
