"""Write the tables of README.md and docs/reproduction.md anew from committed results: ``python -m experiments.readme``.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``; NAME is one of `TABLES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from corel._io.atomic import write_atomically
from experiments import _ablations, _benefit, _comparison, _encoders, _speed, _studies, _tables
from experiments._registry import EXPERIMENTS
from experiments._tables import markdown

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "reproduction.md")


def commands() -> str:
    """What to type for each experiment; whether it has been run, ``--list`` says."""
    rows = [[each.reproduces, f"`{each.command}`", f"{each.minutes:g}"] for each in EXPERIMENTS.values()]
    return markdown(["what", "command", "minutes on two cores"], rows, text=2)


TABLES: dict[str, Callable[[], str]] = {
    table.__name__: table
    for table in (
        _tables.results, _tables.cells, _tables.epochs, _tables.rejection, _tables.sets, _tables.tables, _tables.toy,
        _comparison.table1, _comparison.comparison, _comparison.standing, _comparison.classes, _comparison.parameters,
        _comparison.published, _comparison.scores,
        _ablations.branching, _ablations.weights, _studies.radius, _studies.lifetimes, _ablations.control,
        _ablations.worth, _studies.variability, _studies.density, commands,
        _encoders.precision, _encoders.longer, _encoders.stronger, _encoders.variants, _encoders.domains,
        _benefit.benefit, _benefit.brings,
        _speed.speed, _speed.targets, _speed.runtime, _speed.step, _speed.scoring, _speed.costs,
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
