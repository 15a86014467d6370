"""`corel audit`: exemplars that may not belong in their class."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corel._terminal import cells, counted, padded
from corel.cli._options import BackboneName, GalleryFile, Json

if TYPE_CHECKING:
    from corel.gallery import Audit, Exemplar, Fit

PANEL = "Gallery"
HEADINGS = ("position", "class", "gap", "more like", "hash", "file")


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(rich_help_panel=PANEL, epilog="Example: corel audit animals.gallery cat")(audit)


def audit(
    gallery: GalleryFile,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The class; default: every class.")] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many exemplars and pairs to list.")] = 10,
    backbone: BackboneName = None,
    as_json: Json = False,
) -> None:
    """List exemplars that may not belong, near-duplicates, and enrollments that differ from earlier ones.

    The gap says how far an exemplar's score is below the median of its class, in deviations (from the median absolute
    deviation). Nothing is changed; `corel forget GALLERY NAME POSITION` removes an exemplar.
    """
    from corel.gallery import Gallery

    with Gallery.open(gallery, backbone) as opened:
        found = opened.audit(name)
    if as_json:
        typer.echo(json.dumps(_document(found)))
    else:
        typer.echo("\n\n".join(_parts(found, count)))


def _parts(found: Audit, count: int) -> list[str]:
    odd = sum(each.odd for each in found.fits)
    parts = [
        f"{odd:,} of {counted(len(found.fits), 'exemplar')} {'is' if odd == 1 else 'are'} odd: "
        "more than 3 deviations below the median of the class",
        _aligned([HEADINGS, *map(_cells, found.fits[:count])]),
    ]
    if found.duplicates:
        pairs = [(f"{pair.likeness:.3f}", _shown(pair.one), _shown(pair.other)) for pair in found.duplicates[:count]]
        more = f", the first {count:,}:" if len(found.duplicates) > count else ":"
        parts.append(f"{counted(len(found.duplicates), 'pair')} of near-duplicates{more}\n{_aligned(pairs)}")
    if found.later:
        rows = [
            (each.name, each.enrolled, f"{each.count:,}", f"{each.earlier:,}", f"{each.p_value:.3f}")
            for each in found.later
        ]
        parts.append(
            "later enrollments against earlier ones; a small p-value says that they differ:\n"
            + _aligned([("class", "enrolled", "images", "before", "p_value"), *rows])
        )
    return parts


def _cells(fit: Fit) -> tuple[str, ...]:
    like = fit.likelier or ("(background)" if fit.background else "")
    gap = f"{fit.gap:.1f}" + (" odd" if fit.odd else "")
    return str(fit.position), fit.exemplar.name, gap, like, fit.exemplar.hash[:12], fit.exemplar.source


def _shown(exemplar: Exemplar) -> str:
    return f"{exemplar.name}: {exemplar.source} ({exemplar.hash[:12]})"


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _document(found: Audit) -> dict[str, Any]:
    return {
        "exemplars": [
            {
                "class": each.exemplar.name, "position": each.position, "hash": each.exemplar.hash,
                "source": each.exemplar.source, "score": each.score, "odd": each.odd,
                "gap": each.gap if math.isfinite(each.gap) else None, "likelier": each.likelier,
                "background": each.background,
            }
            for each in found.fits
        ],
        "duplicates": [
            {
                "likeness": pair.likeness,
                "exemplars": [{"class": each.name, "hash": each.hash} for each in (pair.one, pair.other)],
            }
            for pair in found.duplicates
        ],
        "later": [
            {
                "class": each.name, "enrolled": each.enrolled, "images": each.count, "earlier": each.earlier,
                "p_value": each.p_value,
            }
            for each in found.later
        ],
    }  # fmt: skip
