"""Commands about thresholds: strangers selected among many images, and what a rate would do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corel._terminal import console, counted, encodable, printable
from corel.cli._gallery import Images
from corel.cli._inputs import named_files, report_skipped
from corel.cli._options import BackboneName, GalleryFile, Json, Quiet, Strict
from corel.cli._outputs import PICTURES, Output, check_outputs, picture_style, write_picture

if TYPE_CHECKING:
    from corel.gallery import Tuning

PANEL = "Gallery"
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
WIDTH = 24  # of a bar
PROMISE = (
    "This changes no guarantee: on average over enrollments, at most the rate of images of the enrolled classes is "
    "called stranger. The share of strangers stopped is measured on these images; it is no promise about others."
)


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    for command, example in (
        (select, "corel select animals.gallery photos --fdr 0.1"),
        (tune, "corel tune animals.gallery --members new/known --strangers new/others --stop 90%"),
    ):
        app.command(rich_help_panel=PANEL, epilog=f"Example: {example}")(command)


def select(
    gallery: GalleryFile,
    images: Images,
    fdr: Annotated[
        float, typer.Option(min=1e-6, max=1 - 1e-6, help="The false discovery rate: share of wrong ones, at most.")
    ] = 0.1,
    backbone: BackboneName = None,
    strict: Strict = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the strangers among many images, of which on average at most the share --fdr are of enrolled classes.

    Half of the exemplars only calibrate. The names are printed one a line, the most unlike first.
    """
    from corel.gallery import Gallery

    with Gallery.open(gallery, backbone) as opened:
        found = opened.select(named_files(images).source, fdr, strict=strict, progress=not quiet)
    report_skipped(found.skipped)
    if as_json:
        chosen = [{"image": encodable(found.images[i]), "p_value": float(found.p_values[i])} for i in found.ranked]
        shown: dict[str, Any] = {"images": len(found.images), "calibrating": found.calibrating, "fdr": fdr}
        typer.echo(json.dumps({**shown, "selected": chosen, "note": str(found)}))
        return
    for name in found.strangers:
        typer.echo(printable(name))
    if not quiet or not found.selected.any():
        console().print(str(found), markup=False)


def tune(
    gallery: GalleryFile,
    members: Annotated[list[str], typer.Option(metavar="IMAGES", help="Images of the enrolled classes; repeatable.")],
    strangers: Annotated[list[str], typer.Option(metavar="IMAGES", help="Images of nothing enrolled; repeatable.")],
    stop: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Share of these strangers to stop, such as 90%.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Draw it in this file too, .png, .svg or .pdf.")
    ] = None,
    backbone: BackboneName = None,
    strict: Strict = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what each rate does to images whose answer you know, to choose a rate; nothing is changed."""
    from corel.gallery import Gallery

    wish, known, others = _share(stop), named_files(members), named_files(strangers)
    output = Output("--out", out, PICTURES[picture_style(out or Path("tune.png"))])
    check_outputs([gallery, backbone, *known.files, *others.files], output)
    with Gallery.open(gallery, backbone) as opened:
        found = opened.tune(known.source, others.source, strict=strict, progress=not quiet)
    report_skipped(found.skipped)
    if out is not None:
        write_picture(found.draw(), out)
    typer.echo(json.dumps(_document(found, wish)) if as_json else "\n".join(_lines(found, wish)))


def _share(text: str | None) -> float | None:
    """Read 90% or 0.9."""
    if text is None:
        return None
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = float("nan")
    if not 0 < share <= 1:
        raise ValueError(f"--stop {text} is no share; give one such as 90% or 0.9")
    return share


def _lines(found: Tuning, wish: float | None) -> Iterator[str]:
    members, strangers = len(found.members.verdict), len(found.strangers.verdict)
    if found.enrolled:
        yield f"{counted(found.enrolled, 'member')} left out: already enrolled, so the p-value says nothing"
    yield f"{'p-value':<12}{counted(members, 'member'):<{WIDTH + 8}}{counted(strangers, 'stranger')}"
    yield from _histogram(found)
    yield f"\n{'rate':<8}{'members called stranger':>24}{'strangers stopped':>20}{'stopped with 95% confidence':>30}"
    for rate in RATES:
        shares, strict = found.at(rate), found.confident(rate)
        confident = "too few exemplars" if strict is None else f"{strict.strangers:.1%}"
        yield f"{rate:<8g}{shares.members:>24.1%}{shares.strangers:>20.1%}{confident:>30}"
    if any(found.confident(rate) is None for rate in RATES):
        yield (
            f"too few exemplars: half of them calibrate here, {found.calibrating:,}; `corel score --confidence` holds "
            "out more if it needs more"
        )
    yield ""
    if wish is not None:
        yield _answer(found, wish)
    yield PROMISE


def _histogram(found: Tuning) -> Iterator[str]:
    edges = (0.0, *RATES, 1.0)
    for low, high in pairwise(edges):
        both = [_bar(float(((p > low) & (p <= high)).mean())) for p in (found.members.verdict, found.strangers.verdict)]
        yield f"{f'{low:g}–{high:g}':<12}{both[0]:<{WIDTH + 8}}{both[1]}".rstrip()


def _bar(share: float) -> str:
    return f"{share:>6.1%} {'█' * round(WIDTH * share)}"


def _answer(found: Tuning, wish: float) -> str:
    rate = _rounded_up(found.rate_for(wish))
    if rate >= 1:
        return f"No rate stops {wish:.0%} of these strangers: some fit as well as the best exemplars."
    shares = found.at(rate)
    return (
        f"To stop {wish:.0%} of these strangers, use --rate {rate:g}: it stops {shares.strangers:.1%}, and calls "
        f"{shares.members:.1%} of these members strangers."
    )


def _rounded_up(rate: float) -> float:
    """Round a rate up to three digits."""
    rounded = float(f"{rate:.3g}")
    return rounded if rounded >= rate else float(f"{1.005 * rate:.3g}")


def _document(found: Tuning, wish: float | None) -> dict[str, Any]:
    rates = []
    for rate in RATES:
        shares, strict = found.at(rate), found.confident(rate)
        rates.append({"rate": rate, **shares._asdict(), "with_confidence": strict and strict._asdict()})
    sizes = {"members": len(found.members.verdict), "strangers": len(found.strangers.verdict)}
    asked = None if wish is None else {"stop": wish, "rate": found.rate_for(wish)}
    return {**sizes, "left_out": found.enrolled, "calibrating": found.calibrating, "rates": rates, "wish": asked}
