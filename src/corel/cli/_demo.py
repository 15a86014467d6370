"""`corel demo`: see it work."""

from __future__ import annotations

import shlex
import shutil
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corel.cli._options import Quiet

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from corel.demo.digits import EnrolledDigits
    from corel.demo.photos import Recognized
    from corel.evaluation import Evaluation

RATE = 0.05


class Subject(str, Enum):
    """What the demo shows."""

    PHOTOS = "photos"
    DIGITS = "digits"


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(rich_help_panel="Start here", epilog="Example: corel demo --out demo")(demo)


def demo(
    subject: Annotated[
        Subject, typer.Argument(metavar="WHAT", help="photos: find and recognize. digits: what the loss brings.")
    ] = Subject.PHOTOS,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the page, pictures and gallery go.")] = Path("demo"),
    quiet: Quiet = False,
) -> None:
    """Find things in a photograph, recognize new windows by a gallery, and write a page about it.

    Takes about two minutes on two cores, and no network: the photographs come with scikit-learn.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; name a folder for the page and the gallery, such as --out demo")
    from rich.console import Console

    console = Console(highlight=False)
    (_show_photos if subject is Subject.PHOTOS else _show_digits)(console, out, quiet=quiet)


def _show_photos(console: Console, out: Path, *, quiet: bool) -> None:
    from corel.demo import page, photos

    found = photos.find_things(out, progress=not quiet)
    for name in found:
        console.print(f"A box on the {name}: {out / f'found_{name}.png'} shows the rest of it", markup=False)
    recognized = photos.recognize(out, rate=RATE)
    console.print(_verdict_table(recognized))
    console.print(f"The gallery {recognized.summary()}.", markup=False, soft_wrap=True)
    why = photos.explain(recognized)
    pair = page.train_pair(progress=not quiet)
    written = page.write_page(out / "report.html", found, recognized, why, pair, rate=RATE)
    console.print(f"The page, to open in a browser: {written}", markup=False, soft_wrap=True)
    console.print(photos.CREDIT, style="dim", markup=False, soft_wrap=True)
    console.print("\nTry next your own folder, the loss, or the studio on this gallery:")
    for line in _next_lines(recognized.gallery):
        console.print(f"  {line}", markup=False, soft_wrap=True)


def _next_lines(gallery: Path) -> list[str]:
    """Three commands to try next: your own folder, the loss in your own training loop, the page on this gallery."""
    program = _program()
    python = "python" if program == "corel" else shlex.quote(sys.executable)
    return [
        f"{program} enroll my.gallery cat ~/photos/cats && {program} score my.gallery ~/photos/new",
        f'{python} -c "import corel; help(corel.ConnectivityLoss)"',
        f"{program} serve {shlex.quote(str(gallery))} --open",
    ]


def _verdict_table(recognized: Recognized) -> Table:
    from rich.table import Table

    caption = (
        f"At most {RATE:.0%} of the images of enrolled things are called strangers, averaged over enrollments, if new "
        "images are like the enrolled ones."
    )
    table = Table(title="New windows of two photographs", caption=caption, title_justify="left", caption_justify="left")
    for column in ("window of", "verdict", "p-value", "could be"):
        table.add_column(column, justify="right" if column == "p-value" else "left")
    for truth, each in zip(recognized.truth, recognized.verdicts, strict=True):
        style = {"known": "green", "unsure": "yellow"}.get(each.verdict, "red")
        table.add_row(truth, f"[{style}]{each.verdict}[/]", f"{each.p_value:.3f}", ", ".join(each.classes) or "–")
    return table


def _show_digits(console: Console, out: Path, *, quiet: bool) -> None:
    from corel.demo import digits as steps

    compared = steps.compare(out, quiet=quiet)
    console.print(_auc_table(compared.evaluation))
    console.print(f"The report, to open in a browser: {compared.report}", markup=False, soft_wrap=True)
    enrolled = steps.enroll(out, quiet=quiet)
    console.print()
    console.print(_score_table(enrolled))
    again = f"{_program()} score {enrolled.gallery} {enrolled.images}/*.png --all"
    console.print(f"The same by hand: {again}", markup=False, soft_wrap=True)


def _program() -> str:
    """The command to type: `corel`; `python -m corel`, or a path, if the shell does not find it under that name."""
    if Path(sys.argv[0]).name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m corel"
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


def _score_table(enrolled: EnrolledDigits) -> Table:
    from rich.table import Table

    scores = enrolled.scores
    title = f"A shipped encoder, which never saw a digit: {', '.join(scores.classes)} enrolled, the others are not"
    caption = f"At most {RATE:.0%} of the images of enrolled digits are called strangers, averaged over enrollments."
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    for column in ("image of a", "verdict", "p-value", "could be"):
        table.add_column(column, justify="right" if column == "p-value" else "left")
    for truth, each in zip(enrolled.truth, scores.decide(RATE), strict=True):
        table.add_row(truth, each.verdict, f"{each.p_value:.3f}", ", ".join(each.classes) or "–")
    return table
