"""Rows of results in the format asked for, written as they come."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TextIO, TypeAlias

from corel._io.atomic import appearing, is_stream, naming, sync_folder
from corel._io.filetype import BINARY, PARQUET, TEXT
from corel._io.rows import COLUMNS, Row, arrow, arrow_table
from corel._terminal import cells, encodable, exported, padded, printable
from corel.cli._outputs import Output
from corel.cli._partial import Partial, kept_until_complete, partial_of

COLORS = {"known": "green", "unsure": "yellow"}
NOT_A_PHOTOGRAPH = "not a photograph"
SEPARATOR = "/"  # between classes in one cell: no name contains it
Write: TypeAlias = Callable[[Sequence[Row]], None]


class Format(str, Enum):
    """How results are written."""

    TABLE = "table"
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


# What programs read, but we do not write, and what to take for it.
INSTEAD = {"json": "jsonl", "tsv": "csv", "xlsx": "csv", "xls": "csv", "ods": "csv", "arrow": "parquet"}


def format_of(out: Path | None) -> Format:
    """Give the format that a file's name ends in; a table for any other name, and for standard output."""
    ending = "" if out is None else out.suffix.lower().removeprefix(".")
    if out is not None and ending in INSTEAD:
        raise ValueError(
            f"--out {out} would not be what its ending says: results are written as .csv, .jsonl, .parquet or a table; "
            f"name {out.with_suffix('.' + INSTEAD[ending]).name}, or choose with --format"
        )
    return Format(ending) if ending in ("csv", "jsonl", "parquet") else Format.TABLE


def outputs(style: Format, out: Path | None) -> list[Output]:
    """Give the files that `row_writer` writes, to be checked before any work begins."""
    if out is None:
        return []
    kinds = (PARQUET, BINARY) if style is Format.PARQUET else (TEXT, TEXT)
    return [Output("--out", path, kind) for path, kind in zip((out, partial_of(out)), kinds, strict=True)]


@contextmanager
def row_writer(style: Format, out: Path | None, *, every: bool = False) -> Iterator[Write]:
    """Give a function that writes rows, to standard output or to a file that appears when all is written.

    Until then they are in FILE.partial, which stays if the command is interrupted, killed or meets an error. With
    `every` there is a row for each class, and a table shows the class's own p-value and score.
    """
    if style is Format.PARQUET and out is None:
        raise ValueError("Parquet is not text; name a file with --out results.parquet")
    if out is None:
        yield _text(style, sys.stdout, every)
    elif style is Format.PARQUET:
        with kept_until_complete(out) as partial:
            with naming(partial.path), _arrow_stream(partial.path) as write:
                yield _noting(write, partial)
            with naming(out), appearing(out) as place:
                _stream_to_parquet(partial.path, place)
    elif is_stream(out):
        with naming(out), out.open("w", encoding="utf-8", newline="") as file:
            yield _text(style, file, every)
    else:
        with kept_until_complete(out) as partial:
            with naming(partial.path), partial.path.open("w", encoding="utf-8", newline="") as file:
                yield _noting(_text(style, file, every), partial)
                os.fsync(file.fileno())
            partial.path.replace(out.resolve())  # a link stays, and what it leads to is replaced
            sync_folder(out.resolve().parent)


def _noting(write: Write, partial: Partial) -> Write:
    """Write rows, and note that there are some."""

    def write_and_note(rows: Sequence[Row]) -> None:
        write(rows)
        partial.holds_results = True

    return write_and_note


def _text(style: Format, file: TextIO, every: bool) -> Write:
    write = _table(file, every) if style is Format.TABLE else {Format.CSV: _csv, Format.JSONL: _jsonl}[style](file)

    def write_through(rows: Sequence[Row]) -> None:
        write(rows)
        file.flush()  # whoever reads a pipe sees each batch when it is done

    return write_through


def _csv(file: TextIO) -> Write:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    return lambda rows: writer.writerows(map(_csv_cells, rows))


def _csv_cells(row: Row) -> tuple[object, ...]:
    numbers = (row.p_value, row.class_p_value, row.score)
    names = map(exported, (row.image, row.verdict, SEPARATOR.join(row.classes), row.name or ""))
    return *names, *numbers, exported(row.note)


def _jsonl(file: TextIO) -> Write:
    def write(rows: Sequence[Row]) -> None:
        for row in rows:
            cells = zip(COLUMNS, row._replace(image=encodable(row.image)), strict=True)
            file.write(json.dumps(dict(cells)) + "\n")

    return write


def _table(file: TextIO, every: bool) -> Write:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=file, highlight=False, soft_wrap=True)
    headings, cells_of = (CLASS_HEADINGS, _class_cells) if every else (HEADINGS, _cells)
    widths: list[int] = []

    def write(rows: Sequence[Row]) -> None:
        lines = [cells_of(row) for row in rows]
        if not widths:
            # The first batch settles the widths: a table that streams cannot wait for its longest name.
            widths.extend(max(map(cells, column)) for column in zip(*lines, headings, strict=True))
            console.print(Text(_aligned(headings, widths), style="bold"))
        for line, row in zip(lines, rows, strict=True):
            text = Text(_aligned(line, widths) + (f"  {row.note}" if row.note else ""))
            start = len(padded(line[0], widths[0])) + 2
            text.stylize(COLORS.get(row.verdict, "red"), start, start + len(row.verdict))
            console.print(text)

    return write


HEADINGS = ("image", "verdict", "class", "p_value")
CLASS_HEADINGS = ("image", "verdict", "class", "class_p_value", "score")


def _cells(row: Row) -> tuple[str, ...]:
    """An image's line: the classes that the verdict names, or the likeliest in brackets."""
    named = SEPARATOR.join(row.classes) or (f"({row.name})" if row.name else "")
    return printable(row.image), row.verdict, named, _number(row.p_value, 4)


def _class_cells(row: Row) -> tuple[str, ...]:
    """An image's line for one class."""
    numbers = _number(row.class_p_value, 4), _number(row.score, 2)
    return printable(row.image), row.verdict, row.name or "", *numbers


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _aligned(columns: Sequence[str], widths: Sequence[int]) -> str:
    pairs = enumerate(zip(columns, widths, strict=True))
    return "  ".join(padded(cell, width, right=number >= 3) for number, (cell, width) in pairs)


@contextmanager
def _arrow_stream(path: Path) -> Iterator[Write]:
    """Write rows as an Arrow stream, which is whole up to the last batch whenever the process ends."""
    pyarrow, schema = arrow()
    with path.open("wb") as file, pyarrow.ipc.new_stream(file, schema) as writer:

        def write(rows: Sequence[Row]) -> None:
            writer.write_table(arrow_table(rows))
            file.flush()

        yield write


def _stream_to_parquet(stream: Path, path: Path) -> None:
    from pyarrow.parquet import ParquetWriter

    pyarrow, schema = arrow()
    with stream.open("rb") as file, pyarrow.ipc.open_stream(file) as batches, ParquetWriter(path, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
