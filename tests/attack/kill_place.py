"""A folder in which commands are killed, and what was found there."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.forked import fork, wait, wait_for


@dataclass
class Place:
    """A folder to work in, and what was found."""

    folder: Path
    moments: random.Random
    killed: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    usual: dict[str, float] = field(default_factory=dict)  # seconds that a command takes

    @property
    def images(self) -> str:
        return str(self.folder / "images")

    @property
    def backbone(self) -> str:
        return str(self.folder / "tiny.safetensors")

    @property
    def gallery(self) -> str:
        return str(self.folder / "g.gallery")

    @property
    def only(self) -> str:
        """A gallery of one class, whose images no other class has."""
        return str(self.folder / "only.gallery")

    def kill(self, command: str, *arguments: str, after: Path | None = None) -> bool:
        """Run a command and kill it at some moment, or soon after a file appears; False if it ended before."""
        process = fork(*arguments)
        if after is not None:
            wait_for(after, process)
        time.sleep(self.moments.uniform(0, 0.02 if after is not None else self.usual.get(command, 1.0)))
        os.kill(process, signal.SIGKILL)
        killed = wait(process) == -signal.SIGKILL
        self.killed[command] += killed
        return killed

    def run(self, command: str, *arguments: str) -> None:
        """Run a command to its end, and remember how long it takes."""
        started = time.monotonic()
        assert wait(fork(*arguments)) == 0, arguments
        self.usual[command] = time.monotonic() - started

    def note(self, command: str, *, whole: bool) -> None:
        self.lost[command] += not whole
