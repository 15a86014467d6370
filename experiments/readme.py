"""Write the tables of README.md and docs/reproduction.md anew from committed results: ``python -m experiments.readme``.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``; NAME is one of `TABLES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from corel._atomic import write_atomically
from experiments import _speed, _tables

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "reproduction.md")
TABLES: dict[str, Callable[[], str]] = {
    table.__name__: table
    for table in (
        _tables.results, _tables.cells, _tables.epochs, _tables.rejection, _tables.sets, _tables.tables,
        _tables.toy, _tables.published, _tables.radius,
        _tables.weights, _speed.speed, _speed.runtime, _speed.step, _speed.scoring, _speed.costs,
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
