"""What a recognition test found, in lines to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from corel._terminal import counted

if TYPE_CHECKING:
    from corel.evaluation import Recognition

SHOWN = 12  # classes a confusion matrix can show in a terminal


def recognition_lines(found: Recognition) -> Iterator[str]:
    """Give the result line by line."""
    sizes = sorted(found.enrolled.values())
    each = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
    yield f"{counted(len(sizes), 'class', 'classes')}, {each} exemplars each; score {found.method}, rate {found.rate:g}"
    yield f"{counted(found.known, 'test item')} of these classes"
    yield f"  likeliest class is right      {found.top_1:6.1%}"
    yield f"  called stranger, wrongly      {found.called_stranger:6.1%}"
    if found.called_blank is not None:
        yield f"  called not a photograph       {found.called_blank:6.1%}"
    yield f"  true class in the set         {found.coverage:6.1%}"
    yield f"  classes in the set            {_sizes(found)}"
    yield from _strangers(found)
    if len(found.enrolled) <= SHOWN:
        yield from _matrix(found)


def _sizes(found: Recognition) -> str:
    parts = [f"{size}: {count / found.known:.0%}" for size, count in list(found.set_sizes.items())[:6]]
    return ", ".join([*parts, "…"] if len(found.set_sizes) > 6 else parts)


def _strangers(found: Recognition) -> Iterator[str]:
    if not found.strangers:
        return
    total = sum(count for count, _ in found.strangers.values())
    stopped = sum(count * share for count, share in found.strangers.values()) / total
    kind = "each class in turn, left out of the gallery" if found.in_turn else "classes that are not enrolled"
    yield f"{total:,} strangers ({kind})"
    rightly = "called stranger, rightly" if found.called_blank is None else "stranger or not a photograph"
    yield f"  {rightly:28}  {stopped:6.1%}"
    yield f"  AUC of known against stranger {found.auc or 0:6.3f}"
    for name, (count, share) in list(found.strangers.items())[:SHOWN]:
        yield f"    {share:6.1%}  of {count:,} {name}"


def _matrix(found: Recognition) -> Iterator[str]:
    names = found.columns()
    first = max(map(len, found.enrolled))
    widths = [max(4, len(name)) for name in names]
    yield "true class (rows) taken for (columns)"
    yield _columns("", first, names, widths)
    for name in found.enrolled:
        yield _columns(name, first, [found.confusion[name].get(other, 0) for other in names], widths)


def _columns(name: str, first: int, cells: Iterable[object], widths: Iterable[int]) -> str:
    return "  ".join([f"{name:{first}}", *(f"{cell!s:>{width}}" for cell, width in zip(cells, widths, strict=True))])
