"""Every baseline solves a planted problem, survives two images, repeats itself, and refuses with a sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from corel.baselines import ADT, DAGMM, DSEBM, OCSVM, Baseline, DeepSVDD
from corel.baselines._shared import batches
from tests.baselines.images import ramps

pytestmark = pytest.mark.usefixtures("one_thread")
PLANTED = [
    OCSVM(epochs=10, batch_size=12),
    DSEBM(epochs=15, batch_size=12),
    DAGMM(epochs=15, batch_size=12),
    DeepSVDD(epochs=8, pretraining_epochs=8, batch_size=12, learning_rate=1e-3),
    ADT(epochs=1, width=1, batch_size=32),
]
SHORT = [replace(each, epochs=1) for each in PLANTED[:3]] + [
    DeepSVDD(epochs=1, pretraining_epochs=1),
    ADT(epochs=1, width=1),
]


def named(baseline: Baseline) -> str:
    return type(baseline).__name__


@pytest.mark.parametrize("baseline", PLANTED, ids=named)
def test_a_planted_problem_is_solved(baseline: Baseline) -> None:
    count = 6 if isinstance(baseline, ADT) else 24
    asked = np.concatenate([ramps(8, rising=True, seed=1), ramps(8, rising=False, seed=2)])
    scores = baseline.fit(ramps(count, rising=True, seed=0)).score_samples(asked)
    assert scores.dtype == np.float64
    assert scores.shape == (16,)
    assert len(np.unique(scores)) > 8
    assert roc_auc_score(np.repeat([True, False], 8), scores) > 0.9
    if isinstance(baseline, ADT):
        both = baseline.scores(asked)
        np.testing.assert_array_equal(both["dirichlet"], scores)
        assert roc_auc_score(np.repeat([True, False], 8), both["plain"]) > 0.9
        assert both["plain"].min() >= 0
        assert both["plain"].max() <= 1


@pytest.mark.parametrize("baseline", SHORT, ids=named)
def test_two_images_are_enough_and_the_seed_decides_the_scores(baseline: Baseline) -> None:
    two, asked = ramps(2, rising=True, seed=0), ramps(3, rising=False, seed=1)
    state = torch.get_rng_state()
    first = replace(baseline).fit(two).score_samples(asked)
    assert torch.equal(torch.get_rng_state(), state)
    again, other = (replace(baseline, seed=seed).fit(two).score_samples(asked) for seed in (0, 1))
    assert np.isfinite(first).all()
    assert len(np.unique(first)) == 3
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("baseline", SHORT, ids=named)
def test_equal_images_give_finite_scores(baseline: Baseline) -> None:
    """DAGMM's covariances are singular then, and the Dirichlet likelihood has no maximum."""
    equal = np.repeat(ramps(1, rising=True, seed=0), 4, axis=0)
    scores = replace(baseline).fit(equal).score_samples(np.concatenate([equal[:1], ramps(1, rising=False, seed=1)]))
    assert np.isfinite(scores).all()
    assert scores[0] != scores[1]


def test_contrast_normalization_handles_blank_images() -> None:
    blank = np.full((2, 32, 32, 3), 77, np.uint8)
    scores = DeepSVDD(epochs=1, pretraining_epochs=1).fit(blank).score_samples(blank)
    assert np.isfinite(scores).all()


def test_a_collapse_is_an_error() -> None:
    """A decay so strong that the weights vanish maps every image to zero."""
    collapsing = DeepSVDD(epochs=150, pretraining_epochs=1, weight_decay=1e7, learning_rate=3e-3)
    with pytest.raises(RuntimeError, match=r"collapsed.*weight_decay below 1e\+07"):
        collapsing.fit(ramps(2, rising=True, seed=0))
    with pytest.raises(NotFittedError):
        collapsing.score_samples(ramps(2, rising=True, seed=0))


def test_a_divergence_is_an_error() -> None:
    with pytest.raises(FloatingPointError, match="learning_rate below 1e"):
        DSEBM(epochs=30, learning_rate=1e30).fit(ramps(4, rising=True, seed=0))


def test_bad_input_is_refused() -> None:
    images = ramps(3, rising=True, seed=0)
    with pytest.raises(NotFittedError, match="call fit"):
        DSEBM().score_samples(images)
    with pytest.raises(ValueError, match=r"uint8 \[n, 32, 32, 3\], got uint8 \[3, 16, 32, 3\]"):
        DSEBM().fit(images[:, ::2])
    with pytest.raises(ValueError, match=r"images must be two or more for .* got 1"):
        DSEBM().fit(images[:1])
    with pytest.raises(ValueError, match="epochs must be at least 1 for DSEBM, got 0"):
        DSEBM(epochs=0).fit(images)
    with pytest.raises(ValueError, match="'plain' or 'dirichlet', got 'other'"):
        ADT(score="other").fit(images)  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "sizes"), [(2, [2]), (9, [4, 5]), (8, [4, 4]), (10, [4, 4, 2])])
def test_no_batch_has_one_image(count: int, sizes: list[int]) -> None:
    parts = batches(count, 4)
    assert [len(part) for part in parts] == sizes
    assert sorted(torch.cat(parts).tolist()) == list(range(count))
