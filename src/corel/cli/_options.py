"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

GalleryFile = Annotated[Path, typer.Argument(metavar="GALLERY", help="The gallery's file, such as animals.gallery.")]
BackboneName = Annotated[
    str | None,
    typer.Option("--backbone", help="A shipped backbone's name or a file; default: the one the gallery was made with."),
]
Rate = Annotated[
    float, typer.Option(min=1e-6, max=1 - 1e-6, help="Share of images of the enrolled classes that may be rejected.")
]
Photographs = Annotated[
    bool, typer.Option(help='Call blank, flat and noise frames "not a photograph", and at most 1% of real images.')
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress bar, no remarks; only results and what went wrong.")
]
Report = Annotated[Path | None, typer.Option(dir_okay=False, help="Write a page with figures to this HTML file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Strict = Annotated[bool, typer.Option("--strict", help="An image that cannot be read is an error.")]
