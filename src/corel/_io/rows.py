"""Results as rows, one for an image and a class: the same columns for every command, format and engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from corel._terminal import printable


class Row(NamedTuple):
    """An image and a class.

    Attributes:
        image: the image's name.
        verdict: known, unsure or stranger.
        classes: the classes that the verdict names, likeliest first.
        name: the class of this row.
        p_value: for "of one of the enrolled classes".
        class_p_value: for "of the class of this row".
        score: against that class.
        note: what else to know.

    """

    image: str
    verdict: str
    classes: tuple[str, ...]
    name: str
    p_value: float
    class_p_value: float
    score: float
    note: str


COLUMNS = ("image", "verdict", "classes", "class", "p_value", "class_p_value", "score", "note")


def arrow(*more: str) -> tuple[Any, Any]:
    """Give pyarrow and the schema of rows, with `more` columns of text; or say how to get pyarrow."""
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow; run `pip install 'corel[parquet]'`") from error
    text, number = pyarrow.string(), pyarrow.float64()
    types = (text, text, pyarrow.list_(text), text, number, number, number, text, *(text for _ in more))
    return pyarrow, pyarrow.schema(list(zip((*COLUMNS, *more), types, strict=True)))


def arrow_table(rows: Sequence[tuple[Any, ...]], *more: str) -> Any:
    """Give rows as an Arrow table; each has a value for every column."""
    pyarrow, schema = arrow(*more)
    columns: Any = list(zip(*((printable(row[0]), *row[1:]) for row in rows), strict=True))
    return pyarrow.table([list(column) for column in columns] or [[] for _ in schema], schema=schema)
