"""Which method was best, in words; if it is a control, the sentence says so."""

from __future__ import annotations

from corel.evaluation._methods import NEIGHBORS
from corel.evaluation._records import Evaluation
from corel.oneclass import METHODS

PIXELS = f"{NEIGHBORS} nearest neighbors, pixels"
EASY = 0.95  # an AUC by bare pixels that leaves little to win


def remark(evaluation: Evaluation) -> str:
    """Name the method with the highest mean AUC at the most items enrolled; if it is a control, also the encoder's."""
    most = max(evaluation.config["exemplars"])
    means = {row.method: row.mean for row in evaluation.summary() if row.exemplars == most}
    best, ours = max(means, key=means.__getitem__), [score for score in METHODS if score in means]
    named = f"Highest mean with {most} {evaluation.config['items']} enrolled: {best}."
    if not ours or best in ours:
        return named
    reached = max(means[score] for score in ours)
    control = f"That is a control; the encoder has {reached:.4f}."
    is_easy = means.get(PIXELS, 0) >= max(reached, EASY)
    return " ".join([named, control, *([_of_pixels(means[PIXELS])] if is_easy else [])])


def _of_pixels(mean: float) -> str:
    return (
        f"Raw pixels already give {mean:.4f}: these images are too easy to show what an encoder adds. Results on "
        "photographs are in corel's README."
    )
