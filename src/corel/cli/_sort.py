"""`corel sort` and `corel unsort`: photos into folders by what a gallery says, and back."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corel._terminal import counted, printable
from corel.cli._inputs import report_skipped
from corel.cli._options import BackboneName, GalleryFile, Quiet, Rate
from corel.cli._small_classes import warn_of_small_classes

if TYPE_CHECKING:
    from corel.images import Skipped

PANEL = "Gallery"


class Way(str, Enum):
    """How a file gets into a folder; `corel.sorting.How`, which would import more than `corel --help` needs."""

    COPY = "copy"
    LINK = "link"
    MOVE = "move"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    example = "Example: corel sort animals.gallery new --into sorted --how copy"
    app.command(rich_help_panel=PANEL, epilog=example)(sort)
    app.command(rich_help_panel=PANEL, epilog="Example: corel unsort sorted/corel-sort.jsonl")(unsort)


def sort(
    gallery: GalleryFile,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", file_okay=False, exists=True, help="What to sort.")],
    into: Annotated[Path, typer.Option(metavar="DIR", file_okay=False, help="Where the folders are made.")],
    how: Annotated[Way, typer.Option(help="Copy files, link to them, or move them.")],
    rate: Rate = 0.05,
    photographs: Annotated[bool, typer.Option(help='Blank, flat and noise frames go to "not a photograph".')] = True,
    backbone: BackboneName = None,
    quiet: Quiet = False,
) -> None:
    """Put images into a folder a class, and into `unsure`, `stranger` and `not a photograph`.

    Nothing is overwritten. DIR/corel-sort.jsonl lists what was done; `corel unsort` takes it back. After an
    interruption the same command goes on where it was.
    """
    from corel import sorting
    from corel.gallery import Gallery

    with Gallery.open(gallery, backbone) as opened:
        warn_of_small_classes(opened, rate, quiet=quiet)
        done = sorting.sort(opened, folder, into, how.value, rate=rate, photographs=photographs, progress=not quiet)
    _report(done.folders, done.left, quiet=quiet)
    if not quiet and done.before:
        typer.echo(f"{counted(done.before, 'image')} sorted before; for another gallery or rate, take it back first")
    if not quiet:
        typer.echo(f"take it back: corel unsort {printable(str(done.undo_list))}")
    if done.left and not done.folders and not done.before:
        raise typer.Exit(1)


def unsort(
    undo_list: Annotated[Path, typer.Argument(metavar="LIST", help="The list that `corel sort` wrote.")],
    quiet: Quiet = False,
) -> None:
    """Take back what `corel sort` did: move files back, remove copies and links; what has changed since stays."""
    from corel import sorting

    done = sorting.undo(undo_list)
    _report(done.folders, done.left, quiet=quiet)
    if done.left:
        raise typer.Exit(1)


def _report(folders: Counter[str], left: list[Skipped], *, quiet: bool) -> None:
    report_skipped(left)
    for name, count in sorted(folders.items()) if not quiet else ():
        typer.echo(f"{count:>8,}  {printable(name)}")
