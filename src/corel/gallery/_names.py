"""Names of classes and of images: what is stored and printed stays on one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from corel._errors import ArgumentError, ArgumentTypeError

LONGEST_NAME = 100


def check_name(name: object, argument: str = "name") -> str:
    """Return a class's name, or say why it cannot be one."""
    if not isinstance(name, str):
        raise ArgumentTypeError(argument, f"of a class must be a string, got {type(name).__name__}")
    if len(name) > LONGEST_NAME:
        raise ArgumentError(
            argument, f"of a class has at most {LONGEST_NAME} characters, got {len(name):,}; shorten {name[:20]!r}…"
        )
    # Names end up as file names and columns; a path in their place is most often a forgotten argument.
    if not name.strip() or name != name.strip() or not name.isprintable() or set("/\\") & set(name):
        raise ArgumentError(
            argument,
            f"{name!r} cannot be that of a class; use printable characters without / and \\ "
            "and without a space at either end, for example 'cat'",
        )
    return name


def unknown_class(name: str, known: Iterable[str]) -> ArgumentError:
    """Make the error for a class that is not there, with the nearest name that is."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if near:
        return ArgumentError("name", f"{name!r} is no class of the gallery; did you mean {near[0]!r}?")
    shown = ", ".join(known[:5]) + (", …" if len(known) > 5 else "")
    held = shown or "none yet, so enroll one first"
    return ArgumentError("name", f"{name!r} is no class of the gallery; it holds {held}")
