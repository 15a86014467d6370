"""Write the tables of README.md and of the pages on reproduction from committed results: `make readme`.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``; NAME is one of `TABLES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from corel._io.atomic import write_atomically
from experiments._lib.paths import RESULTS, ROOT
from experiments._lib.record import read
from experiments._lib.registry import EXPERIMENTS, Experiment
from experiments.render import (
    ablations,
    benefit,
    cells,
    claims,
    comparison,
    daily,
    encoders,
    front,
    geometry,
    methods,
    overview,
    scaling,
    speed,
    studio,
    tables,
    upkeep,
    verdicts,
    wider,
    wrapped,
)
from experiments.render.tables import markdown

DOCS = ROOT / "docs"
PAGES = sorted((DOCS / "reproduction").glob("*.md"))
NAMED = (
    "find.md",
    "encoders.md",
    "verdicts.md",
    "rate.md",
    "clean.md",
    "watch.md",
    "scale.md",
    "studio.md",
    "reproduction.md",
)
DOCUMENTS = (ROOT / "README.md", *(DOCS / name for name in NAMED), *PAGES)


def commands() -> str:
    """What to type for each experiment; whether it has been run, ``--list`` says."""
    rows = [[each.reproduces, f"`{each.command}`", f"{_minutes(each):g}"] for each in EXPERIMENTS.values()]
    return markdown(["what", "command", "minutes"], rows, text=2)


def _minutes(each: Experiment) -> float:
    """An estimate for two idle cores, or what the recorded run took, if that is longer."""
    file = RESULTS / f"{each.name}.json"
    return max(each.minutes, round(read(each.name)["seconds"] / 60)) if file.exists() else each.minutes


TABLES: dict[str, Callable[[], str]] = {
    table.__name__: table
    for table in (
        overview.results, tables.cells, tables.epochs, tables.rejection, tables.sets, tables.tables, tables.toy,
        cells.table1, cells.mini, comparison.comparison, comparison.paired,
        claims.claims, comparison.standing, comparison.classes, comparison.parameters,
        comparison.published, cells.scores,
        ablations.branching, ablations.weights, geometry.radius, geometry.lifetimes, ablations.control,
        ablations.worth, ablations.initialization, ablations.presets,
        geometry.variability, geometry.density, commands,
        encoders.precision, encoders.longer, encoders.stronger, encoders.variants, encoders.domains,
        encoders.recipes, encoders.general, encoders.native, encoders.photos,
        wrapped.wrapped, wrapped.which, wrapped.memory, wrapped.layers, wrapped.backgrounds, wrapped.embeddings,
        wider.wider, wider.half_precision,
        methods.methods, methods.folds, methods.on_latents, methods.seen, methods.copies_seen,
        verdicts.verdicts, verdicts.photographs, verdicts.plain, daily.confidence, daily.selection,
        upkeep.alarms, upkeep.delays, upkeep.planted, upkeep.copies,
        benefit.benefit, front.accuracy, front.gain, front.found, front.searched, front.printed,
        speed.speed, speed.targets, speed.runtime, speed.step, speed.scoring, speed.costs,
        speed.means, speed.many, speed.encoding, studio.studio, studio.serving,
        scaling.engines, scaling.stages, scaling.overlap, scaling.class_counts, scaling.growth, scaling.shortlist,
        scaling.billion, scaling.end_to_end,
    )
}  # fmt: skip
_TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(text: str) -> str:
    """Give the text with every marked table as the results have it now."""
    return _TABLE.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n\n{found[3]}", text)


def main() -> None:
    """Rewrite the documents whose tables have changed."""
    for document in DOCUMENTS:
        text = document.read_text()
        if fill(text) != text:
            write_atomically(document, fill(text).encode())
            print(f"wrote {document.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
