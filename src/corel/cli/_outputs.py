"""Where results may go: not over what a command reads, nor over a file of another kind than it writes."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from corel._io.atomic import is_stream, write_atomically
from corel._io.filetype import FIGURE, PDF, TEXT, file_type

PICTURES = {".png": FIGURE, ".svg": TEXT, ".pdf": PDF}

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Output(NamedTuple):
    """An option, the file it names if it was given, and the kind of file that it writes."""

    option: str
    path: Path | None
    kind: str


def picture_style(out: Path) -> str:
    """Give the ending that says how a picture is written; refuse any other."""
    style = out.suffix.lower() or ".png"
    if style not in PICTURES:
        raise ValueError(f"--out {out} ends in {style}; pictures are written as {', '.join(PICTURES)}")
    return style


def write_picture(figure: Figure, out: Path) -> None:
    """Write a matplotlib figure atomically."""
    picture = io.BytesIO()
    figure.savefig(picture, format=picture_style(out).removeprefix("."), dpi=150)
    write_atomically(out, picture.getvalue())


def check_outputs(inputs: Iterable[str | Path | None], *outputs: Output) -> None:
    """Refuse, before any work begins, a command line whose results would replace something else."""
    used = [Path(each).expanduser() for each in inputs if each is not None]
    for option, path, kind in outputs:
        if path is None or is_stream(path):
            continue
        if path.parent.is_dir() and not os.access(path.parent, os.W_OK):
            raise ValueError(f"{option} {path} cannot be written: its folder allows no new files; name another place")
        if path.is_dir():
            raise ValueError(f"{option} {path} is a folder; name a file")
        if any(_are_same(path, each) for each in used):
            raise ValueError(f"{option} {path} would replace what this command reads or writes; name another file")
        if (there := file_type(path)) not in (None, kind):
            raise ValueError(f"{option} {path} is {there}, and {kind} would replace it; name another file")
        used.append(path)


def _are_same(one: Path, other: Path) -> bool:
    return one == other or (one.exists() and other.exists() and one.samefile(other))
