"""What the terminal shows: one console for messages and one progress bar, both on standard error.

Standard output belongs to results. A bar appears only where somebody watches: never in a pipe, a log
file or a test.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

Item = TypeVar("Item")


class Advance(Protocol):
    """Moves a progress bar forward by `steps`; `note` replaces the text at its right end (a loss, a rate)."""

    def __call__(self, steps: float = 1.0, note: str | None = None) -> None: ...


def console() -> Console:
    """Give the console for messages on standard error, colored only on a terminal."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)  # a log file keeps a message on one line


@contextmanager
def progress_bar(description: str, total: float | None = None, *, quiet: bool = False) -> Iterator[Advance]:
    """Show a bar while the block runs; the block calls what it is given to move the bar on.

    Example:
        >>> with progress_bar("encoding", total=3) as advance:
        ...     for _ in range(3):
        ...         advance(note="batch of 100")

    """
    err = console()
    if quiet or not err.is_terminal:
        yield lambda steps=1.0, note=None: None  # rich's own hidden bar ends in an empty line, up to version 14.2
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    ]
    # rich can print above the bar what is written to standard output meanwhile, but sends it to standard error:
    # right where both are the same terminal, a loss of results where one is a file.
    with Progress(*columns, console=err, redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task(description, total=total, note="")

        def advance(steps: float = 1.0, note: str | None = None) -> None:
            if note is not None:
                bar.update(task, note=note)
            bar.advance(task, steps)

        yield advance


def track(
    iterable: Iterable[Item], description: str, total: float | None = None, *, quiet: bool = False
) -> Iterator[Item]:
    """Yield the items of `iterable` and show how many are done; `total` is their `len` where they have one.

    Example:
        >>> [n * n for n in track(range(3), "squaring")]
        [0, 1, 4]

    """
    if total is None and isinstance(iterable, Sized):
        total = len(iterable)
    with progress_bar(description, total, quiet=quiet) as advance:
        for item in iterable:
            yield item
            advance()


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Say how many.

    Example:
        >>> counted(1, "image"), counted(1200, "image"), counted(2, "process", "processes")
        ('1 image', '1,200 images', '2 processes')

    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Fill up with spaces to so many cells of a terminal, of which Chinese characters and emoji take two.

    Example:
        >>> padded("猫", 4), padded("cat", 4), padded("cat", 4, right=True)
        ('猫  ', 'cat ', ' cat')

    """
    space = " " * (width - cells(text))
    return space + text if right else text + space


def cells(text: str) -> int:
    """Count the cells of a terminal that a text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def encodable(text: str) -> str:
    r"""Escape the bytes of a file name that are no text, which readers of JSON and Arrow refuse.

    Example:
        >>> encodable("b\udce9b\u00e9.png")
        'b\\udce9bé.png'

    """
    return text.encode("utf-8", "backslashreplace").decode()


def printable(text: str) -> str:
    """Escape what a file name may hold and a terminal should not: newlines, control codes, bytes."""
    clean = encodable(text)
    return clean if clean.isprintable() else clean.encode("unicode_escape").decode("ascii")


def shown(text: object, most: int = 200) -> str:
    """Make foreign text fit to be shown: no control codes, on one line, of at most so many characters.

    Example:
        >>> shown("a.png\\n" + 1000 * "x", 12)
        'a.png\\\\nxxxx…'

    """
    clean = printable(str(text)[: most + 1])
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def drawn(text: object, most: int = 60) -> str:
    """Make foreign text fit to be drawn by matplotlib, which reads text between dollar signs as mathematics."""
    return shown(text, most).replace("$", r"\$")


def exported(text: str) -> str:
    """Make foreign text fit for a CSV cell: a spreadsheet runs what begins like a formula, unless quoted."""
    clean = printable(text)
    begins = unicodedata.normalize("NFKC", clean[:1])  # some spreadsheets read full-width signs, too
    return f"'{clean}" if begins in ("=", "+", "-", "@") else clean
