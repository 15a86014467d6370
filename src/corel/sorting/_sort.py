"""`sort` and `undo`: from verdicts to folders, and back."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from corel._errors import ArgumentError
from corel._io.lock import locked
from corel.gallery import Gallery, Verdict
from corel.images import EmptySourceError, Skipped, find_files
from corel.sorting._carry import carry_out, complete, take_back
from corel.sorting._plan import LIST, How, Record, folder_name, free_target, read_records, write_records


@dataclass
class Sorted:
    """What was done.

    Attributes:
        undo_list: where it is written.
        folders: how many files went into each folder, or came back.
        before: how many were sorted by an earlier run.
        left: what stayed where it was, and why.

    """

    undo_list: Path
    folders: Counter[str] = field(default_factory=Counter)
    before: int = 0
    left: list[Skipped] = field(default_factory=list)


def sort(
    gallery: Gallery,
    folder: str | os.PathLike[str],
    into: str | os.PathLike[str],
    how: How | str,
    *,
    rate: float = 0.05,
    photographs: bool = True,
    progress: bool = False,
) -> Sorted:
    """Copy, link or move the images of a folder into one folder a class, `unsure`, `stranger` and `not a photograph`.

    Nothing is overwritten: a file whose name is taken gets a number. Every step is in the list INTO/corel-sort.jsonl
    before it is taken, for `undo`. After a kill, the same call goes on where it was.
    """
    how, root, place = How(how), _resolved(folder), _resolved(into)
    if place in (root, *root.parents):
        raise ArgumentError("into", f"is {into}, in which {folder} lies; name another folder to sort into")
    place.mkdir(parents=True, exist_ok=True)
    done = Sorted(place / LIST)
    with locked(done.undo_list):
        files = _still_to_sort(root, place, how, done)
        with suppress(EmptySourceError):  # what cannot be read is named in `left`
            for scores in gallery.score_batches(files, photographs=photographs, progress=progress) if files else ():
                done.left += scores.skipped
                _put(scores.decide(rate), place, how, done)
    return done


def undo(path: str | os.PathLike[str]) -> Sorted:
    """Take back what a list says was done, the last first; what has changed since stays, and is named.

    The list is removed when nothing is left in it to take back.
    """
    done = Sorted(_resolved(path))
    if not done.undo_list.is_file():
        raise FileNotFoundError(f"there is no undo list {path}; `corel sort` writes {LIST} into the sorted folder")
    with locked(done.undo_list):
        records = read_records(done.undo_list)
        if not records and done.undo_list.stat().st_size:
            raise ValueError(f"{path} is not an undo list of `corel sort`; name the one in the sorted folder")
        for record in reversed(records):
            _take_back(record, done)
        _remove_empty({Path(record.target).parent for record in records if record.is_in(done.undo_list.parent)})
        if not done.left:
            done.undo_list.unlink()
    return done


def _take_back(record: Record, done: Sorted) -> None:
    """Take back one step; whether it leads out is asked now, because the step before may have made a link."""
    place, was_there = done.undo_list.parent, os.path.lexists(record.target)
    if record.is_in(place):
        why = take_back(record)
    else:
        why = f"stays: {_leads_out(Path(record.target).parent, place)}" if was_there else None
    if why:
        done.left.append(Skipped(record.target, why))
    elif was_there:
        done.folders[str(Path(record.source).parent)] += 1


def _still_to_sort(root: Path, place: Path, how: How, done: Sorted) -> list[Path]:
    """Finish the steps that an interrupted run began, and list the files it did not reach."""
    records = read_records(done.undo_list)
    for record in records:
        if record.is_in(place):
            complete(record)
    there = {each.source: each for each in records if each.how == how and os.path.lexists(each.target)}
    files = [each for each in _files(root, done, anything=not there) if place not in each.parents]
    kept = [each for each in files if how is How.MOVE or str(each) not in there or not there[str(each)].is_of(each)]
    done.before = sum(not os.path.lexists(each) for each in there) + len(files) - len(kept)
    links = [each for each in kept if how is How.MOVE and each.is_symlink()]
    done.left += [Skipped(str(each), "is a link and stays; sort what it leads to") for each in links]
    return [each for each in kept if each not in set(links)]


def _files(root: Path, done: Sorted, *, anything: bool) -> Sequence[Path]:
    """List the images; `anything` says that none is an error."""
    try:
        found = find_files([root], exist=True)
    except EmptySourceError:
        if anything:
            raise
        return ()
    done.left += found.unread
    return found.files


def _put(verdicts: Sequence[Verdict], place: Path, how: How, done: Sorted) -> None:
    taken: set[Path] = set()
    planned = [_planned(verdict, place, how, taken) for verdict in verdicts]
    records = [each for each in planned if isinstance(each, Record)]
    write_records(done.undo_list, records)
    left = carry_out(records)
    done.left += [*(each for each in planned if isinstance(each, Skipped)), *left]
    stayed = {each.path for each in left}
    done.folders.update(Path(each.target).parent.name for each in records if each.source not in stayed)


def _planned(verdict: Verdict, place: Path, how: How, taken: set[Path]) -> Record | Skipped:
    """Plan where a file goes, or say why it stays; it may have been removed since it was scored."""
    file = Path(verdict.image)
    folder = place / (folder_name(verdict.classes[0]) if verdict.verdict == "known" else verdict.verdict)
    try:
        record = Record.of(how, file, free_target(folder, file.name, taken))
    except OSError as error:
        return Skipped(str(file), f"stays: {error.strerror or error}")
    return record if record.is_in(place) else Skipped(str(file), f"stays: {_leads_out(folder, place)}")


def _leads_out(folder: Path, place: Path) -> str:
    return f"{folder} leads out of {place} by a link; replace the link by a folder"


def _resolved(path: str | os.PathLike[str]) -> Path:
    return Path(path).expanduser().resolve()


def _remove_empty(folders: set[Path]) -> None:
    for folder in folders:
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()
