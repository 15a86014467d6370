"""Reproduce a table or figure, or say what there is: ``python -m experiments --list``.

python -m experiments NAME --data DIR --runs DIR     # one; what follows is handed on, NAME --help says what it takes
python -m experiments NAME NAME --data DIR --runs DIR # several, one at a time, skipping what is done
python -m experiments all --data DIR --runs DIR      # all that is not done

Trainings, and experiments of several parts, go on where they were stopped; the others are short and begin anew.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from experiments._lib.paths import RESULTS
from experiments._lib.registry import EXPERIMENTS, Experiment


def listing() -> str:
    """A table of all experiments."""
    heading = ("name", "what it reproduces", "minutes", "done")
    rows = [heading, *((e.name, e.reproduces, f"{e.minutes:g}", e.status()) for e in EXPERIMENTS.values())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = (
        f"{name:<{widths[0]}}  {what:<{widths[1]}}  {minutes:>{widths[2]}}  {done}"
        for name, what, minutes, done in rows
    )
    return "\n".join([*aligned, "", "minutes: on two cores, with the encoders that ship"])


def run_one(experiment: Experiment, arguments: Sequence[str]) -> int:
    """Run an experiment in this process with these arguments; give the exit code."""
    try:
        importlib.import_module(experiment.module).main(arguments)
    except FileNotFoundError as error:  # data that is not there: the sentence says how to get it
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt as stopped:
        print(stopped or "stopped", file=sys.stderr)
        return 130
    return 0


def run_queue(experiments: Sequence[Experiment], folders: dict[str, Path | None], records: Path = RESULTS) -> int:
    """Run those that are not done, each in a process of its own; a failure does not keep the others from running."""
    failed = []
    for experiment in experiments:
        if experiment.is_done(records):
            print(f"{experiment.name}: done before", flush=True)
            continue
        given = [text for need in experiment.needs for text in (f"--{need}", str(folders[need]))]
        print(f"{experiment.name}: about {experiment.minutes:g} minutes", flush=True)
        code, interrupted = _wait([sys.executable, "-m", "experiments", experiment.name, *given])
        if interrupted:
            return 130
        if code:
            failed.append(experiment.name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


def _wait(command: list[str]) -> tuple[int, bool]:
    """Give the exit code, and whether Ctrl-C was pressed: the experiment gets it too, and saves before it ends."""
    pressed = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: pressed.set())
    try:
        return subprocess.run(command, check=False).returncode, pressed.is_set()
    finally:
        signal.signal(signal.SIGINT, before)


def main(arguments: Sequence[str]) -> int:
    """Run one experiment with the arguments that follow its name, or queue several."""
    first, *rest = arguments or ["--help"]
    if first in EXPERIMENTS and not (rest and rest[0] in EXPERIMENTS):
        return run_one(EXPERIMENTS[first], rest)
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="an experiment, several, or all")
    parser.add_argument("--list", action="store_true", help="what there is, how long it takes, what is done")
    parser.add_argument("--data", type=Path, help="where the datasets are laid out")
    parser.add_argument("--runs", type=Path, help="checkpoints and backbones of the trainings")
    given = parser.parse_args([first, *rest])
    if given.list:
        print(listing())
        return 0
    chosen = list(EXPERIMENTS) if given.names == ["all"] else given.names
    folders = {"data": given.data, "runs": given.runs}
    if problem := _problem(chosen, folders):
        parser.error(problem)
    return run_queue([EXPERIMENTS[name] for name in chosen], folders)


def _problem(chosen: Sequence[str], folders: dict[str, Path | None]) -> str | None:
    unknown = [name for name in chosen if name not in EXPERIMENTS]
    if unknown or not chosen:
        return f"no experiment {', '.join(unknown) or 'was named'}; `python -m experiments --list` has them all"
    lacking = {need for name in chosen for need in EXPERIMENTS[name].needs if folders[need] is None}
    return f"give {' and '.join(f'--{need} DIR' for need in sorted(lacking))}" if lacking else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
