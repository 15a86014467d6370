"""Tables of what a confidence and a selection promise, and what they cost."""

from __future__ import annotations

from typing import Any

from experiments._lib.names import title
from experiments._lib.record import read
from experiments.render.tables import markdown


def confidence() -> str:
    """Galleries that exceed the rate, and strangers stopped, by each rule."""
    heading = [
        "known; strangers", "exemplars, calibrating", "above 5%, with confidence", "chance", "above 5%, split",
        "above 5%, full", "highest, confidence / full", "stopped, with confidence", "stopped, split", "stopped, full",
    ]  # fmt: skip
    return markdown(heading, map(_confidence_row, read("confidence")["results"]), text=2)


def _confidence_row(row: dict[str, Any]) -> list[str]:
    rules = [row[rule] for rule in ("confidence", "split", "full")]
    above = [f"{each['violations'] / each['galleries']:.1%}" for each in rules]
    stopped = [f"{each['strangers stopped']:.1%}" for each in rules]
    highest = f"{row['confidence']['highest']:.1%} / {row['full']['highest']:.1%}"
    chance = f"{row['confidence']['chance of as many']:.2f}"
    sizes = f"{row['exemplars']:,}, {row['calibrating']:,}"
    return [_case(row), sizes, above[0], chance, *above[1:], highest, *stopped]


def selection() -> str:
    """Wrong images in selections, and strangers found, by each rule."""
    rules = {"split": "split, BH", "full": "full, BH (not proved)", "full, BY": "full, BY"}
    heading = [
        "known; strangers",
        "images",
        *(f"{name}: {what}" for name in rules.values() for what in ("wrong", "found")),
    ]
    rows = [
        [_case(row), row["images"], *(cell for rule in rules for cell in _selection_cells(row[rule]))]
        for row in read("selection")["results"]
    ]
    return markdown(heading, rows, text=2)


def _selection_cells(found: dict[str, float]) -> tuple[str, str]:
    return f"{found['fdr']:.1%} ± {found['error']:.1%}", f"{found['power']:.1%}"


def _case(row: dict[str, Any]) -> str:
    return f"{title(row['known'])}; {title(row['strangers'])}"
