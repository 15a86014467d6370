"""`corel watch`: a verdict on each image that appears in a folder, and an alarm when they change."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corel._errors import ArgumentError, renamed
from corel._io.filetype import TEXT
from corel._terminal import console, printable
from corel.cli._options import BackboneName, GalleryFile, Quiet, Rate
from corel.cli._outputs import Output, check_outputs
from corel.cli._small_classes import warn_of_small_classes

if TYPE_CHECKING:
    from corel.watching import Row, Watch

PANEL = "Gallery"
ALARM = (
    "alarm: new images differ from the enrolled ones (without a change, the probability of an alarm, ever, is at most "
    "1%). Look at the last rows; if the change is intended, enroll images of the new kind"
)


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    example = "Example: corel watch animals.gallery incoming --out rows.csv --once"
    app.command(rich_help_panel=PANEL, epilog=example)(watch)


def watch(
    gallery: GalleryFile,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", file_okay=False, exists=True, help="What to watch.")],
    out: Annotated[Path, typer.Option(dir_okay=False, help="Append rows to this .csv or .jsonl file.")],
    rate: Rate = 0.05,
    on_stranger: Annotated[
        str, typer.Option(metavar="CMD", help="Run this for each stranger, with the file's path; no shell reads it.")
    ] = "",
    once: Annotated[bool, typer.Option("--once", help="Look once, and stop.")] = False,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between looks.")] = 5.0,
    settle: Annotated[float, typer.Option(min=0.0, help="Seconds for which a file must be unchanged.")] = 2.0,
    fail_on_alarm: Annotated[bool, typer.Option("--fail-on-alarm", help="Stop with 1 at an alarm.")] = False,
    seed: Annotated[int | None, typer.Option(help="Random seed for the order of ties.", show_default="random")] = None,
    photographs: Annotated[bool, typer.Option(help='Call blank, flat and noise frames "not a photograph".')] = True,
    backbone: BackboneName = None,
    quiet: Quiet = False,
) -> None:
    """Score each image that appears in a folder, once, and raise an alarm if they are not what was enrolled.

    Rows are appended to --out; the state beside it survives restarts. The alarm tests whether images come as the
    exemplars came: also bursts, many strangers or another mix of classes raise it.
    """
    from corel import watching
    from corel.gallery import Gallery

    check_outputs([gallery, backbone], Output("--out", out, TEXT))
    options = {"command": _words(on_stranger), "settle": settle, "photographs": photographs, "seed": seed}
    with (
        renamed(command="on_stranger"),
        Gallery.open(gallery, backbone) as opened,
        watching.watch(opened, folder, out, rate=rate, **options) as watcher,
        suppress(KeyboardInterrupt),
    ):  # the state is whole at any moment
        warn_of_small_classes(opened, rate, quiet=quiet)
        _look(watcher, quiet=quiet, fail=fail_on_alarm)
        if once and watcher.folder.unsettled:
            time.sleep(settle)
            _look(watcher, quiet=quiet, fail=fail_on_alarm)
        while not once:
            time.sleep(every)
            _look(watcher, quiet=quiet, fail=fail_on_alarm)


def _words(command: str) -> list[str]:
    """Split a command into words as a shell does."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise ArgumentError("on_stranger", f"cannot be split into words: {error}, in {command!r}") from error


def _look(watcher: Watch, *, quiet: bool, fail: bool) -> None:
    """Look once, and show what was found; an alarm ends the command if `fail`."""
    alarmed = watcher.alarmed
    for rows in watcher.look():
        if not quiet:
            typer.echo("\n".join(map(_line, rows)))
        if watcher.alarmed and not alarmed:
            console().print(ALARM, style="red", markup=False)
        alarmed = watcher.alarmed
    if fail and alarmed:
        raise typer.Exit(1)


def _line(row: Row) -> str:
    named: Sequence[str] = row.classes or ([f"({row.likeliest})"] if row.likeliest else [])
    return "  ".join(filter(None, [printable(row.image), row.verdict, "/".join(named), row.note]))
