"""Real `corel` processes that are killed or run at once; a program of its own, used by the tests beside it.

Forking a process that has imported all spares each attempt the seconds that torch takes to import.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

KILLS, CREATIONS = 24, 6


def kill_often(gallery: str, images: str, backbone: str) -> list[dict[str, Any]]:
    """Kill an enrolment many times: at any moment, and every other time inside its transaction."""
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
        outcome = {"name": f"class {attempt}", "before": before, "inside": journal.exists()}
        outcomes.append({**outcome, "found": classes(gallery)})
    return outcomes


def kill_creations(folder: str, images: str, backbone: str) -> list[dict[str, Any]]:
    """Kill the enrolment that creates a gallery, inside its transaction, then try again."""
    outcomes = []
    for attempt in range(CREATIONS):
        gallery = f"{folder}/{attempt}"
        arguments = ("enroll", gallery, "class", images, "--backbone", backbone, "--quiet")
        process = fork(*arguments)
        wait_for(Path(f"{gallery}-journal"), process)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        left = Path(gallery).stat().st_size
        exit_code = os.waitstatus_to_exitcode(os.waitpid(fork(*arguments), 0)[1])
        outcomes.append({"left": left, "exit": exit_code, "found": classes(gallery)})
    return outcomes


def enrol_together(gallery: str, images: str, backbone: str) -> dict[str, Any]:
    """Let two processes create the same gallery and enrol into it."""
    options = (images, "--backbone", backbone, "--quiet")
    writers = [fork("enroll", gallery, name, *options) for name in ("one", "two")]
    exits = [os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]) for writer in writers]
    return {"exits": exits, "found": classes(gallery)}


def fork(*arguments: str) -> int:
    """Run `corel` in a process of its own and give its number."""
    process = os.fork()
    if process:
        return process
    from corel.cli import main

    sys.argv = ["corel", *arguments]
    try:
        main()
    except SystemExit as finished:
        os._exit(int(finished.code or 0))
    os._exit(70)


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
    together = enrol_together(f"{folder}/together", images, backbone)
    kills = kill_often(f"{folder}/killed", images, backbone)
    creations = kill_creations(folder, images, backbone)
    print(json.dumps({"together": together, "kills": kills, "creations": creations}))
