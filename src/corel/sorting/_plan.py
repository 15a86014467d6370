"""The plan of a sort: records in the undo list, written before any file is touched.

A record says "this file goes there". The file system says whether it happened. So after a kill at any moment the list
and the folders together tell what is left to do, and what to take back.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Any

from corel._io.lines import append_lines, read_lines

LIST = "corel-sort.jsonl"
NOT_CLASSES = ("unsure", "stranger", "not a photograph")


class How(str, Enum):
    """How a file gets into a folder."""

    COPY = "copy"
    LINK = "link"
    MOVE = "move"


@dataclass(frozen=True)
class Record:
    """A file and where it goes, with the size and time by which it is known again."""

    how: str
    source: str
    target: str
    size: int
    modified: int

    @classmethod
    def of(cls, how: How, source: Path, target: Path) -> Record:
        """Plan for a file as it is now."""
        found = source.stat()
        return cls(how.value, str(source), str(target), found.st_size, found.st_mtime_ns)

    @classmethod
    def read(cls, line: Any, undo_list: Path) -> Record:
        """Read a line; the list may come from a stranger, so that only files in its folder are touched."""
        match line:
            case {"how": "copy" | "link" | "move", "source": str(), "target": str(), "size": int(), "modified": int()}:
                record = cls(**{name: line[name] for name in cls.__dataclass_fields__})
                if undo_list.parent in Path(os.path.normpath(record.target)).parents:
                    return record
        raise ValueError(f"{undo_list} is not an undo list of `corel sort`; name the one in the sorted folder")

    def is_in(self, folder: Path) -> bool:
        """Whether the target lies in a folder, also if links on the way there are followed."""
        parent = Path(os.path.realpath(Path(self.target).parent))
        return Path(os.path.realpath(folder)) in (parent, *parent.parents)

    def is_of(self, path: Path) -> bool:
        """Whether a file looks like the one planned for; some file systems keep times to two seconds."""
        found = path.stat()
        return found.st_size == self.size and abs(found.st_mtime_ns - self.modified) <= 2_000_000_000


def read_records(path: Path) -> list[Record]:
    """Read the records in effect: a target was free when a record was made, so only the last one with it counts."""
    records = [Record.read(line, path) for line in read_lines(path)]
    last = {record.target: record for record in records}
    return [record for record in records if last[record.target] is record]


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Add records; they are on the disk when this returns."""
    append_lines(path, map(asdict, records))


def folder_name(name: str) -> str:
    """Name the folder of a class, whose name may be anything, such as ".." or "stranger"."""
    return f"class {name}" if name.startswith(".") or name.lower() in (*NOT_CLASSES, LIST) else name


def free_target(folder: Path, name: str, taken: set[Path]) -> Path:
    """Find a name that nothing has yet: a.png, a-2.png, a-3.png, …"""
    target = next(each for each in _names(folder, name) if each not in taken and not os.path.lexists(each))
    taken.add(target)
    return target


def _names(folder: Path, name: str) -> Iterator[Path]:
    yield folder / name
    stem, ending = os.path.splitext(name)  # noqa: PTH122 (a name may end in a dot)
    yield from (folder / f"{stem}-{number}{ending}" for number in count(2))
