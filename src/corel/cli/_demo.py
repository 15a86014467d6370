"""`corel demo`: see it work."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corel.cli._options import Quiet

if TYPE_CHECKING:
    from rich.table import Table

    from corel.demo import Enrolment
    from corel.evaluation import Evaluation

RATE = 0.05


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(rich_help_panel="Start here", epilog="Example: corel demo --out demo")(demo)


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the report and the gallery go.")] = Path("demo"),
    quiet: Quiet = False,
) -> None:
    """Train two small encoders on embedded digits, compare them, write a report and enrol digits in a gallery.

    Takes under two minutes on two cores, and no network.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; name a folder for the report and the gallery, such as --out demo")
    from rich.console import Console

    from corel import demo as steps

    console = Console(highlight=False)
    compared = steps.compare(out, quiet=quiet)
    console.print(_auc_table(compared.evaluation))
    console.print(f"The report, to open in a browser: {compared.report}", markup=False, soft_wrap=True)
    enrolled = steps.enrol(out, quiet=quiet)
    console.print()
    console.print(_score_table(enrolled))
    again = f"{_program()} score {enrolled.gallery} {enrolled.images}/*.png --all"
    console.print(f"The same by hand: {again}", markup=False, soft_wrap=True)


def _program() -> str:
    """What to type for this program: its path, where the shell knows no `corel` or another one."""
    known, started = shutil.which("corel"), shutil.which(sys.argv[0])
    is_known = known is not None and started is not None and Path(known).samefile(started)
    return "corel" if is_known else shlex.quote(sys.argv[0])


def _auc_table(evaluation: Evaluation) -> Table:
    from rich.table import Table

    from corel.evaluation import remark, shown

    config, summary = evaluation.config, evaluation.summary()
    best = max(summary, key=lambda row: row.mean)
    title = f"One digit against all, {config['exemplars'][0]} images enrolled, {config['draws']} draws"
    table = Table(title=title, caption=remark(evaluation), title_justify="left", caption_justify="left")
    for column in ("score and encoder", "AUC", "95% interval"):
        table.add_column(column, justify="left" if column == "score and encoder" else "right")
    for row in summary:
        style = "bold" if row is best else None
        table.add_row(row.method, shown(row.mean), shown(row.low, row.high), style=style)
    return table


def _score_table(enrolled: Enrolment) -> Table:
    from rich.table import Table

    scores = enrolled.scores
    title = f"A shipped encoder, which never saw a digit: {', '.join(scores.classes)} enrolled, the others are not"
    caption = (
        f"An image could be of a class if its p-value there is above {RATE:g}. That turns away at most one "
        f"in {1 / RATE:.0f} of its true members."
    )
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    for column in ("image of a", "likeliest", "p-value", "could be"):
        table.add_column(column, justify="right" if column == "p-value" else "left")
    for i, (order, could_be) in enumerate(zip(scores.ranking(RATE), scores.prediction_sets(RATE), strict=True)):
        first = order[0]
        shown = ", ".join(could_be) or "none of them"
        table.add_row(enrolled.truth[i], scores.classes[first], f"{scores.p_values[i, first]:.3f}", shown)
    return table
