"""The road of an image through corel: every function that takes or returns it, in whatever form it has there.

``python -m tools.road`` enrolls and scores a few images by the command line and lists, for both commands, the functions
of corel that had an image in their hands: as a name, encoded bytes, pixels, a batch, latents, scores or a verdict.
What only opens the gallery or the backbone is not on the road. ``--list`` prints the functions in order.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from PIL import Image

COUNTS = {"enroll": 11, "score": 13}  # images: an array of so many rows is about them, as none else has as many
LEAST_SIDE = 8  # pixels; four-dimensional arrays of smaller sides are weights
DEPTH = 3  # how deep an image may lie in lists, tuples, dictionaries and dataclasses
Function = tuple[str, str]


class Road:
    """Notes the functions of a package that take or return one of some files, while it is active."""

    def __init__(self, package: Path, files: list[Path]) -> None:
        self._package, self._count = f"{package}{os.sep}", len(files)
        self._names, self._contents = {file.name for file in files}, {file.read_bytes() for file in files}
        self.functions: dict[Function, None] = {}

    def __enter__(self) -> Road:
        threading.setprofile(self._look)
        sys.setprofile(self._look)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _look(self, frame: FrameType, event: str, value: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(self._package):
            return
        name = getattr(code, "co_qualname", code.co_name)  # with its class from Python 3.11 on
        function = code.co_filename.removeprefix(self._package), name
        if function in self.functions or code.co_name.startswith("<"):  # a comprehension is its function's
            return
        count = code.co_argcount + code.co_kwonlyargcount
        held = [value] if event == "return" else [frame.f_locals.get(each) for each in code.co_varnames[:count]]
        if any(self._holds(each) for each in held):
            self.functions[function] = None

    def _holds(self, value: object, depth: int = DEPTH) -> bool:
        """Whether a value is one of the images in some form, or contains one."""
        if isinstance(value, str | os.PathLike):
            return str(value).rpartition(os.sep)[2] in self._names
        if isinstance(value, bytes):
            return value in self._contents
        if isinstance(value, type):
            return False
        if hasattr(value, "shape") and hasattr(value, "ndim"):
            block = value.ndim == 4 and value.shape[2] >= LEAST_SIDE
            return bool(block or (value.ndim > 0 and value.shape[0] == self._count))
        if isinstance(value, Image.Image):
            return True
        return depth > 0 and any(self._holds(each, depth - 1) for each in _parts(value))


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        yield from value
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (value.__dict__.get(field.name) for field in fields(value))


def follow(command: list[Any], folder: Path, package: Path) -> list[Function]:
    """Run a command on the images in a folder, and give the functions on their road."""
    from corel.cli import app

    files = sorted(folder.iterdir())
    with Road(package, files) as road:
        app([str(each) for each in (*command, *files)], standalone_mode=False)
    return list(road.functions)


def main() -> None:
    """Follow images into a gallery, and other images past it."""
    parser = argparse.ArgumentParser(description="Follow images through corel enroll and corel score.")
    parser.add_argument("--list", action="store_true", help="print the functions in the order of their first call")
    listed = parser.parse_args().list
    import corel

    package, random = Path(corel.__file__).parent, np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        gallery = Path(place, "road.gallery")
        for name, count in COUNTS.items():
            Path(place, name).mkdir()
            for i in range(count):
                pixels = random.integers(0, 256, (40, 40, 3), dtype=np.uint8)
                Image.fromarray(pixels).save(Path(place, name, f"{name}-{i}.png"))
        for command in (["enroll", gallery, "thing"], ["score", gallery]):
            found = follow(command, Path(place, str(command[0])), package)
            print(f"{command[0]}: {len(found)} functions in {len({file for file, _ in found})} files")
            for file, function in found if listed else ():
                print(f"  {file}: {function}")


if __name__ == "__main__":
    main()
