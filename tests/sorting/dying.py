"""Processes that kill themselves before or after a system call that changes files; used by tests with kills."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from typing import Any

CALLS = ("link", "unlink", "symlink", "fsync", "mkdir", "rmdir", "replace")


def run_and_die(action: Callable[[], object], at: int) -> bool:
    """Run `action` in a process of its own that dies at its `at`-th change of files; gives whether it lived."""
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    die_at(at)
    try:
        action()
    except BaseException:
        os._exit(1)
    os._exit(0)


def die_at(at: int) -> None:
    """Kill this process before its change number `at` / 2, or after it where `at` is odd."""
    moments = itertools.count()

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **options: Any) -> Any:
            if next(moments) == at:
                os.kill(os.getpid(), signal.SIGKILL)
            result = call(*arguments, **options)
            if next(moments) == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return called

    for name in CALLS:
        setattr(os, name, dying(getattr(os, name)))
