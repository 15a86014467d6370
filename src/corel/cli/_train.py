"""The command that trains a backbone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from corel._errors import renamed
from corel._io.filetype import SAFETENSORS, TEXT
from corel.cli._data import Root
from corel.cli._options import Quiet, Report, Strict
from corel.cli._outputs import Output, check_outputs
from corel.training.config import PRESETS, TrainConfig

if TYPE_CHECKING:
    from corel.backbone import Backbone

PANEL, FIELDS = "Train", "Parameters of the training, with the defaults of the preset authors"


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    example = "corel train ~/photos --out photos.safetensors --epochs 20"
    app.command(rich_help_panel=PANEL, epilog=f"Example: {example}")(train)


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
    start: Annotated[
        str | None,
        typer.Option(
            metavar="BACKBONE",
            help="Begin with the weights of this backbone, a file or a shipped name.",
            show_default="random weights",
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
    check_outputs([source, features, start, run], Output("--out", out, SAFETENSORS), Output("--report", report, TEXT))
    preset = preset or ("authors" if features is None else "features")
    config = TrainConfig.preset(preset, **{name: value for name, value in changes.items() if value is not None})
    from corel import images, training

    options: Any = {"split": split, "root": root, "size": size, "strict": strict, "progress": not quiet}
    data = images.open(source, **options) if features is None else features
    try:
        with renamed(images="source" if features is None else "features"):
            backbone = training.train(
                data, config, start=start, run_dir=run, checkpoint_minutes=checkpoint_minutes, progress=not quiet
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
