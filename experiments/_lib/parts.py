"""Experiments made of parts: each is recorded as soon as it is done, and the next run goes on with what is missing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import measuring.record
from experiments._lib.paths import RESULTS
from experiments._lib.record import read, record


@dataclass(frozen=True)
class Part:
    """A piece of an experiment: what decides its result, and the work that gives it, both as JSON has it."""

    name: str
    settings: dict[str, Any]
    work: Callable[[], Any]


def run_parts(
    name: str, parts: Sequence[Part], config: dict[str, Any], *, only: Collection[str] | None = None,
    seed: int = 0, folder: Path = RESULTS,
) -> None:  # fmt: skip
    """Do the parts that the record lacks, or has with other settings, and write the record after each of them.

    A part that was recorded and is not among `parts`, as its data is not here now, stays in the record; one with other
    settings stays until it is measured anew. `only` names the parts to do now, if not all. Each part has the commit
    that measured it; the record's own is that of the last.
    """
    asked = {part.name: _as_json(part.settings) for part in parts}
    done = _recorded(name, folder)
    fresh = {each for each, found in done.items() if found["settings"] == asked.get(each)}
    missing = [part for part in parts if part.name not in fresh and (only is None or part.name in only)]
    if not missing:
        print(f"{name}: nothing is left to do; {folder / name}.json has it", flush=True)
    config = {**config, "parts": list({**done, **asked})}
    for number, part in enumerate(missing, 1):
        started = time.perf_counter()
        result = part.work()
        seconds = round(time.perf_counter() - started, 1)
        done[part.name] = {
            "settings": asked[part.name], "seconds": seconds, "commit": measuring.record.commit(), "result": result,
        }  # fmt: skip
        ordered = {each: done[each] for each in config["parts"] if each in done}
        total = sum(found["seconds"] for found in done.values())
        record(name, config=config, results=ordered, seed=seed, seconds=total, folder=folder)
        print(f"{name}: {part.name} done in {seconds:.0f} s, {len(missing) - number} to go", flush=True)


def named(parts: Sequence[Part], asked: Sequence[str] | None) -> set[str]:
    """The names that contain one of the words asked for; all of them if none is."""
    return {part.name for part in parts if asked is None or any(each in part.name for each in asked)}


def progress(name: str, folder: Path = RESULTS) -> tuple[int, int]:
    """How many parts are recorded, and of how many; an experiment without parts is one."""
    if not (folder / f"{name}.json").exists():
        return 0, 1
    document = read(name, folder)
    if "parts" not in document["config"]:
        return 1, 1
    return len(document["results"]), len(document["config"]["parts"])


def is_complete(name: str, folder: Path = RESULTS) -> bool:
    """Whether everything the experiment consists of is recorded."""
    done, parts = progress(name, folder)
    return done == parts


def results(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """The result of each part."""
    return {part: found["result"] for part, found in read(name, folder)["results"].items()}


def _recorded(name: str, folder: Path) -> dict[str, Any]:
    document = read(name, folder) if (folder / f"{name}.json").exists() else {"config": {}}
    recorded: dict[str, Any] = document["results"] if "parts" in document["config"] else {}
    return recorded


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))
