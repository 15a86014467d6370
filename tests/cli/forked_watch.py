"""Real `corel watch` processes that are killed at random changes of files; used by test_watch."""

from __future__ import annotations

import importlib
import json
import random
import shutil
import sys
import time
from pathlib import Path

from tests.cli.forked import fork, wait
from tests.sorting.dying import die_at

if __name__ == "__main__":
    # All that a child needs, but no computation: the threads of a parent do not survive a fork.
    for module in ("backbone", "cli", "gallery", "images", "watching"):
        importlib.import_module(f"corel.{module}")
    gallery, staged, folder, work = sys.argv[1:]
    script = Path(work, "note")
    script.write_text(f'#!/bin/sh\necho "$1" >> {work}/log\n')
    script.chmod(0o755)
    moments = random.Random(1)

    def watch(out: str, at: int | None) -> int:
        options = ("--once", "--settle", "0", "--seed", "0", "--quiet", "--on-stranger", str(script))
        prepare = None if at is None else lambda: die_at(at)
        return wait(fork("watch", gallery, folder, "--out", f"{work}/{out}", *options, prepare=prepare))

    exits = []
    for file in sorted(Path(staged).iterdir())[::4]:
        for each in Path(staged).glob(file.name.replace("-0", "-*")):
            shutil.copy(each, folder)
            time.sleep(0.01)
        exits += [watch("killed.jsonl", moments.randrange(5))]
    exits.append(watch("killed.jsonl", None))
    watch("whole.jsonl", None)
    print(json.dumps(exits))
