"""From findings to one file that needs nothing else, and its figures beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import resources
from pathlib import Path

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from corel._errors import ArgumentError
from corel._io.atomic import write_atomically
from corel._terminal import Advance, progress_bar
from corel._version import __version__
from corel.backbone import Backbone
from corel.evaluation import Evaluation
from corel.images import ImageSet
from corel.report import _scores, _style, _theory, _topology, _training
from corel.report._content import Material, Panel, Section

LEAD = (
    "An encoder turns each image into points; the connectivity loss spaces those points evenly while it learns. Then a "
    "class can be recognized from a handful of its images: a new image belongs to it if enough of them are near. This "
    "page shows how evenly the points were spaced, and how well that recognizes."
)


def write_report(
    path: str | os.PathLike[str],
    backbones: Backbone | Mapping[str, Backbone],
    *,
    images: ImageSet | None = None,
    evaluation: Evaluation | None = None,
    enrolled: ImageSet | None = None,
    test: ImageSet | None = None,
    title: str = "corel report",
    lead: str = LEAD,
    first: Sequence[Section] = (),
    leave_out: Collection[str] = (),
    progress: bool = True,
) -> Path:
    """Write one self-contained HTML page, and its figures as files into the folder ``<name>_files`` beside it.

    What is not given leaves its sections out; the page says so.

    Args:
        path: The page; a folder stands for ``report.html`` in it.
        backbones: The backbone reported on; several by name, to compare with the first.
        images: Images to look at latents of; without them `enrolled`, or the latents the backbone kept.
        evaluation: AUCs.
        enrolled: The labeled images that `evaluation` drew exemplars from.
        test: The labeled images it scored.
        title: The page's title.
        lead: The paragraph below it.
        first: Sections of the caller's own, shown before all others.
        leave_out: Sections that the page shall not have, such as ``reconstructions``; it does not call them missing.
        progress: Show a bar, if standard error is a terminal.

    Example:
        >>> import corel
        >>> backbone = corel.Backbone.load()
        >>> corel.write_report("report.html", backbone, images=corel.images.open("digits")).name
        'report.html'

    """
    named = {"trained encoder": backbones} if isinstance(backbones, Backbone) else dict(backbones)
    looked_at = enrolled if images is None else images
    material = Material(named, _sample(looked_at), evaluation, enrolled, test)
    page = Path(path) / "report.html" if Path(path).is_dir() or not Path(path).suffix else Path(path)
    with progress_bar("drawing the report", total=11, quiet=not progress) as advance:
        sections, missing = _sections(material, leave_out, advance)
        sections = [*first, *sections]
        html = _render(title, lead, sections, missing)
        _write_figures(page.with_name(f"{page.stem}_files"), sections)
        write_atomically(page, html.encode())
        advance()
    return page


def _sample(images: ImageSet | None) -> ImageSet | None:
    if images is None:
        return None
    chosen = np.random.default_rng(0).permutation(len(images))[: _topology.SAMPLE]
    return images.take(chosen)


def _sections(material: Material, leave_out: Collection[str], advance: Advance) -> tuple[list[Section], list[str]]:
    """All sections that the material allows, in the order of the page, and the names of the others."""
    clouds = _topology.clouds(material, material.images)
    scores = _scores.scored(material)
    makers: dict[str, Callable[[], Section | None]] = {
        "what was trained": lambda: _training.trained(material),
        "loss curves": lambda: _training.losses(material),
        "death times": lambda: _topology.deaths(material, clouds),
        "barcodes": lambda: _topology.barcodes(clouds),
        "latents in two dimensions": lambda: _topology.views(material, clouds, material.images),
        "reconstructions": lambda: _training.reconstructions(material),
        "AUC per class": lambda: _scores.auc(material),
        "ROC curves": lambda: _scores.curves(scores),
        "best and worst images": lambda: _scores.extremes(scores),
        "neighbors within β": lambda: _theory.neighbors_within(clouds),
    }
    if unknown := sorted(set(leave_out) - set(makers)):
        raise ArgumentError("leave_out", f"knows no section {unknown[0]!r}; take some of {', '.join(makers)}")
    sections, missing = [], []
    for name in [each for each in makers if each not in leave_out]:
        section = makers[name]()
        advance(note=name)
        if section is None:
            missing.append(name)
        else:
            sections.append(section)
    return sections, missing


def _render(title: str, lead: str, sections: Sequence[Section], missing: Sequence[str]) -> str:
    source = (resources.files("corel.report") / "page.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["svg"] = _svg
    environment.filters["is_wide"] = lambda panel: panel.figure.get_figwidth() > 2 * _style.WIDTH
    environment.filters["uris"] = lambda strip: [_style.data_uri(_style.picture(each)) for each in strip.pixels]
    environment.filters["uri"] = lambda shown: _style.data_uri(_style.picture(shown.pixels))
    page = environment.from_string(source)
    return page.render(title=title, lead=lead, sections=sections, missing=missing, version=__version__)


def _svg(panel: Panel) -> Markup:
    return Markup(_style.inline_svg(panel.figure, panel.name, panel.caption))


def _write_figures(folder: Path, sections: Sequence[Section]) -> None:
    for section in sections:
        for panel in section.panels:
            write_atomically(folder / f"{panel.name}.svg", _style.svg(panel.figure, panel.name))
            write_atomically(folder / f"{panel.name}.png", _style.png(panel.figure))
        for shown in section.pictures:
            write_atomically(folder / f"{shown.name}.png", _style.picture(shown.pixels))
        for strip in section.strips:
            row = np.concatenate(list(strip.pixels), axis=1)
            write_atomically(folder / f"{strip.name}.png", _style.picture(row))
