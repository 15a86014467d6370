"""The watch itself: look, score, bet, write, run a command; then look again."""

from __future__ import annotations

import hashlib
import math
import os
import secrets
import shutil
import subprocess
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from corel._errors import ArgumentError
from corel._io.lock import locked
from corel._io.rows import UNREADABLE
from corel._terminal import printable
from corel.gallery import Gallery, Scores
from corel.images import EmptySourceError
from corel.watching._appearing import File, Folder
from corel.watching._drift import LEVEL, DriftTest
from corel.watching._journal import Journal, Row, state_of

BATCH = 256  # images that are scored before their rows are written


@contextmanager
def watch(
    gallery: Gallery, folder: str | os.PathLike[str], out: str | os.PathLike[str], **options: Any
) -> Iterator[Watch]:
    """Open a `Watch`, whose options it takes; another process cannot open one with the same `out` meanwhile."""
    place = Path(out).expanduser()
    with locked(state_of(place)):
        yield Watch(gallery, folder, place, **options)


class Watch:
    """Scores what appears in a folder, each file once, also after a restart, and appends rows to `out`.

    Its state is in OUT.state. `level` is the probability of an alarm, ever, while images come as they were enrolled; if
    the gallery changes, a new test begins, and all tests share the level.

    Args:
        gallery: an open gallery with at least two exemplars.
        folder: what to watch, with the folders in it.
        out: a .csv or .jsonl file.
        rate: as in `Gallery.recognize`.
        command: a program and its arguments, to be run for each stranger with the file's path as last argument.
        settle: seconds for which a file must be unchanged.
        photographs: look for blank, flat and noise frames.
        level: the probability of a false alarm, ever.
        seed: for the order of ties; default: random, and kept in the state.

    """

    def __init__(
        self,
        gallery: Gallery,
        folder: str | os.PathLike[str],
        out: str | os.PathLike[str],
        *,
        rate: float = 0.05,
        command: Sequence[str] = (),
        settle: float = 2.0,
        photographs: bool = True,
        level: float = LEVEL,
        seed: int | None = None,
    ) -> None:
        if gallery.different < 2:
            raise ArgumentError(
                "gallery", "must hold two different exemplars or more, one to score and one to calibrate; enroll more"
            )
        if command and shutil.which(command[0]) is None:
            raise ArgumentError("command", f"begins with {command[0]!r}, which is no program here; check its name")
        self._gallery, self._rate, self._command, self._photographs = gallery, rate, list(command), photographs
        self._level, self._seed = level, secrets.randbits(64) if seed is None else seed
        self.folder = Folder(Path(folder).expanduser().resolve(), settle)
        self.journal = Journal(Path(out).expanduser())
        self._test: DriftTest | None = None

    @property
    def alarmed(self) -> bool:
        """Whether the alarm of the present test was raised."""
        return bool(self.journal.test) and bool(self.journal.last.get("alarmed", False))

    @property
    def limit(self) -> float:
        """The capital at which the present test raises the alarm."""
        # The k-th test has the level α/(k(k + 1)): over all k these sum to α.
        tests = max(self.journal.tests, 1)
        return tests * (tests + 1) / self._level

    def look(self) -> Iterator[list[Row]]:
        """Score what is new and unchanged for long enough; gives the rows of each batch when they are written."""
        self.journal.complete()
        self._run_commands()  # of a batch that was interrupted
        files = self.folder.settled(self.journal.seen, time.monotonic())
        for start in range(0, len(files), BATCH):
            try:
                self._score(files[start : start + BATCH])
            except BaseException:
                self._test = None  # it may have bet on images that the journal lacks: the journal tells how it stood
                raise
            yield self.journal.rows()
            self._run_commands()

    def _score(self, files: Sequence[File]) -> None:
        """Score one batch and note it; files that were removed meanwhile are left out."""
        found = {each.path: each for each in files}
        held_out = len(self._gallery.split().calibration)
        rows: dict[str, Row] = {}
        scores: list[float] = []
        with suppress(EmptySourceError):  # each is reported as unreadable
            paths = iter([Path(path) for path in found])
            for part in self._gallery.score_batches(paths, held_out=held_out, photographs=self._photographs):
                self._prepare_test(part)
                rows |= self._bet(part, scores)
                rows |= {each.path: self._unreadable(each.path, each.reason) for each in part.skipped}
        written = [path for path, row in rows.items() if row.verdict != UNREADABLE or Path(path).exists()]
        if written and self._test is not None:
            state = {"log_bets": self._test.log_bets, "alarmed": self._test.alarmed}
            self.journal.add([found[each] for each in written], [rows[each] for each in written], scores, **state)

    def _bet(self, part: Scores, scores: list[float]) -> dict[str, Row]:
        test, held_out = self._test, part.held_out
        assert test is not None
        assert held_out is not None
        rows = {}
        # The verdict is that of all exemplars; those held out serve the test alone.
        for verdict, score in zip(replace(part, held_out=None).decide(self._rate), held_out.scores, strict=True):
            p_value = None
            if not verdict.enrolled:  # an exemplar is no new image
                p_value = test.update(float(score))
                scores.append(float(score))
            rows[verdict.image] = Row(
                _now(), verdict.image, verdict.verdict, list(verdict.classes), verdict.likeliest, verdict.p_value,
                p_value, test.log_capital / math.log(10), test.alarmed, verdict.note,
            )  # fmt: skip
        return rows

    def _prepare_test(self, part: Scores) -> None:
        """Go on with the test, or begin one if the gallery has changed."""
        assert part.held_out is not None
        calibration, journal = part.held_out.calibration, self.journal
        digest = hashlib.sha256(np.ascontiguousarray(calibration).tobytes()).hexdigest()
        if journal.test.get("calibration") != digest:
            journal.begin_test(calibration=digest, exemplars=len(calibration), seed=self._seed)
            self._test = None
        if self._test is None:
            self._test = DriftTest(calibration, journal.test["seed"], self.limit)
            if journal.last:
                self._test.resume(journal.scores, journal.last["log_bets"], alarmed=journal.last["alarmed"])

    def _unreadable(self, path: str, reason: str) -> Row:
        capital, alarmed = (0.0, False) if self._test is None else (self._test.log_capital, self._test.alarmed)
        return Row(_now(), path, UNREADABLE, [], None, None, None, capital / math.log(10), alarmed, reason)

    def _run_commands(self) -> None:
        """Run the command for the strangers of the last batch for which it was not run, and wait for it."""
        for row in self.journal.rows() if self._command else ():
            if row.verdict == "stranger" and row.image not in self.journal.ran:
                # No shell reads the name, and it is a whole path: it cannot be taken for an option.
                ended = subprocess.run([*self._command, row.image], stdin=subprocess.DEVNULL, check=False)
                if ended.returncode:
                    warnings.warn(
                        f"{self._command[0]} ended with {ended.returncode} for {printable(row.image)}", stacklevel=2
                    )
                self.journal.note_command(row.image)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
