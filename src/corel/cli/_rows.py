"""Rows of results in the format asked for, written as they come."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeAlias

from corel._io.atomic import appearing
from corel._terminal import printable


class Row(NamedTuple):
    """An image against a class: the contrast score, the conformal p-value, and `in` or `out` at the rate."""

    image: str
    name: str
    score: float
    p_value: float
    verdict: str


COLUMNS = ("image", "class", "score", "p_value", "verdict")
Write: TypeAlias = Callable[[Sequence[Row]], None]


class Format(str, Enum):
    """How results are written."""

    TABLE = "table"
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


@contextmanager
def row_writer(style: Format, out: Path | None) -> Iterator[Write]:
    """Give a function that writes rows, to standard output or to a file that appears when all is written."""
    if style is Format.PARQUET and out is None:
        raise ValueError("Parquet is not text; name a file with --out results.parquet")
    with nullcontext() if out is None else appearing(out) as place:
        if place is None:
            yield _text(style, sys.stdout)
        elif style is Format.PARQUET:
            with _parquet(place) as write:
                yield write
        else:
            with place.open("w", encoding="utf-8", newline="") as file:
                yield _text(style, file)


def _text(style: Format, file: TextIO) -> Write:
    write = {Format.TABLE: _table, Format.CSV: _csv, Format.JSONL: _jsonl}[style](file)

    def write_through(rows: Sequence[Row]) -> None:
        write(rows)
        file.flush()  # whoever reads a pipe sees each batch when it is done

    return write_through


def _csv(file: TextIO) -> Write:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    return lambda rows: writer.writerows((printable(row.image), *row[1:]) for row in rows)


def _jsonl(file: TextIO) -> Write:
    def write(rows: Sequence[Row]) -> None:
        for row in rows:
            file.write(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n")

    return write


def _table(file: TextIO) -> Write:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=file, highlight=False, soft_wrap=True)
    widths: list[int] = []

    def write(rows: Sequence[Row]) -> None:
        lines = [(printable(row.image), row.name, f"{row.score:.2f}", f"{row.p_value:.4f}") for row in rows]
        if not widths:
            # The first batch settles the widths: a table that streams cannot wait for its longest name.
            widths.extend(max(map(len, column)) for column in zip(*lines, COLUMNS[:4], strict=True))
            console.print(Text(_aligned(COLUMNS[:4], widths) + "  verdict", style="bold"))
        for line, row in zip(lines, rows, strict=True):
            verdict = Text(row.verdict, style="green" if row.verdict == "in" else "red")
            console.print(Text(_aligned(line, widths) + "  ") + verdict)

    return write


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells[:2], widths[:2], strict=True)]
    padded += [cell.rjust(width) for cell, width in zip(cells[2:], widths[2:], strict=True)]
    return "  ".join(padded)


@contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    try:
        import pyarrow as arrow
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow; run `pip install 'corel[parquet]'`") from error
    text, number = arrow.string(), arrow.float64()
    schema = arrow.schema(list(zip(COLUMNS, (text, text, number, number, text), strict=True)))
    with ParquetWriter(path, schema) as writer:

        def write(rows: Sequence[Row]) -> None:
            columns: Any = list(zip(*((printable(row.image), *row[1:]) for row in rows), strict=True))
            writer.write_table(arrow.table([list(column) for column in columns], schema=schema))

        yield write
