"""Which exemplars a person means by a hash, a file's name or a position in the audit."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import SupportsIndex, TypeAlias

from corel._errors import ArgumentError, ArgumentTypeError
from corel.gallery._audit import Ranked
from corel.gallery._exemplar import Exemplar

# A shorter beginning of a hash is too easily that of another exemplar.
SHORTEST_HASH = 6

Chosen: TypeAlias = str | os.PathLike[str] | SupportsIndex  # a file's name, the beginning of a hash, or a position


def chosen_hashes(
    which: Chosen | Iterable[Chosen], exemplars: Sequence[Exemplar], ranked: Callable[[], Sequence[Ranked]]
) -> list[str]:
    """Give the hash of each exemplar meant; `ranked` lists them as the audit does, and is called for positions only."""
    # A text is iterable too, letter by letter.
    several = which if isinstance(which, Iterable) and not isinstance(which, str) else [which]
    wanted = [_name_or_position(each) for each in several]
    positions = [each for each in wanted if isinstance(each, int)]
    order = ranked() if positions else ()
    for each in positions:
        if not 1 <= each <= len(order):
            raise ArgumentError("which", f"is position {each}, but the audit of this class has 1 to {len(order):,}")
    return [order[each - 1].exemplar.hash if isinstance(each, int) else _named(each, exemplars) for each in wanted]


def _name_or_position(which: Chosen) -> str | int:
    """Turn a path into text, and an integer of any type into Python's."""
    if isinstance(which, str | os.PathLike):
        return os.fspath(which)
    try:
        return operator.index(which)
    except TypeError as error:
        kind = type(which).__name__
        raise ArgumentTypeError(
            "which", f"must be names of files, beginnings of hashes, or positions from 1, not {kind}"
        ) from error


def _named(which: str, exemplars: Sequence[Exemplar]) -> str:
    """Find the one exemplar with this file name, or with a hash that begins with it."""
    found = [each for each in exemplars if _is_called(each.source, which)] or _beginning(which, exemplars)
    if len(found) > 1:
        shown = ", ".join(each.hash[:12] for each in found[:3]) + (", …" if len(found) > 3 else "")
        raise ArgumentError("which", f"{which!r} matches {len(found):,} exemplars; name one by its hash: {shown}")
    if not found:
        raise ArgumentError(
            "which",
            f"{which!r} is neither the file of an exemplar nor the beginning of a hash; "
            "`corel classes GALLERY NAME` lists them",
        )
    return found[0].hash


def _is_called(source: str, which: str) -> bool:
    """Whether a file's path is `which` or ends in it: `cats/b.png` and `b.png` mean `photos/cats/b.png`."""
    wanted = PurePath(which).parts
    return bool(wanted) and PurePath(source).parts[-len(wanted) :] == wanted


def _beginning(which: str, exemplars: Sequence[Exemplar]) -> list[Exemplar]:
    found = [each for each in exemplars if each.hash.startswith(which)]
    if found and len(which) < SHORTEST_HASH:
        raise ArgumentError("which", f"{which!r} is too short; give at least {SHORTEST_HASH} letters of a hash")
    return found
