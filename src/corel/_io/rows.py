"""Results as rows, one for an image and a class: the same columns for every command, format and engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from corel._terminal import printable

UNREADABLE = "unreadable"  # the verdict on an image that could not be read


class Row(NamedTuple):
    """An image and a class; an image that could not be read has one row without a class and without numbers.

    Attributes:
        image: the image's name.
        verdict: known, unsure, stranger, not a photograph or unreadable.
        classes: the classes that the verdict names, likeliest first.
        name: the class of this row.
        p_value: for "of one of the enrolled classes".
        class_p_value: for "of the class of this row".
        score: against that class.
        note: what else to know; of an unreadable image the reason.

    """

    image: str
    verdict: str
    classes: tuple[str, ...]
    name: str | None
    p_value: float | None
    class_p_value: float | None
    score: float | None
    note: str

    @classmethod
    def unreadable(cls, image: str, reason: str) -> Row:
        """Give the row of an image that could not be read."""
        return cls(image, UNREADABLE, (), None, None, None, None, printable(reason))


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
