"""Reads meta.mat of ImageNet's development kit in a process of its own.

A damaged MATLAB file can crash the C code that reads it, or make it ask for all memory. A child process with
limits turns that into a sentence.
"""

from __future__ import annotations

import json
from pathlib import Path

from corel._io.apart import run_apart

SECONDS, MEMORY = 20, 1 << 30
CLASSES = 10_000  # the official file has 1,860
_CHILD = """
from scipy.io import loadmat
with open(arguments, "rb") as file:
    synsets = loadmat(file, squeeze_me=True, variable_names=["synsets"])["synsets"]
print(json.dumps([[int(row["ILSVRC2012_ID"]), str(row["WNID"])] for row in synsets]))
"""


def read_wnids(meta: Path) -> dict[int, str]:
    """Give the WordNet number of each ILSVRC number."""
    try:
        rows = json.loads(run_apart(_CHILD, str(meta), memory=MEMORY, seconds=SECONDS))
    except ValueError as error:
        raise ValueError(f"{meta} is damaged; unpack ILSVRC2012_devkit_t12.tar.gz again") from error
    if len(rows) > CLASSES or any(len(wnid) != 9 for _, wnid in rows):
        raise ValueError(f"{meta} does not list ImageNet's classes; unpack ILSVRC2012_devkit_t12.tar.gz again")
    return dict(rows)
