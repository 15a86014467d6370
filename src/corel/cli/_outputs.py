"""Where results may go: not over what a command reads, nor over a file of another kind than it writes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from corel._atomic import is_stream

BACKBONE, TEXT, BINARY = "a safetensors file", "a text file", "a binary file"
PARQUET, PNG, PDF = "a Parquet file", "a PNG image", "a PDF file"
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
# Text holds no control codes but those that lay it out.
CODES = frozenset(range(32)) - frozenset(b"\t\n\f\r")


class Output(NamedTuple):
    """An option, the file it names if it was given, and the kind of file that it writes."""

    option: str
    path: Path | None
    kind: str


def check_outputs(inputs: Iterable[str | Path | None], *outputs: Output) -> None:
    """Refuse, before any work begins, a command line whose results would replace something else."""
    used = [Path(each).expanduser() for each in inputs if each is not None]
    for option, path, kind in outputs:
        if path is None or is_stream(path):
            continue
        if any(_are_same(path, each) for each in used):
            raise ValueError(f"{option} {path} would replace what this command reads or writes; name another file")
        if (there := _kind(path)) not in (None, kind):
            raise ValueError(f"{option} {path} is {there}, and {kind} would replace it; name another file")
        used.append(path)


def _are_same(one: Path, other: Path) -> bool:
    return one == other or (one.exists() and other.exists() and one.samefile(other))


def _kind(path: Path) -> str | None:
    """Tell what a file is by how it begins; None is an empty file, or one to come."""
    if not path.is_file() or not (size := path.stat().st_size):
        return None
    with path.open("rb") as file:
        head = file.read(HEAD)
    # The length of a header, and the header as JSON.
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < size:
        return BACKBONE
    kinds = (kind for start, kind in STARTS.items() if head.startswith(start))
    return next(kinds, TEXT if CODES.isdisjoint(head) else BINARY)
