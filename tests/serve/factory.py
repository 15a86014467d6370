"""Starts real servers quickly: a process that has imported everything forks one whenever it is asked to.

It reads a JSON line for each command: ``{"serve": {…}, "log": FILE}`` starts a server and prints its port and process
number; ``{"wait": PID}`` prints its exit code.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

# Before the fork, since they take seconds.
IMPORTED = ("torch", "numba", "PIL.Image", "corel.backbone", "corel.gallery", "corel.oneclass", "corel.serve")


def say(**content: object) -> None:
    os.write(1, json.dumps(content).encode() + b"\n")


def run(settings: dict[str, Any], log: str) -> int:
    """Serve in this process; an error becomes a line and exit code 2, as in the command line."""
    from corel.serve import Config, Limits, serve

    limits = Limits(**settings.pop("limits", {}))
    gallery = Path(settings.pop("gallery"))
    with Path(log).open("a") as errors, contextlib.redirect_stderr(errors):
        os.dup2(errors.fileno(), 2)
        try:
            config = Config(gallery, limits=limits, **settings)
            serve(config, started=lambda real: say(port=real.port, pid=os.getpid()))
        except (ValueError, OSError) as error:
            say(error=str(error))
            return 2
    return 0


def main() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    say(ready=True)
    for line in sys.stdin:
        command = json.loads(line)
        if "wait" in command:
            say(code=os.waitstatus_to_exitcode(os.waitpid(command["wait"], 0)[1]))
        elif os.fork() == 0:
            os._exit(run(command["serve"], command["log"]))

    os._exit(0)  # torch takes its time to leave


if __name__ == "__main__":
    main()
