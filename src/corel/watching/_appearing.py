"""New files in a folder, once nobody writes to them any more."""

from __future__ import annotations

import os
from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

from corel.images import EmptySourceError, find_files


class File(NamedTuple):
    """A file as it was when looked at; the same name with another size or time is another file."""

    path: str
    size: int
    modified: int


class Folder:
    """Polls a folder for files that are unchanged for a while."""

    def __init__(self, path: Path, settle: float) -> None:
        self.path = path
        self._settle = settle
        self._since: dict[File, float] = {}  # when each was first seen as it is
        self.unsettled = False  # whether the last look saw files that were not there long enough

    def settled(self, seen: Container[File], now: float) -> list[File]:
        """Look once, at the time `now`, and list what is new and stayed as it is long enough, the oldest first."""
        new = [each for each in self._files() if each not in seen]
        self._since = {each: self._since.get(each, now) for each in new}
        settled = [each for each in new if now - self._since[each] >= self._settle]
        self.unsettled = len(settled) < len(new)
        return sorted(settled, key=_by_age)

    def _files(self) -> list[File]:
        try:
            paths = find_files([self.path], exist=True).files
        except EmptySourceError:
            return []
        return [each for each in map(_looked_at, paths) if each is not None]


def _looked_at(path: Path) -> File | None:
    try:
        found = os.stat(path)  # noqa: PTH116 (a link is followed, as by reading it)
    except OSError:  # removed meanwhile
        return None
    return File(str(path), found.st_size, found.st_mtime_ns)


def _by_age(file: File) -> tuple[int, str]:
    return file.modified, file.path
