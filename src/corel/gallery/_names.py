"""Names of classes and of images: what is stored and printed stays on one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST_NAME = 100


def check_name(name: object) -> str:
    """Return a class's name, or say why it cannot be one."""
    if not isinstance(name, str):
        raise TypeError(f"a class's name is a string, got {type(name).__name__}")
    if len(name) > LONGEST_NAME:
        raise ValueError(
            f"a class's name has at most {LONGEST_NAME} characters, got {len(name):,}; shorten {name[:20]!r}…"
        )
    # Names end up as file names and columns; a path in their place is most often a forgotten argument.
    if not name.strip() or name != name.strip() or not name.isprintable() or set("/\\") & set(name):
        raise ValueError(
            f"{name!r} cannot name a class; use printable characters without / and \\ "
            "and without a space at either end, for example 'cat'"
        )
    return name


def unknown_class(name: str, known: Iterable[str]) -> ValueError:
    """Make the error for a class that is not there, with the nearest name that is."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if near:
        return ValueError(f"there is no class {name!r}; did you mean {near[0]!r}?")
    shown = ", ".join(known[:5]) + (", …" if len(known) > 5 else "")
    return ValueError(f"there is no class {name!r}; the gallery holds {shown or 'none yet, so enroll one first'}")
