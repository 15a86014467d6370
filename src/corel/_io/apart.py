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

WAITING = 10  # wall-clock seconds allowed for each second of CPU time
_OUT_OF_TIME = (-signal.SIGKILL, -getattr(signal, "SIGXCPU", signal.SIGTERM)) if os.name == "posix" else ()
# The search path is the parent's, so that no module in the working folder is imported instead of an installed one.
_LIMITED = """
import sys, json
arguments, modules, memory, seconds = json.loads(sys.stdin.read())
sys.path[:] = modules
try:
    import resource
    # Not RLIMIT_AS: packages with code for GPUs reserve many GB of addresses.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
"""


class ApartError(ValueError):
    """The code failed or exceeded a limit; the message is the last line that it wrote to standard error."""


def run_apart(code: str, arguments: Any, *, memory: int, seconds: int) -> bytes:
    """Run Python code in a child process, with `arguments` as a variable; returns what it printed.

    `memory` is a limit in bytes, `seconds` one on CPU time: on a busy machine the code may take longer.
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
