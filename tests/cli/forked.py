"""Real `corel` processes that are killed or run at once; a program of its own, used by the tests beside it.

Forking a process that has imported all spares each attempt the seconds that torch takes to import.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

KILLS = 24
# Where SQLite is when a process dies: a statement's first word, and how often it has begun.
STATEMENTS = (("INSERT", 2), ("INSERT", 150), ("INSERT", 300), ("COMMIT", 1))


def kill_often(gallery: str, images: str, backbone: str) -> list[dict[str, Any]]:
    """Kill an enrollment many times, at any moment or soon after its first write."""
    moments, journal = random.Random(0), Path(f"{gallery}-journal")
    started = time.monotonic()
    os.waitpid(fork("enroll", gallery, "first", images, "--backbone", backbone, "--quiet"), 0)
    usual = time.monotonic() - started
    outcomes = []
    for attempt in range(KILLS):
        before = classes(gallery)
        process = fork("enroll", gallery, f"class {attempt}", images, "--quiet")
        if attempt % 2:
            wait_for(journal, process)
        time.sleep(moments.uniform(0, 0.01 if attempt % 2 else usual))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        outcomes.append({"name": f"class {attempt}", "before": before, "found": classes(gallery)})
    return outcomes


def kill_inside(gallery: str, images: str) -> list[dict[str, Any]]:
    """Kill an enrollment inside its transaction, at each of the statements."""
    outcomes = []
    for statement in STATEMENTS:
        before = classes(gallery)
        exit_code = wait(fork("enroll", gallery, "never", images, "--quiet", dies_at=statement))
        outcomes.append({"exit": exit_code, "before": before, "found": classes(gallery)})
    return outcomes


def kill_creations(folder: str, images: str, backbone: str) -> list[dict[str, Any]]:
    """Kill the enrollment that creates a gallery at each of the statements, then try again."""
    outcomes = []
    for attempt, statement in enumerate(STATEMENTS):
        gallery = f"{folder}/{attempt}"
        arguments = ("enroll", gallery, "class", images, "--backbone", backbone, "--quiet")
        killed = wait(fork(*arguments, dies_at=statement))
        left = Path(gallery).stat().st_size
        outcomes.append({"exits": [killed, wait(fork(*arguments))], "left": left, "found": classes(gallery)})
    return outcomes


def enroll_together(gallery: str, images: str, backbone: str) -> dict[str, Any]:
    """Let two processes create the same gallery and enroll into it."""
    options = (images, "--backbone", backbone, "--quiet")
    writers = [fork("enroll", gallery, name, *options) for name in ("one", "two")]
    return {"exits": [wait(writer) for writer in writers], "found": classes(gallery)}


def fork(*arguments: str, dies_at: tuple[str, int] | None = None, prepare: Callable[[], object] | None = None) -> int:
    """Run `corel` in a process of its own and give its number; `prepare` is called there before."""
    process = os.fork()
    if process:
        return process
    from corel.cli import main

    if dies_at:
        die_at(*dies_at)
    if prepare:
        prepare()
    sys.argv = ["corel", *arguments]
    try:
        main()
    except SystemExit as finished:
        os._exit(int(finished.code or 0))
    os._exit(70)


def die_at(word: str, count: int) -> None:
    """Let this process kill itself when SQLite begins such a statement for the `count`th time."""
    begun, connect = itertools.count(1), sqlite3.connect

    def look(statement: str) -> None:
        if statement.startswith(word) and next(begun) == count:
            os.kill(os.getpid(), signal.SIGKILL)

    def connect_and_look(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.set_trace_callback(look)
        return connection

    sqlite3.connect = connect_and_look  # type: ignore[assignment]


def wait(process: int) -> int:
    """Wait for a process and give its exit code, negative where a signal ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def wait_for(path: Path, process: int) -> None:
    """Wait until a file appears or a process ends."""
    while not path.exists() and not os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        time.sleep(0.0001)


def classes(gallery: str) -> dict[str, int]:
    """Count a gallery's exemplars by SQLite alone, and check that every page of it is sound."""
    connection = sqlite3.connect(gallery)
    found = dict(connection.execute("SELECT class, COUNT(*) FROM exemplar GROUP BY class").fetchall())
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    return found


if __name__ == "__main__":
    # All that a child needs, but no computation: the threads of a parent do not survive a fork.
    for module in ("backbone", "cli", "gallery", "images"):
        importlib.import_module(f"corel.{module}")
    folder, images, backbone = sys.argv[1:]
    together = enroll_together(f"{folder}/together", images, backbone)
    kills = kill_often(f"{folder}/killed", images, backbone)
    inside = kill_inside(f"{folder}/killed", images)
    creations = kill_creations(folder, images, backbone)
    print(json.dumps({"together": together, "kills": kills, "inside": inside, "creations": creations}))
