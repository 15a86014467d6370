"""Options of commands that can run on a Ray cluster, and scoring there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corel._terminal import counted
from corel.cli._rows import Format

if TYPE_CHECKING:
    from corel.encoders.base import Network
    from corel.scale import Counts

PANEL = "Ray (pip install 'corel\\[ray]')"


class Engine(str, Enum):
    """Where the work is done."""

    LOCAL = "local"
    RAY = "ray"


EngineName = Annotated[Engine, typer.Option("--engine", help="This process, or a Ray cluster.", rich_help_panel=PANEL)]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="The cluster.", show_default="a new one on this machine", rich_help_panel=PANEL
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Worker processes.", show_default="one a core", rich_help_panel=PANEL),
]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Threads per worker.", show_default="1", rich_help_panel=PANEL)
]
PartSize = Annotated[
    int | None,
    typer.Option(min=1, help="Images per Parquet file.", show_default="2048", rich_help_panel=PANEL),
]


def refuse_without_ray(engine: Engine, **given: Any) -> None:
    """Refuse an option that only works on Ray."""
    if engine is Engine.LOCAL and (name := next((name for name, value in given.items() if value is not None), None)):
        raise ValueError(f"--{name.replace('_', '-')} is for --engine ray; add that, or leave this out")


def refuse_with_ray(engine: Engine, style: Format | None, *, strict: bool) -> None:
    """Refuse an option that only works in one process."""
    if engine is Engine.RAY and strict:
        raise ValueError("--strict is for --engine local; on Ray what cannot be read is a row with the reason")
    if engine is Engine.RAY and style not in (None, Format.PARQUET):
        raise ValueError(f"--engine ray writes Parquet, not {style.value}; leave --format out")


def score_on_ray(
    gallery: Path, images: list[str], out: str | None, sizes: dict[str, int | None], **options: Any
) -> Counts:
    """Score into a folder of Parquet files, and print how many images got each verdict."""
    from corel.scale import score

    if out is None:
        raise ValueError("--engine ray writes Parquet files into a folder; name it with --out")
    given: Any = {name: value for name, value in sizes.items() if value is not None}
    counts = score(gallery, images, out, **given, **options)
    words = {"known": "known", "unsure": "unsure", "strangers": "strangers", "blank": "not a photograph"}
    parts = [f"{getattr(counts, name):,} {word}" for name, word in words.items() if name != "blank" or counts.blank]
    typer.echo(f"{counted(counts.images, 'image')}: {', '.join(parts)}, {counted(counts.errors, 'error')}")
    return counts


@contextmanager
def encoding(engine: Engine, address: str | None, workers: int | None, network: Network) -> Iterator[int]:
    """Let a network encode by the engine that was chosen, while the block runs; gives the number of workers."""
    refuse_without_ray(engine, address=address, workers=workers)
    if engine is Engine.LOCAL:
        yield 1
        return
    from corel.scale import encoding_on_ray

    with encoding_on_ray(network, address=address, workers=workers) as count:
        yield count
