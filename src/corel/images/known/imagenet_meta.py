"""Reads meta.mat of ImageNet's development kit in a process of its own.

A damaged MATLAB file can crash the C code that reads it, or make it ask for all memory. A child process with
limits turns that into a sentence.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SECONDS = 60
MEMORY = 4 << 30  # of addresses: importing scipy takes most of one GB of them
CLASSES = 10_000  # the official file has 1,860
# The search path is the parent's: a module that lies in the working folder is not imported in its place.
_CHILD = """
import sys, json
path, modules, memory = json.loads(sys.argv[1])
sys.path[:] = modules
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
from scipy.io import loadmat
with open(path, "rb") as file:
    synsets = loadmat(file, squeeze_me=True, variable_names=["synsets"])["synsets"]
print(json.dumps([[int(row["ILSVRC2012_ID"]), str(row["WNID"])] for row in synsets]))
"""


def read_wnids(meta: Path) -> dict[int, str]:
    """Give the WordNet number of each ILSVRC number."""
    arguments = json.dumps([str(meta), sys.path, MEMORY])
    command = [sys.executable, "-c", _CHILD, arguments]
    try:
        ended = subprocess.run(command, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL, check=True)
        rows = json.loads(ended.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        raise ValueError(f"{meta} is damaged; unpack ILSVRC2012_devkit_t12.tar.gz again") from error
    if len(rows) > CLASSES or any(len(wnid) != 9 for _, wnid in rows):
        raise ValueError(f"{meta} does not list ImageNet's classes; unpack ILSVRC2012_devkit_t12.tar.gz again")
    return dict(rows)
