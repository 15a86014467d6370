"""What is known of a format: an example of its files, who reads them, and what a reader must notice."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

# What the library raises with a sentence for the user (corel.cli.EXPECTED).
SENTENCES = (ValueError, TypeError, OSError, ImportError, FloatingPointError)


def as_it_is(damaged: bytes) -> bytes:
    return damaged


@dataclass(frozen=True)
class Attacked:
    """A format.

    Attributes:
        file: the name of the file that is damaged; it may lie in a folder.
        example: gives its content, and the files that belong to it by their names.
        read: reads the file, and gives all that was read from it.
        readers: functions that open or parse files, as ``module.name``, which `read` calls.
        checked: whether a change of what is read must be noticed, since the file has a checksum of ours.
        dress: what is done to damaged content: compress it, or give it a right checksum.
        share: how many tries, for one of another format; less where each one takes a process.

    """

    file: str
    example: Callable[[], bytes]
    read: Callable[[Path], object]
    readers: tuple[str, ...]
    beside: Callable[[], Mapping[str, bytes]] = dict
    checked: bool = False
    dress: Callable[[bytes], bytes] = as_it_is
    share: float = 1.0


def through_file(name: str, write: Callable[[Path], object]) -> bytes:
    """Give the bytes of a file that a function writes."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, name))
        return Path(folder, name).read_bytes()


def each_of(*readers: Callable[[Path], object]) -> Callable[[Path], object]:
    """Read by several functions, whatever the others say; the first refusal is raised at the end."""

    def read(path: Path) -> object:
        found: list[object] = []
        refusals: list[Exception] = []
        for reader in readers:
            try:
                found.append(reader(path))
            except SENTENCES as error:  # noqa: PERF203 (the next one reads, whatever this one says)
                refusals.append(error)
        if refusals:
            raise refusals[0]
        return found

    return read


def refused_if_none(value: object, path: Path) -> object:
    """Give what was read; None is how some readers say that a file is not used."""
    if value is None:
        raise ValueError(f"{path} is not used")
    return value
