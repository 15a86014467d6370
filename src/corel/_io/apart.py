"""Code that runs in a process of its own, with limits on memory and time.

Some parsers of foreign formats can be made to crash, to compute for ever or to ask for all memory. In a child process
that is an error like any other.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

WAITING = 10  # seconds by the clock, for one of computing
_OUT_OF_TIME = (-signal.SIGKILL, -getattr(signal, "SIGXCPU", signal.SIGTERM)) if os.name == "posix" else ()
# The search path is the parent's: a module that lies in the working folder is not imported in its place.
_LIMITED = """
import sys, json
arguments, modules, memory, seconds = json.loads(sys.stdin.read())
sys.path[:] = modules
try:
    import resource
    # Not of addresses: packages with code for GPUs take many GB of those.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
"""


class ApartError(ValueError):
    """The code failed, or met a limit; the message is the last line of what it said."""


def run_apart(code: str, arguments: Any, *, memory: int, seconds: int) -> bytes:
    """Run Python code, which finds `arguments`, in a child process; gives what it printed.

    `memory` is in bytes, `seconds` are of computing: a busy machine makes nobody fail.
    """
    given = json.dumps([arguments, sys.path, memory, seconds]).encode()
    command = [sys.executable, "-c", _LIMITED + code]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # each thread takes memory
    longest = WAITING * seconds
    try:
        return subprocess.run(command, input=given, capture_output=True, timeout=longest, check=True, env=alone).stdout
    except subprocess.TimeoutExpired as error:
        raise ApartError(f"it takes longer than {longest} s") from error
    except subprocess.CalledProcessError as error:
        if error.returncode in _OUT_OF_TIME:
            raise ApartError(f"it takes more than {seconds} s to read") from error
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ApartError(lines[-1] if lines else f"the process that read it ended with {error.returncode}") from error
