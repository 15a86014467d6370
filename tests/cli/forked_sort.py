"""Real `corel sort` and `corel unsort` processes that are killed at random changes of files; used by test_sort."""

from __future__ import annotations

import hashlib
import importlib
import json
import random
import sys
from pathlib import Path
from typing import Any

from tests.cli.forked import fork, wait
from tests.sorting.dying import die_at


def contents(*folders: Path) -> list[str]:
    """Digests of all images, a moved file that has both names for a moment counted once."""
    found = {each.stat().st_ino: each for folder in folders for each in folder.rglob("*.png")}
    return sorted(hashlib.sha256(each.read_bytes()).hexdigest() for each in found.values())


def attempt(before: list[str], folders: tuple[Path, Path], at: int | None, *arguments: str) -> dict[str, Any]:
    """Run a command that dies at a change of files, and look at what it left."""
    exit_code = wait(fork(*arguments, prepare=None if at is None else lambda: die_at(at)))
    return {"exit": exit_code, "sound": contents(*folders) == before}


if __name__ == "__main__":
    # All that a child needs, but no computation: the threads of a parent do not survive a fork.
    for module in ("backbone", "cli", "gallery", "images", "sorting"):
        importlib.import_module(f"corel.{module}")
    gallery, folder, into, seed = sys.argv[1:]
    moments, folders = random.Random(int(seed)), (Path(folder), Path(into))
    before, undo_list = contents(folders[0]), f"{into}/corel-sort.jsonl"
    sorting = ("sort", gallery, folder, "--into", into, "--how", "move", "--quiet")
    found = [attempt(before, folders, moments.randrange(100), *sorting) for _ in range(3)]
    found.append(attempt(before, folders, None, *sorting))
    found += [attempt(before, folders, moments.randrange(60), "unsort", undo_list, "--quiet") for _ in range(2)]
    found.append(attempt(before, folders, None, "unsort", undo_list, "--quiet"))
    print(json.dumps(found))
