"""Commands that measure: evaluate, diagnose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corel._io.atomic import write_atomically
from corel._io.filetype import TEXT
from corel._terminal import counted
from corel.cli._data import Root
from corel.cli._inputs import report_skipped
from corel.cli._options import Json, Photographs, Quiet, Rate, Report, Strict
from corel.cli._outputs import Output, check_outputs
from corel.cli._recognition import recognition_lines
from corel.cli._scale import Address, Engine, EngineName, Workers, encoding

if TYPE_CHECKING:
    from corel.backbone import Backbone
    from corel.evaluation import Evaluation, LabeledItems, Recognition

BackboneOption = Annotated[
    str | None, typer.Option("--backbone", help="A shipped name or a file; default: the best on photographs.")
]
Seed = Annotated[int, typer.Option(min=0, help="Decides what is drawn at random.")]
PANEL = "Measure"
MOST = 120  # exemplars of a class unless -m says otherwise


class Score(str, Enum):
    """The scores that can be compared."""

    COUNT = "count"
    CONTRAST = "contrast"
    COSINE = "cosine"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    for command, example in (
        (evaluate, "corel evaluate cifar10 --data ~/data -m 10 -m 120 --report cifar10.html"),
        (diagnose, "corel diagnose --backbone runs/mine/backbone.safetensors --images digits"),
    ):
        app.command(rich_help_panel=PANEL, epilog=f"Example: {example}")(command)


def evaluate(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A dataset's name, or a folder with one folder a class, below train and test if there is a split. "
            "For a backbone on vectors an .npz file with the arrays train_features (a vector a row), train_labels, "
            "test_features and test_labels.",
        ),
    ],
    backbone: BackboneOption = None,
    exemplars: Annotated[
        list[int] | None,
        typer.Option("-m", min=1, help="Items enrolled per class; repeatable.", show_default="120, or all there are"),
    ] = None,
    scores: Annotated[
        list[Score] | None,
        typer.Option(
            "--score",
            help="Repeatable; the first one decides the verdicts.",
            show_default="all; verdicts by that of a new gallery",
        ),
    ] = None,
    rate: Rate = 0.05,
    photographs: Photographs = True,
    draws: Annotated[int, typer.Option(min=1, help="How often the exemplars are drawn anew.")] = 5,
    controls: Annotated[bool, typer.Option(help="Also an untrained encoder and nearest neighbors.")] = True,
    root: Root = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(dir_okay=False, help="Write all records to this JSON file.")] = None,
    report: Report = None,
    strict: Strict = False,
    as_json: Json = False,
    engine: EngineName = Engine.LOCAL,
    address: Address = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Measure how well a backbone recognizes your classes: verdicts on test items, then AUC by the paper's protocol.

    Without a test split 30% of each class are set aside. Test classes that are not in train are strangers.
    """
    check_outputs([source, backbone], Output("--out", out, TEXT), Output("--report", report, TEXT))
    from corel.backbone import Backbone
    from corel.evaluation import evaluate as measure
    from corel.evaluation import read_labeled, recognize
    from corel.images.known.catalog import SIZES

    loaded = Backbone.load(backbone)
    # A folder in sight comes before a known dataset of the same name.
    place: Any = Path(source) if Path(source).is_dir() else source
    train, test = read_labeled(loaded, place, root=root, seed=seed, strict=strict, progress=not quiet)
    report_skipped([*train.skipped, *test.skipped])
    fewest, most = max(exemplars or [1]), max(exemplars or [MOST])
    named = [each.value for each in scores] if scores else None
    with encoding(engine, address, workers, loaded.network):
        recognition = recognize(
            loaded, train, test, rate=rate, method=named[0] if named else None, photographs=photographs,
            least=fewest, most=most, seed=seed,
        )  # fmt: skip
        if not as_json:
            typer.echo("\n".join(recognition_lines(recognition)))
        found = None
        if _same_classes(recognition):
            smallest, largest = (pick(recognition.enrolled.values()) for pick in (min, max))
            if not exemplars and smallest == largest < MOST:
                draws = 1  # every draw would enroll the same: all there are
            found = measure(
                loaded, train, test, exemplars=exemplars or [smallest],
                scores=named, draws=draws, seed=seed, controls=controls,
                progress=not quiet, expected_classes=SIZES[source].classes if source in SIZES else None,
            )  # fmt: skip
    document = {"recognition": recognition.document(), **(found.document() if found else {})}
    for line in [json.dumps(document)] if as_json else ["", *_table(found)] if found else ():
        typer.echo(line)
    # Files come last: if one cannot be written, the results were printed before.
    if out is not None:
        write_atomically(out, (json.dumps(document, indent=1, allow_nan=False) + "\n").encode())
    if report is not None:
        _write_report(report, loaded, recognition, found, train, test, progress=not quiet)


def _write_report(
    path: Path, backbone: Backbone, recognition: Recognition, found: Evaluation | None, train: LabeledItems,
    test: LabeledItems, *, progress: bool,
) -> None:  # fmt: skip
    from corel.report import recognition_section, write_report

    shown: Any = {} if found is None else {"enrolled": train.pictures, "test": test.pictures}
    first = [recognition_section(recognition)]
    write_report(path, backbone, evaluation=found, first=first, **shown, progress=progress)


def _same_classes(recognition: Recognition) -> bool:
    """Whether the protocol can run: it needs two classes or more, and test items of each of them and of no other."""
    tested = {name for name, row in recognition.confusion.items() if row}
    return recognition.in_turn and len(recognition.enrolled) > 1 and tested == set(recognition.enrolled)


def diagnose(
    backbone: BackboneOption = None,
    images: Annotated[
        str | None,
        typer.Option(help="Measure on these images or vectors (name or path), not on the backbone's background."),
    ] = None,
    root: Root = None,
    sample_size: Annotated[int, typer.Option("-m", min=1, help="Exemplars per class, the m of the theory.")] = 120,
    batches: Annotated[int, typer.Option(min=1, help="Random batches to measure.")] = 200,
    exact: Annotated[
        bool, typer.Option("--exact", help="Also the exact β* of one set; a few seconds a branch for m = 120.")
    ] = False,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how connected a backbone's latents are, and say what the theory makes of it."""
    import numpy as np

    from corel.backbone import Backbone
    from corel.images import stream
    from corel.theory import diagnose as measure

    loaded = Backbone.load(backbone)
    latents = loaded.background
    if images is not None:
        items = stream(images, loaded.preparation, root=root, progress=not quiet)
        latents = np.concatenate([loaded.encode(batch.values) for batch in items if len(batch)])
    found = measure(
        latents, loaded.eta, loaded.branches, loaded.batch_size,
        sample_size=sample_size, batches=batches, p=loaded.p, seed=seed, exact=exact,
    )  # fmt: skip
    if as_json:
        keys = ["lowest", "mean", "highest", "near_eta", *(["beta_bounds"] if found.sets else [])]
        keys += ["exact_beta"] if found.exact_beta is not None else []
        arrays = {key: getattr(found, key).tolist() for key in keys}
        typer.echo(json.dumps({"eta": found.eta, "batch_size": found.batch_size, "batches": batches, **arrays}))
    else:
        typer.echo(str(found))


def _table(found: Evaluation) -> Iterator[str]:
    from corel.evaluation import shown

    rows = found.summary()
    width = max(len(row.method) for row in rows)
    yield f"one-vs-all AUC, {found.config['classes']} classes, mean of {counted(found.config['draws'], 'draw')}"
    yield f"{'method':{width}}  {'m':>5}  {'AUC':>6}  {'± draws':>7}  95% interval"
    for row in rows:
        cells = f"{shown(row.mean):>6}  {shown(row.spread):>7}  {shown(row.low, row.high)}"
        yield f"{row.method:{width}}  {row.exemplars:5}  {cells}"
