"""`corel data`: fetch, list and look into image sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corel._terminal import counted, printable
from corel.cli._options import Quiet, Strict

if TYPE_CHECKING:
    from corel.images import Skipped, Stream

app = typer.Typer(no_args_is_help=True, help="Fetch, list and look into image sources.")

Root = Annotated[
    Path | None,
    typer.Option(
        "--data", file_okay=False, help="Folder of known datasets; else $COREL_DATA, else the user's cache folder."
    ),
]


@app.command(epilog="Example: corel data fetch cifar10 ~/data")
def fetch(
    name: Annotated[str, typer.Argument(help="cifar10, cifar20, cifar100, tiny-imagenet or fashion-mnist.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", file_okay=False, help="Where to put it.")],
    quiet: Quiet = False,
) -> None:
    """Download a dataset, check it and unpack it; run again to go on after an interruption."""
    from corel.images.known.fetch import fetch as fetch_dataset

    typer.echo(f"{name} is in {fetch_dataset(name, folder.expanduser(), progress=not quiet)}")


@app.command("list", epilog="Example: corel data list --data ~/data")
def list_known(root: Root = None) -> None:
    """List the datasets known by name, their sizes when complete, and where each one is here."""
    from corel.images import data_folder
    from corel.images.known.catalog import SIZES
    from corel.images.known.registry import whereabouts

    folder = data_folder(root)
    typer.echo(f"{'name':14}{'classes':>8}{'train':>11}{'test':>9}  place (looked for in {folder})")
    for name, size in SIZES.items():
        place = whereabouts(name, folder) or "not found"
        typer.echo(f"{name:14}{size.classes:8,}{size.train:11,}{size.test:9,}  {place}")


@app.command(epilog="Example: corel data show digits --split test")
def show(
    source: Annotated[str, typer.Argument(help="A known name, a folder, or an image, .npy or .npz file.")],
    split: Annotated[str, typer.Option(help="train or test (val is read as test).")] = "train",
    root: Root = None,
    strict: Strict = False,
    quiet: Quiet = False,
) -> None:
    """Read a source and say what is in it: images, classes, and what was skipped and why."""
    from corel.images import Preparation, stream

    options: Any = {"split": split, "root": root, "strict": strict, "progress": not quiet}
    for line in _described(stream(source, Preparation(), **options)):
        typer.echo(printable(line))


def _described(items: Stream) -> Iterator[str]:
    count, counts = 0, Counter(dict.fromkeys(items.classes, 0))
    skipped: list[Skipped] = []
    for batch in items:
        count += len(batch)
        counts.update(batch.labels or ())
        skipped += batch.skipped
    yield f"{counted(count, 'image')} from {items.source}"
    if not counts:
        yield "without labels"
    else:
        yield counted(len(counts), "class", "classes")
        names = items.classes or sorted(counts, key=int)  # a dataset without names numbers its classes
        yield from (f"{counts[name]:8,}  {name}" for name in names)
    if skipped:
        yield f"{len(skipped)} skipped"
        yield from (f"  {each.path} {each.reason}" for each in skipped)
