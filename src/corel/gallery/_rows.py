"""What a gallery says about images, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corel._io.rows import Row
from corel.gallery._scores import Scores
from corel.gallery._verdicts import Verdict


def rows_of(scores: Scores, verdicts: Sequence[Verdict], rate: float, *, every: bool = False) -> Iterator[Row]:
    """Give a row for the first class that each verdict names, or for `every` class in the order of the verdict.

    Images that could not be read follow, with one row each.
    """
    p_values, numbered = scores.set_p_values(rate), {name: c for c, name in enumerate(scores.classes)}
    ranking = scores.ranking(rate) if every else None
    for i, verdict in enumerate(verdicts):
        for c in [numbered[verdict.best]] if ranking is None else ranking[i]:
            numbers = verdict.p_value, float(p_values[i, c]), float(scores.scores[i, c])
            yield Row(verdict.image, verdict.verdict, verdict.classes, scores.classes[c], *numbers, verdict.note)
    yield from (Row.unreadable(each.path, each.reason) for each in scores.skipped)
