"""Tell the type of a file by its first bytes, not by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SAFETENSORS, TEXT, BINARY = "a safetensors file", "a text file", "a binary file"
PARQUET, PNG, FIGURE, PDF = "a Parquet file", "a PNG image", "a PNG figure", "a PDF file"
STARTS = {
    b"SQLite format 3\0": "a gallery or another SQLite file",
    b"PAR1": PARQUET,
    b"\x89PNG": PNG,
    b"\xff\xd8\xff": "a JPEG image",
    b"%PDF": PDF,
    b"\x93NUMPY": "a numpy file",
    b"PK\3\4": "an .npz or .zip file",
}
HEAD = 4096
SIGNATURES = (b"Matplotlib", b"corel find")  # of PNG files that corel writes; Matplotlib signs its own
# Text holds no control codes but those that lay it out.
CODES = frozenset(range(32)) - frozenset(b"\t\n\f\r")


def file_type(path: Path) -> str | None:
    """Give the type of a file in words; None if it is empty or does not exist."""
    if not path.is_file() or not (size := path.stat().st_size):
        return None
    with path.open("rb") as file:
        head = file.read(HEAD)
    # A safetensors file begins with the length of its header, then the header as JSON.
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < size:
        return SAFETENSORS
    kinds = (kind for start, kind in STARTS.items() if head.startswith(start))
    kind = next(kinds, TEXT if CODES.isdisjoint(head) else BINARY)
    return FIGURE if kind == PNG and any(name in head for name in SIGNATURES) else kind


def signed() -> Any:
    """Give what marks a PNG file as written by corel, for Pillow: it may be replaced, a photograph may not."""
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("Software", SIGNATURES[1].decode())
    return info
