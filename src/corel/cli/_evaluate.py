"""Commands that measure: evaluate, diagnose."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from corel.cli._data import Root
from corel.cli._options import Json, Quiet

PANEL = "Measure"
Backbone = Annotated[
    str | None, typer.Argument(metavar="BACKBONE", help="A shipped name or a file; default: the best general one.")
]


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    for command, example in ((diagnose, "corel diagnose runs/mine/backbone.safetensors --images digits"),):
        app.command(rich_help_panel=PANEL, epilog=f"Example: {example}")(command)


def diagnose(
    backbone: Backbone = None,
    images: Annotated[
        str | None, typer.Option(help="Measure on these images (name or path), not on the backbone's background.")
    ] = None,
    root: Root = None,
    sample_size: Annotated[
        int, typer.Option("-m", min=1, help="Exemplars of a class that the theory is asked about.")
    ] = 120,
    batches: Annotated[int, typer.Option(min=1, help="Random batches to measure.")] = 200,
    seed: Annotated[int, typer.Option(help="Of the random batches.")] = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how connected a backbone's latents are, and say what the theory makes of it."""
    from corel.backbone import Backbone
    from corel.images import open as open_images
    from corel.theory import diagnose as measure

    loaded = Backbone.load(backbone)
    latents = loaded.background
    if images is not None:
        size = loaded.network.input_shape[-1]
        opened = open_images(images, root=root, size=size, progress=not quiet)
        latents = loaded.encode(opened, progress=not quiet)
    found = measure(
        latents, loaded.eta, loaded.branches, loaded.batch_size,
        sample_size=sample_size, batches=batches, p=loaded.p, seed=seed,
    )  # fmt: skip
    if as_json:
        arrays = {key: getattr(found, key).tolist() for key in ("lowest", "mean", "highest", "near_eta")}
        typer.echo(json.dumps({"eta": found.eta, "batch_size": found.batch_size, "batches": batches, **arrays}))
    else:
        typer.echo(str(found))
