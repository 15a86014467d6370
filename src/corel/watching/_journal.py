"""The journal of a watch, OUT.state: a line for each batch, written before the rows in OUT.

After a kill at any moment the rows of the last batch are completed from the journal, and no image is scored or written
twice.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from corel._errors import ArgumentError
from corel._io.lines import append_lines, append_text, read_lines
from corel._io.regular import open_regular
from corel._terminal import encodable, exported
from corel.watching._appearing import File

FORMATS = (".csv", ".jsonl")
Line: TypeAlias = dict[str, Any]


class Row(NamedTuple):
    """An image that appeared.

    Attributes:
        time: when it was scored, in UTC.
        image: its file.
        verdict: as in a gallery's verdicts, or `unreadable`.
        classes: the classes that the verdict names.
        likeliest: the class that it is most like.
        p_value: for "of one of the enrolled classes".
        online_p_value: its rank among the calibration scores and all images before it, in (0, 1].
        log10_capital: of the bets against "images come as they were enrolled"; the first test has the limit 2.3.
        alarm: whether the limit has been reached, by this image or before.
        note: what else to know.

    """

    time: str
    image: str
    verdict: str
    classes: list[str]
    likeliest: str | None
    p_value: float | None
    online_p_value: float | None
    log10_capital: float
    alarm: bool
    note: str


HEAD = 256  # bytes
HEADER = (",".join(Row._fields) + "\n").encode()


def state_of(out: Path) -> Path:
    """Give the place of the state that belongs to these rows."""
    if out.suffix.lower() not in FORMATS:
        raise ArgumentError("out", f"must be a .csv or a .jsonl file, got {out}")
    return out.with_name(f"{out.name}.state")


def _is_row(values: object) -> bool:
    """Whether values from a state file have the types that a row is written by."""
    match values:
        case [str(), str(), str(), [*classes], str() | None, _, _, float(), bool(), str()]:
            return all(isinstance(each, str) for each in classes)
    return False


def _is_file(values: object) -> bool:
    match values:
        case [str(), int(), int()]:
            return True
    return False


def _are_bets(scores: Sequence[object], state: Line) -> bool:
    match state:
        case {"log_bets": [*bets], "alarmed": bool()}:
            return all(isinstance(each, float) for each in [*scores, *bets])
    return False


class Journal:
    """The state of a watch, beside its rows."""

    def __init__(self, out: Path) -> None:
        self.out, self.path = out, state_of(out)
        self.seen: set[File] = set()
        self.tests = 0  # begun, over all states of the gallery
        self.test: Line = {}  # the line that began the last one
        self.scores: list[float] = []  # of that test
        self.last: Line = {}  # the last batch
        self.ran: set[str] = set()  # files of the last batch whose command was run
        self._rows_failed = False  # whether the last write of rows raised, as on a full disk
        self._refuse_other_rows()
        try:
            for line in read_lines(self.path):
                self._replay(line)
            self._complete_rows()
        except (TypeError, LookupError, AttributeError, OverflowError) as error:
            raise self._foreign() from error

    def begin_test(self, **settings: Any) -> None:
        """Note that a test begins with these settings."""
        self._write({"test": settings})

    def add(self, files: Sequence[File], rows: Sequence[Row], scores: Sequence[float], **state: Any) -> None:
        """Note a batch, then write its rows."""
        self.complete()
        start = self.out.stat().st_size if self.out.exists() else 0
        listed = {"files": [list(each) for each in files], "rows": [list(each) for each in rows]}
        self._write({**listed, "scores": list(scores), "start": start, **state})
        self._rows_failed = True
        append_text(self.out, self._text())
        self._rows_failed = False

    def complete(self) -> None:
        """Complete the rows of the last batch if writing them failed."""
        if self._rows_failed:  # else they were written, and the user may have moved the file away
            self._complete_rows()
            self._rows_failed = False

    def note_command(self, file: str) -> None:
        """Note that the command for this file ended."""
        self._write({"ran": file})

    def rows(self) -> list[Row]:
        """Give the rows of the last batch."""
        return [Row(*row) for row in self.last.get("rows", ())]

    def _write(self, line: Line) -> None:
        append_lines(self.path, [line])
        self._replay(line)

    def _replay(self, line: Line) -> None:
        """Apply a line; the file may be somebody else's, and hold anything."""
        match line:
            case {"test": {"calibration": str(), "seed": int()} as settings}:
                self.tests, self.test, self.scores, self.last = self.tests + 1, settings, [], {}
            case {"ran": str(file)}:
                self.ran.add(file)
            case {"files": [*files], "rows": [*rows], "scores": [*scores], "start": int(), **rest} if (
                all(map(_is_file, files)) and all(map(_is_row, rows)) and _are_bets(scores, rest)
            ):
                self.seen.update(File(*each) for each in files)
                self.scores += scores
                self.last, self.ran = line, set()
            case _:
                raise self._foreign()

    def _refuse_other_rows(self) -> None:
        """Rows are appended to those of a watch, and to no other file."""
        if not self.out.exists():
            return
        with open_regular(self.out) as file:
            start = file.read(HEAD)
        if start and not start.startswith(HEADER if self.out.suffix.lower() == ".csv" else b'{"time": '):
            raise ValueError(f"{self.out} does not hold rows of a watch; name another --out")

    def _foreign(self) -> ValueError:
        return ValueError(f"{self.path} is not the state of a watch; name another --out")

    def _complete_rows(self) -> None:
        """Complete the rows of the last batch if a kill cut them off; rows that a user deleted are not restored."""
        size = self.out.stat().st_size if self.out.exists() else 0
        if self.last and self.last["start"] <= size < self.last["start"] + len(self._text().encode()):
            if self.out.exists():
                os.truncate(self.out, self.last["start"])
            append_text(self.out, self._text())

    def _text(self) -> str:
        if self.out.suffix.lower() == ".jsonl":
            rows = (row._replace(image=encodable(row.image)) for row in self.rows())
            return "".join(json.dumps(row._asdict()) + "\n" for row in rows)
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        if not self.last["start"]:
            writer.writerow(Row._fields)
        for row in self.rows():
            named = {name: exported(getattr(row, name) or "") for name in ("image", "verdict", "likeliest", "note")}
            writer.writerow(row._replace(**named, classes=exported("/".join(row.classes))))  # type: ignore[arg-type]
        return buffer.getvalue()
