"""`corel find`: point at a thing in a photograph, see where else it is."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corel._io.atomic import write_atomically
from corel._io.filetype import FIGURE, TEXT, signed
from corel._terminal import counted
from corel.cli._options import BackboneName, Quiet, Rate
from corel.cli._outputs import Output, check_outputs

if TYPE_CHECKING:
    from corel.finding import Found

NOTE = "Windows of one photograph overlap: inside the photograph that was marked, the rate is a guide, not a promise."


class Style(str, Enum):
    """What is written of each photograph."""

    OVERLAY = "overlay"
    MASK = "mask"
    BOXES = "boxes"


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    example = "corel find china.jpg --box 110,160,200,180 --in other.jpg --out found.png"
    app.command(rich_help_panel="Gallery", epilog=f"Example: {example}")(find)


def find(
    photos: Annotated[list[Path], typer.Argument(metavar="PHOTO…", help="The photographs to search.")],
    box: Annotated[
        str | None, typer.Option(metavar="X,Y,W,H", help="Where the thing is in the first PHOTO, in pixels.")
    ] = None,
    others: Annotated[
        list[Path] | None, typer.Option("--in", metavar="PHOTO", help="Search this one as well; repeatable.")
    ] = None,
    gallery: Annotated[
        Path | None, typer.Option("--gallery", dir_okay=False, help="In place of --box, a gallery…")
    ] = None,
    name: Annotated[str | None, typer.Option("--class", metavar="NAME", help="…and the class to look for.")] = None,
    out: Annotated[
        Path, typer.Option(dir_okay=False, help="The picture or the JSON file; further photographs get a number.")
    ] = Path("found.png"),
    style: Annotated[
        Style | None,
        typer.Option("--as", help="overlay and mask are PNG, boxes JSON.", show_default="by the ending of --out"),
    ] = None,
    rate: Rate = 0.05,
    window: Annotated[
        int | None,
        typer.Option(min=8, help="Side of a window in pixels.", show_default="the encoder's, or a 20th of the photo"),
    ] = None,
    scales: Annotated[
        list[float] | None, typer.Option("--scale", help="Look at windows this many times as large; repeatable.")
    ] = None,
    backbone: BackboneName = None,
    quiet: Quiet = False,
) -> None:
    """Show where in photographs a thing is: the one in a box of the first photograph, or a gallery's class.

    No training: windows of the thing are enrolled, every window of the photographs is scored, and what has a p-value
    above the rate is shown.
    """
    if (box is None) == (gallery is None) or (gallery is None) != (name is None):
        raise ValueError(
            "look for what? Give --box X,Y,W,H of the first photograph, or --gallery FILE and --class NAME"
        )
    searched = [*photos, *(others or [])]
    style = style or (Style.BOXES if out.suffix.lower() == ".json" else Style.OVERLAY)
    outs = [out] if style is Style.BOXES else _numbered(out, len(searched))
    kind = TEXT if style is Style.BOXES else FIGURE
    if style is not Style.BOXES and out.suffix.lower() != ".png":
        raise ValueError(f"--out {out} would hold a PNG image; name {out.with_suffix('.png').name}")
    check_outputs([gallery, backbone, *searched], *(Output("--out", each, kind) for each in outs))
    from corel import finding

    options = {"window": window, "scales": scales or (1.0,), "progress": not quiet}
    with ExitStack() as stack:
        if box is not None:
            found = finding.search_for_box(
                searched[0], _parsed(box), others=searched[1:], backbone=backbone, **options  # type: ignore[arg-type]
            )  # fmt: skip
        else:
            from corel.gallery import Gallery

            opened = stack.enter_context(Gallery.open(gallery, backbone))  # type: ignore[arg-type]
            found = finding.search_for_class(opened, name, searched, **options)  # type: ignore[arg-type]
        _write_each(found, outs, style, rate, quiet=quiet)
    if box is not None and not quiet:
        typer.echo(NOTE)


def _parsed(box: str) -> tuple[int, int, int, int]:
    parts = box.split(",")
    if len(parts) != 4 or not all(part.strip().isdecimal() and part.isascii() for part in parts):
        raise ValueError(f"--box takes four whole numbers, left,top,width,height, such as 110,160,200,180, not {box!r}")
    left, top, width, height = (int(part) for part in parts)
    return left, top, width, height


def _numbered(out: Path, count: int) -> list[Path]:
    return [out, *(out.with_name(f"{out.stem}-{k}{out.suffix}") for k in range(2, count + 1))]


def _write_each(found: Iterator[Found], outs: list[Path], style: Style, rate: float, *, quiet: bool) -> None:
    """Write what was found in a photograph before the next one is read."""
    document = []
    for number, each in enumerate(found):
        boxes, path = each.boxes(rate), outs[0 if style is Style.BOXES else number]
        if style is Style.BOXES:
            document.append({"photo": each.name, "rate": rate, "boxes": [box._asdict() for box in boxes]})
            write_atomically(path, (json.dumps(document, indent=1) + "\n").encode())
        else:
            _save(each, path, style, rate)
        if not quiet:
            share, places = each.mask(rate).mean(), counted(len(boxes), "place")
            typer.echo(f"{each.name}: {share:.0%} of the photograph, {places}; written to {path}")


def _save(found: Found, path: Path, style: Style, rate: float) -> None:
    from PIL import Image

    picture = found.overlay(rate) if style is Style.OVERLAY else Image.fromarray(found.mask(rate))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", pnginfo=signed())
    write_atomically(path, buffer.getvalue())
