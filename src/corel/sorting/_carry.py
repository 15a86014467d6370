"""Copies, links and moves files as records say: a kill at any moment loses nothing, and nothing is overwritten.

A name is given by `link` or `symlink`, which fail where the name is taken. A file that moves has both names for a
moment; the old one goes only when the new one is on the disk.
"""

from __future__ import annotations

import errno
import filecmp
import hashlib
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from corel._io.atomic import sync_folder
from corel.images import Skipped
from corel.sorting._plan import How, Record

WITHOUT_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP)
NO_LINKS = "its disk has no hard links, without which a file could be overwritten; sort into a folder on another disk"


def carry_out(records: Sequence[Record]) -> list[Skipped]:
    """Give all files their new names, then remove the old ones of those that move; gives what could not be done."""
    left = [Skipped(record.source, why) for record in records if (why := _tried(record))]
    for folder in filter(Path.is_dir, {Path(record.target).parent for record in records}):
        sync_folder(folder)
    failed = {each.path for each in left}
    left += [Skipped(each.source, why) for each in records if each.source not in failed and (why := complete(each))]
    return left


def complete(record: Record) -> str | None:
    """Remove a moved file's old name once the new one is there; says why not."""
    source, target = Path(record.source), Path(record.target)
    _temporary(target).unlink(missing_ok=True)
    if record.how != How.MOVE or not source.exists() or not target.exists():
        return None
    if not _are_same(source, target):
        return f"stays, because {target} is another file"
    try:
        source.unlink()
    except OSError as error:  # on a locked card, say: the old name stays, so the new one goes
        if source.exists():
            target.unlink()
        return f"stays: {error.strerror or error}"
    return None


def take_back(record: Record) -> str | None:
    """Undo what a record did, if it was done; says why not."""
    source, target = Path(record.source), Path(record.target)
    with suppress(OSError):  # its folder may be gone
        _temporary(target).unlink()
    if not os.path.lexists(target):
        return None
    if record.how == How.LINK:
        return _remove_link(source, target)
    if record.how == How.COPY:
        return _remove_copy(source, target)
    if not source.exists():
        if not record.is_of(target):
            return "was changed since it was moved, and stays"
        source.parent.mkdir(parents=True, exist_ok=True)
        _place(target, source)
        sync_folder(source.parent)
    return complete(Record(How.MOVE.value, str(target), str(source), record.size, record.modified))


def _tried(record: Record) -> str | None:
    source, target = Path(record.source), Path(record.target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if record.how == How.LINK:
            target.symlink_to(source)
        elif record.how == How.COPY:
            _copy(source, target)
        else:
            _place(source, target)
    except OSError as error:
        why = NO_LINKS if error.errno in WITHOUT_LINKS else error.strerror or str(error)
        return f"stays: {why}"
    return None


def _place(source: Path, target: Path) -> None:
    """Give a file a second name, on another disk a copy."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy(source, target)


def _copy(source: Path, target: Path) -> None:
    """Copy to a temporary file, and give it its name when it is whole."""
    temporary = _temporary(target)
    temporary.unlink(missing_ok=True)
    try:
        shutil.copy2(source, temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        os.link(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _are_same(source: Path, target: Path) -> bool:
    """Whether one is the other's new name; on another disk, its copy."""
    old, new = os.lstat(source), os.lstat(target)  # a link to a file is no second name of it
    if old.st_dev == new.st_dev:
        return os.path.samestat(old, new) and old.st_nlink > 1  # with one name, both paths lead to the same name
    return not target.is_symlink() and filecmp.cmp(source, target, shallow=False)


def _temporary(target: Path) -> Path:
    return target.with_name(f".{hashlib.sha256(os.fsencode(target)).hexdigest()[:24]}.sorting")


def _remove_link(source: Path, target: Path) -> str | None:
    if not target.is_symlink() or target.readlink() != source:
        return "is not the link that was made, and stays"
    target.unlink()
    return None


def _remove_copy(source: Path, target: Path) -> str | None:
    """Remove a copy, unless it is the only one left."""
    if not source.exists() or not filecmp.cmp(source, target, shallow=False):
        return f"differs from {source} by now, and stays"
    target.unlink()
    return None
