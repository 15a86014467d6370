"""Results of a long command, kept in FILE.partial until they are complete."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from corel._terminal import printable

INTERRUPTED, TERMINATED = 130, 143  # what a shell gives for SIGINT and SIGTERM


def partial_of(out: Path) -> Path:
    """Give the place beside `out`, or beside what it links to, for what is not complete."""
    real = out.resolve()
    return real.with_name(f"{real.name}.partial")


@dataclass
class Partial:
    """Where results are until they are complete, and whether there are any."""

    path: Path
    holds_results: bool = False


@contextmanager
def kept_until_complete(out: Path) -> Iterator[Partial]:
    """Give the place for what is done so far; it stays after an interruption, or an error if it holds results."""
    partial, place = partial_of(out), Partial(partial_of(out))
    partial.parent.mkdir(parents=True, exist_ok=True)
    with _terminating_as_an_exception():
        try:
            yield place
        except (KeyboardInterrupt, SystemExit) as stop:
            typer.echo(f"corel: interrupted; what was done so far is in {printable(str(partial))}", err=True)
            raise typer.Exit(INTERRUPTED if isinstance(stop, KeyboardInterrupt) else TERMINATED) from stop
        except BaseException:
            if place.holds_results:
                typer.echo(
                    f"corel: stopped by an error; what was done so far is in {printable(str(partial))}", err=True
                )
            else:
                partial.unlink(missing_ok=True)
            raise
        partial.unlink(missing_ok=True)


@contextmanager
def said_to_continue(partial: Path) -> Iterator[None]:
    """Say at an interruption where what was done is, and that the same command continues from there."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if partial.exists():
            place = printable(str(partial))
            typer.echo(f"corel: interrupted; what was encoded is in {place}, the same command continues", err=True)
        raise typer.Exit(INTERRUPTED) from stop


@contextmanager
def _terminating_as_an_exception() -> Iterator[None]:
    """Turn SIGTERM into SystemExit inside the block, so that it can say where its results are."""

    def stop(*_: object) -> None:
        raise SystemExit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():  # only there can it be done
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
