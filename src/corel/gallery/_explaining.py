"""From an encoded image to its explanation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from corel.gallery._assessment import bank_for
from corel.gallery._comparison import compare, compared_classes
from corel.gallery._exemplar import Exemplar
from corel.gallery._explanation import Explanation
from corel.gallery._kept import Kept
from corel.gallery._scores import Scores
from corel.gallery._scoring import Embedded


def explained(
    kept: Kept,
    scores: Scores,
    value: NDArray[Any],
    batch: Embedded,
    name: str | None,
    rate: float,
    exemplars_of: Callable[[Kept, int], list[Exemplar]],
) -> Explanation:
    """Explain the one image of a batch from its content `value` and its scores."""
    bank, verdict = bank_for(kept.bank, batch.in_background), scores.decide(rate)[0]
    p_values, shared = scores.set_p_values(rate)[0].tolist(), scores.calibration.sharing(rate).tolist()
    sides = tuple(
        compare(bank, batch.rows, c, exemplars_of(kept, c), p_values[c], role, shared=shared[c])
        for c, role in compared_classes(scores, verdict, name).items()
    )
    index = kept.names.index(sides[0].name)
    (votes,) = bank.explain(batch.rows, index)
    return Explanation(
        scores.images[0], value, sides[0].name, sides[0].exemplars, votes,
        scores.scores[0, index].item(), sides[0].p_value, verdict, sides, rate,
    )  # fmt: skip
