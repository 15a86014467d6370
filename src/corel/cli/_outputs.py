"""Where results may go: not over what a command reads, nor over a file of another kind than it writes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from corel._io.atomic import is_stream
from corel._io.filetype import kind_of


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
        if path.is_dir():
            raise ValueError(f"{option} {path} is a folder; name a file")
        if any(_are_same(path, each) for each in used):
            raise ValueError(f"{option} {path} would replace what this command reads or writes; name another file")
        if (there := kind_of(path)) not in (None, kind):
            raise ValueError(f"{option} {path} is {there}, and {kind} would replace it; name another file")
        used.append(path)


def _are_same(one: Path, other: Path) -> bool:
    return one == other or (one.exists() and other.exists() and one.samefile(other))
