"""A training's folder: its checkpoint, its metrics, and what is saved when the training is interrupted."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn
from torch.optim import Optimizer

from corel._io.atomic import write_atomically
from corel.training import _checkpoint
from corel.training._checkpoint import Identity, State


class TrainingInterrupted(KeyboardInterrupt):
    """Somebody asked the training to stop; the message says what was saved and how to go on."""


@dataclass
class Run:
    """Keeps the state of one training, in `folder` where there is one; other processes than the first only read it."""

    folder: Path | None
    identity: Identity
    model: nn.Module
    optimizer: Optimizer
    checkpoint_minutes: float
    writes: bool

    def __post_init__(self) -> None:
        self.state = State()
        if self.folder is not None and self.checkpoint.is_file():
            self.state = _checkpoint.restore(self.checkpoint, self.identity, self.model, self.optimizer)
        self._saved_step, self._saved_at = self.state.step, time.monotonic()

    @property
    def checkpoint(self) -> Path:
        """The file that the training continues from."""
        return (self.folder or Path()) / "checkpoint.safetensors"

    @contextmanager
    def journal(self) -> Iterator[Journal]:
        """Open the files that metrics go to."""
        journal = Journal(self.folder if self.writes else None, self.state.history)
        try:
            yield journal
        finally:
            journal.close()

    def save(self) -> None:
        """Write a checkpoint of the last whole step."""
        if self.folder is not None and self.writes and self.state.step > self._saved_step:
            _checkpoint.save(self.checkpoint, self.state, self.identity, self.model, self.optimizer)
            self._saved_step = self.state.step
        self._saved_at = time.monotonic()

    def save_if_due(self) -> None:
        """Write a checkpoint where the last one is old."""
        if time.monotonic() - self._saved_at > 60 * self.checkpoint_minutes:
            self.save()

    def interrupt(self) -> None:
        """Save and leave."""
        if self.folder is None:
            raise TrainingInterrupted(f"stopped after step {self.state.step}; without a run folder nothing was saved")
        self.save()
        raise TrainingInterrupted(
            f"stopped after step {self.state.step}, saved in {self.checkpoint}; run the same command again to continue"
        )

    def last_good(self) -> str:
        """Say which checkpoint to go back to."""
        if self.folder is None or self._saved_step == 0:
            return "there is no checkpoint yet"
        return f"the last good checkpoint is {self.checkpoint}, of step {self._saved_step}"


class Journal:
    """The metrics of a training: ``metrics.jsonl`` with a line an epoch, and TensorBoard where it is installed."""

    def __init__(self, folder: Path | None, history: list[dict[str, float]]) -> None:
        self._file = folder and folder / "metrics.jsonl"
        self._board = folder and _tensorboard(folder, first_epoch=len(history) + 1)
        if self._file:
            # A killed run may have written the line of an epoch that comes after its checkpoint.
            write_atomically(self._file, "".join(map(_line, history)).encode())

    def write(self, metrics: dict[str, float]) -> None:
        """Write the metrics of one epoch."""
        if self._file:
            with self._file.open("a") as file:
                file.write(_line(metrics))
        if self._board:
            for name in metrics.keys() - {"epoch"}:
                self._board.add_scalar(name, metrics[name], int(metrics["epoch"]))

    def close(self) -> None:
        """Flush what TensorBoard has not written."""
        if self._board:
            self._board.close()


def _line(metrics: dict[str, float]) -> str:
    return json.dumps(metrics) + "\n"


def _tensorboard(folder: Path, first_epoch: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=first_epoch)


@contextmanager
def stop_requests() -> Iterator[threading.Event]:
    """Turn Ctrl-C and a polite kill into a request, so that the step under way ends before anything is saved."""
    requested = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # only the main thread may handle signals
        yield requested
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: requested.set()) for number in signals}
    try:
        yield requested
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
