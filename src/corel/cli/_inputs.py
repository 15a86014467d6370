"""Names of images as people give them (files, folders, globs, a list on standard input), and what was not read."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from corel._terminal import console, printable

if TYPE_CHECKING:
    from corel.images import Skipped

STANDARD_INPUT = "-"


class Named(NamedTuple):
    """What arguments stand for: a source to enroll or score, and the files that are known before it is read."""

    source: Any
    files: Sequence[Path]


def named_files(arguments: Sequence[str]) -> Named:
    """Look up all names but those on standard input now, so that a mistyped one is an error before any result."""
    from corel.images import find_files

    if STANDARD_INPUT not in arguments:
        found = find_files(arguments, exist=True)
        return Named(found, found.files)
    parts = [None if each == STANDARD_INPUT else find_files([each], exist=True) for each in arguments]
    # Pictures that cannot be read are passed on too, so that the command can list them at its end.
    source = chain.from_iterable(_standard_input() if part is None else [*part.files, *part.unread] for part in parts)
    return Named(source, [file for part in parts if part is not None for file in part.files])


def _standard_input() -> Iterator[Path]:
    return (Path(name) for line in sys.stdin if (name := line.rstrip("\r\n")))


def report_skipped(skipped: Sequence[Skipped]) -> None:
    """Print what was not read, the first ten by name."""
    for each in skipped[:10]:
        console().print(f"skipped: {printable(each.path)} {each.reason}", markup=False)
    if len(skipped) > 10:
        console().print(f"skipped: {len(skipped) - 10:,} more")
