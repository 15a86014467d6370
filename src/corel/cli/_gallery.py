"""Commands on a gallery: enroll, score, explain, classes, forget."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corel._terminal import console, counted, encodable
from corel.cli._inputs import named_files, report_skipped
from corel.cli._options import BackboneName, GalleryFile, Json, Photographs, Quiet, Rate, Strict
from corel.cli._outputs import PICTURES, Output, check_outputs, picture_style, write_picture
from corel.cli._resolution import remark_on_large_photos, remark_on_small_photos
from corel.cli._rows import NOT_A_PHOTOGRAPH, Format, Write, format_of, outputs, row_writer
from corel.cli._scale import (
    Address,
    Engine,
    EngineName,
    PartSize,
    Threads,
    Workers,
    refuse_with_ray,
    refuse_without_ray,
    score_on_ray,
)
from corel.cli._small_classes import warn_of_small_classes

if TYPE_CHECKING:
    from corel._io.rows import Row
    from corel.gallery import Explanation, Gallery, Scores
    from corel.images import Skipped

VECTORS = "For a backbone on vectors one .npy or .npz file of floats, a vector a row."
Images = Annotated[
    list[str],
    typer.Argument(metavar="IMAGES", help=f"Files, folders or globs; - reads names from standard input. {VECTORS}"),
]
PANEL = "Gallery"
MOSTLY = 0.9  # of the images unsure: a better encoder would tell more of them


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    for command, example in (
        (enroll, "corel enroll animals.gallery cat photos/cats"),
        (score, "corel score animals.gallery new/*.jpg --rate 0.01 --format csv"),
        (explain, "corel explain animals.gallery new/a.jpg cat --out why.png"),
        (classes, "corel classes animals.gallery cat"),
        (forget, "corel forget animals.gallery cat b.jpg"),
    ):
        app.command(rich_help_panel=PANEL, epilog=f"Example: {example}")(command)


def enroll(
    gallery: GalleryFile,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The class; with --by-folder the folder of folders.")],
    images: Annotated[
        list[str] | None,
        typer.Argument(metavar="IMAGES", help=f"Files, folders or globs; - reads names. {VECTORS}"),
    ] = None,
    by_folder: Annotated[
        bool, typer.Option("--by-folder", help="Enroll each folder in NAME as a class of its own.")
    ] = False,
    backbone: BackboneName = None,
    views: Annotated[
        str | None,
        typer.Option(
            help="For a new gallery: see images whole, with their mirror image (mirror), with corners (crops)."
        ),
    ] = None,
    strict: Strict = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Add images or vectors to a class, all or none; the gallery is created if it is not there."""
    from corel.gallery import Gallery

    if by_folder == bool(images):
        raise ValueError(
            "with --by-folder name one folder that holds a folder a class; without it name a class and its images"
        )
    # A folder in sight comes before a known dataset of the same name.
    source: Any = (
        (Path(name) if Path(name).is_dir() else name) if by_folder else named_files(_flat(images or [])).source
    )
    with Gallery.open(gallery, backbone, create=True, views=views) as opened:
        if not quiet and not opened.classes():  # said once, while another encoder can still be chosen
            remark_on_large_photos(opened.backbone, source)
        done = opened.enroll(None if by_folder else name, source, strict=strict, progress=not quiet)
        if not quiet:
            remark_on_small_photos(opened.backbone, source)
        plain = 0 if quiet or as_json else opened.plain
    if as_json:
        skipped = [asdict(each) for each in done.skipped]
        _print_json(added=done.added, duplicates=done.duplicates, skipped=skipped, elsewhere=done.elsewhere)
        return
    report_skipped(done.skipped)
    for each, count in done.elsewhere.items():
        console().print(
            f"enrolled as {each} too: {counted(count, 'image')}; forget them in one class, or both will claim them",
            markup=False,
        )
    for each, count in sorted(done.added.items()) if not quiet else ():
        typer.echo(f"{each}: {count:,} new")
    if done.duplicates and not quiet:
        typer.echo(f"{done.duplicates:,} already there, skipped")
    _remark_on_plain_exemplars(plain)


def _remark_on_plain_exemplars(count: int) -> None:
    """Say that what is enrolled is let pass: with one black frame among the exemplars, black frames are."""
    if count:
        like = counted(count, "exemplar") + (" looks" if count == 1 else " look")
        console().print(f"{like} like blank or noise frames, so such images are let pass from now on", markup=False)


def score(
    gallery: GalleryFile,
    images: Images,
    every: Annotated[bool, typer.Option("--all", help="A row for every class, not only for the best.")] = False,
    style: Annotated[
        Format | None,
        typer.Option("--format", help="How to write the rows.", show_default="by the ending of --out, else table"),
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Write to this file, not to standard output; with --engine ray a folder.")
    ] = None,
    rate: Rate = 0.05,
    confidence: Annotated[
        float | None,
        typer.Option(
            min=1e-6,
            max=1 - 1e-6,
            help="Keep the rate in this very gallery, with this probability; stops fewer strangers.",
        ),
    ] = None,
    fail_on_outlier: Annotated[
        bool,
        typer.Option(
            "--fail-on-outlier",
            help="Exit with 1 if an image is a stranger, blank or unreadable, with 2 if none can be read.",
        ),
    ] = False,
    photographs: Photographs = True,
    backbone: BackboneName = None,
    strict: Strict = False,
    engine: EngineName = Engine.LOCAL,
    address: Address = None,
    workers: Workers = None,
    threads: Threads = None,
    part_size: PartSize = None,
    quiet: Quiet = False,
) -> None:
    """Say which class each image belongs to, or that it is a stranger.

    Known: one class is left. Unsure: several classes are left, the likeliest first, or none. Stranger: the p-value is
    at most the rate; at most this share of images of the enrolled classes is called that, on average over enrollments.
    Not a photograph: a blank, flat or noise frame.
    """
    sizes = {"workers": workers, "threads": threads, "part_size": part_size}
    refuse_without_ray(engine, address=address, **sizes)
    refuse_with_ray(engine, style, strict=strict)
    if engine is Engine.RAY:
        if confidence is not None:
            raise ValueError("--confidence holds exemplars out, which --engine ray cannot do; leave one of them out")
        how: Any = {"rate": rate, "every": every, "photographs": photographs, "backbone": backbone}
        counts = score_on_ray(gallery, images, out, sizes, address=address, progress=not quiet, **how)
        if fail_on_outlier and counts.known + counts.unsure < counts.images:
            raise typer.Exit(1)
        return
    from corel.gallery import Gallery
    from corel.images import one_ahead

    file = None if out is None else Path(out)
    style, named = style or format_of(file), named_files(images)
    check_outputs([gallery, backbone, *named.files], *outputs(style, file))
    with Gallery.open(gallery, backbone) as opened, row_writer(style, file, every=every) as write:
        small = warn_of_small_classes(opened, rate, quiet=quiet, failing=fail_on_outlier)
        held_out = 0 if confidence is None else _held_out(opened, rate, confidence, quiet=quiet)
        options = {"photographs": photographs, "strict": strict, "progress": not quiet}
        # While a batch is decided about and written, the next ones are scored, encoded and read.
        batches = one_ahead(opened.score_batches(named.source, held_out=held_out, **options))
        found, skipped = _decide(batches, write, rate, confidence, every=every)
        if not quiet:
            remark_on_small_photos(opened.backbone, named.source)
            if found["unsure"] and found["unsure"] >= MOSTLY * found.total() and not small:
                remark_on_large_photos(opened.backbone, named.source)
    report_skipped(skipped)
    if found[NOT_A_PHOTOGRAPH] and not quiet:
        console().print(
            f"{counted(found[NOT_A_PHOTOGRAPH], 'blank, flat or noise frame')}; at most 1% of real images are called "
            "that, in addition to the rate (--no-photographs turns it off)",
            markup=False,
        )
    if fail_on_outlier and found["known"] + found["unsure"] < found.total() + len(skipped):
        raise typer.Exit(1)


def _decide(
    batches: Iterable[Scores], write: Write, rate: float, confidence: float | None, *, every: bool
) -> tuple[Counter[str], list[Skipped]]:
    """Decide about each batch and write its rows; give the number of each verdict, and what could not be read."""
    from corel.gallery import rows_of

    found: Counter[str] = Counter()
    rows: list[Row] = []
    skipped: list[Skipped] = []
    for scores in batches:
        verdicts = scores.decide(rate, confidence)
        found.update(each.verdict for each in verdicts)
        skipped += scores.skipped
        rows += rows_of(scores, verdicts, rate, every=every)
        if found:  # where nothing can be read, the error is all there is to say
            write(rows)
            rows = []
    return found, skipped


def _held_out(gallery: Gallery, rate: float, confidence: float, *, quiet: bool) -> int:
    """Give how many exemplars to hold out for calibration, and tell the user what that changes."""
    from corel.oneclass import strict_limit

    held_out, total = gallery.calibrating(rate, confidence), sum(gallery.classes().values())
    if not quiet:
        console().print(
            f"{held_out:,} of {total:,} exemplars calibrate, the others score; an image is a stranger if its p-value "
            f"is at most {strict_limit(rate, confidence, held_out):.4f} instead of {rate:g}",
            markup=False,
        )
    return held_out


def explain(
    gallery: GalleryFile,
    image: Annotated[Path, typer.Argument(metavar="IMAGE", help="The image in question, or a file of one vector.")],
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The class; default: the first that the verdict names.")
    ] = None,
    out: Annotated[Path, typer.Option(dir_okay=False, help="The picture to write, .png, .svg or .pdf.")] = Path(
        "explanation.png"
    ),
    rate: Rate = 0.05,
    expert: Annotated[bool, typer.Option("--expert", help="Draw each branch and its radius instead.")] = False,
    backbone: BackboneName = None,
    as_json: Json = False,
) -> None:
    """Draw why an image belongs to a class or not: the exemplars that count most, and the class next to it."""
    check_outputs([gallery, image, backbone], Output("--out", out, PICTURES[picture_style(out)]))
    from corel.gallery import Gallery

    with Gallery.open(gallery, backbone) as opened:
        found = opened.explain(image, name, rate)
    write_picture(found.draw(expert=expert), out)
    if as_json:
        _print_json(**_explained(found))
    else:
        typer.echo(f"{found}\ndrawn in {out}")


def _explained(found: Explanation) -> dict[str, Any]:
    rates = found.votes.background_rates
    sides = [
        {
            "class": each.name, "p_value": each.p_value, "votes": each.total, "typical_member": each.typical,
            "voters": [{"hash": exemplar.hash, "share": share} for exemplar, share in each.voters(len(each.votes))],
        }
        for each in found.comparisons
    ]  # fmt: skip
    return {
        "image": encodable(found.image), "verdict": found.verdict.verdict, "classes": found.verdict.classes,
        "class": found.name, "score": found.score, "p_value": found.p_value, "exemplars": len(found.exemplars),
        "comparisons": sides, "counts": found.votes.counts.tolist(), "parts": found.votes.parts.tolist(),
        "background_rates": None if rates is None else rates.tolist(),
        "voters": [[found.exemplars[i].hash for i in branch] for branch in found.votes.neighbors],
    }  # fmt: skip


def classes(
    gallery: GalleryFile,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="List this class's exemplars.")] = None,
    as_json: Json = False,
) -> None:
    """List the classes, or the exemplars of one."""
    from corel.gallery import Gallery

    with Gallery.open(gallery) as opened:
        if name is None:
            counts = opened.classes()
            lines = [f"{count:>8,}  {each}" for each, count in counts.items()]
            content: Any = {"classes": counts}
        else:
            found = opened.exemplars(name)
            lines = [f"{each.hash[:12]}  {each.enrolled}  {each.source}" for each in found]
            kept = ("hash", "enrolled", "source")
            content = {"class": name, "exemplars": [{key: getattr(each, key) for key in kept} for each in found]}
    if as_json:
        _print_json(**content)
    else:
        typer.echo("\n".join(lines) if lines else "no classes yet")


def forget(
    gallery: GalleryFile,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The class.")],
    which: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WHICH]...",
            help="Only these: a file's name, the beginning of a hash, or a position in `corel audit`.",
        ),
    ] = None,
    hashes: Annotated[
        list[str] | None, typer.Option("--hash", help="Only this exemplar (or the beginning of its hash); repeatable.")
    ] = None,
    backbone: BackboneName = None,
    as_json: Json = False,
) -> None:
    """Forget a class, or some of its exemplars; their latents and thumbnails are overwritten in the file."""
    from corel.gallery import Gallery

    chosen = [*map(_position_or_name, which or []), *(hashes or [])]
    with Gallery.open(gallery, backbone) as opened:
        count = opened.forget(name, chosen or None)
    if as_json:
        _print_json(forgotten=count)
    else:
        typer.echo(f"{name}: {count:,} forgotten")


def _position_or_name(word: str) -> str | int:
    """Read a small number as a position: beginnings of hashes are longer, and files have an ending."""
    from corel.gallery import SHORTEST_HASH

    return int(word) if word.isdecimal() and word.isascii() and len(word) < SHORTEST_HASH else word


def _flat(arguments: Sequence[str]) -> Sequence[str]:
    """Refuse a folder of folders for one class: it is more likely meant as several."""
    for folder in filter(Path.is_dir, map(Path, arguments)):
        inner = [each for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")]
        if inner:
            raise ValueError(
                f"{folder} holds folders ({inner[0].name}); add --by-folder (and no name) to enroll each as a class, "
                "or name the folders to enroll as one"
            )
    return arguments


def _print_json(**content: Any) -> None:
    typer.echo(json.dumps(content))
