"""The false discovery rate of a selection, by simulation: null-heavy, tied, with dependent strangers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from corel.oneclass import discoveries, least_discoveries, split_p_values

TRIALS = 600
Doubles = NDArray[np.float64]


@pytest.mark.parametrize("fdr", [0.05, 0.2, 0.5])
def test_the_rule_is_benjamini_and_hochberg_s(fdr: float) -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        p = split_p_values(rng.normal(size=39), rng.normal(size=30) - 2.0 * (rng.random(30) < 0.4))
        np.testing.assert_array_equal(discoveries(p, fdr), false_discovery_control(p) <= fdr * (1 + 1e-12))


@pytest.mark.parametrize("strangers", [0, 5, 60])
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("dependent", [False, True])
def test_the_false_discovery_rate_is_controlled(strangers: int, rounded: bool, dependent: bool) -> None:
    """120 images ranked among 199 calibration scores; dependent strangers are copies of one."""
    wrong = np.empty(TRIALS)
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        calibration, images = rng.normal(size=199), rng.normal(size=120)
        images[:strangers] = rng.normal(size=1 if dependent else strangers) - 3.0 if strangers else images[:0]
        if rounded:
            calibration, images = np.rint(2 * calibration), np.rint(2 * images)
        chosen = discoveries(split_p_values(calibration, images), 0.2)
        wrong[seed] = chosen[strangers:].sum() / max(chosen.sum(), 1)
    bound = 0.2 * (120 - strangers) / 120  # Benjamini and Hochberg's rule leaves out the strangers' share
    assert wrong.mean() <= bound + 3.5 * wrong.std() / np.sqrt(TRIALS) + 1e-9


@pytest.mark.parametrize("copies", [5, 30])
def test_bursts_of_known_images_keep_the_rate_too(copies: int) -> None:
    """Not proved, since copies are not independent, but seen: all are known here, so any selection is wrong."""
    wrong = np.empty(TRIALS)
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        images = np.concatenate([np.repeat(rng.normal(size=20), copies), rng.normal(size=100)])
        wrong[seed] = discoveries(split_p_values(rng.normal(size=1999), images), 0.2).any()
    assert wrong.mean() <= 0.2 + 3.5 * 0.4 / np.sqrt(TRIALS)


@pytest.mark.parametrize(
    ("images", "fdr", "calibrating", "least"), [(10_000, 0.1, 120, 827), (1, 0.5, 1, 1), (10, 0.1, 99, 1)]
)
def test_how_many_images_a_selection_needs(images: int, fdr: float, calibrating: int, least: int) -> None:
    assert least_discoveries(images, fdr, calibrating) == least
    lowest = np.full(images, 1.0)
    lowest[:least] = 1 / (calibrating + 1)
    assert discoveries(lowest, fdr).sum() == least
    lowest[least - 1] = 1.0
    assert not discoveries(lowest, fdr).any()


def test_no_images_and_invalid_rates() -> None:
    assert discoveries([], 0.1).tolist() == []
    with pytest.raises(ValueError, match="fdr must lie strictly between 0 and 1"):
        discoveries([0.5], 1.0)
