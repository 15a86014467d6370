"""Frames without a subject are told from plain surfaces that are enrolled."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from corel.images import lack_more
from corel.images._plain_surfaces import RATE, TRAITS, moved_limits

Floats = NDArray[np.float32]
SKY, BLACK, NOISE = ([0.6, -0.8, -2, -1], [1, 1, 1, -6], [-3, 1, 0.9, 0.5])  # lacks as such images have them


def stopped(lacks: Floats) -> int:
    """Each image in turn is the new one, the others are enrolled: that is what exchangeable means."""
    return sum(lack_more(lacks[i : i + 1], np.delete(lacks, i, axis=0)).item() for i in range(len(lacks)))


def plain_surfaces(count: int, failing: float, levels: int) -> Floats:
    """Lacks with heavy tails, ties and copies; the others pass all limits."""
    rng = np.random.default_rng([count, levels])
    heavy = rng.pareto(1.5, (count, TRAITS)) * (rng.random((count, TRAITS)) < failing) * [1, 0.1, 3, 1]
    return np.asarray(np.ceil(heavy * levels) / levels - 0.1, np.float32)


@pytest.mark.parametrize("count", [100, 101, 199])
@pytest.mark.parametrize("failing", [0.001, 0.02, 0.3, 1.0])
@pytest.mark.parametrize("levels", [3, 1000])
def test_of_exchangeable_images_at_most_the_promised_share_lacks_more(count: int, failing: float, levels: int) -> None:
    assert stopped(plain_surfaces(count, failing, levels)) <= RATE * count


def test_the_promised_share_is_used() -> None:
    assert stopped(plain_surfaces(400, 1.0, 1000)) == 4


@pytest.mark.parametrize("count", range(1, 30, 4))
@pytest.mark.parametrize("failing", [0.02, 0.3, 1.0])
def test_few_exemplars_stop_at_most_one_image_a_limit_whatever_the_tails(count: int, failing: float) -> None:
    assert stopped(plain_surfaces(count, failing, 1000)) <= TRAITS


@pytest.mark.parametrize("alone", [2, 30, 200])
def test_the_only_plain_image_among_many_is_the_only_one_stopped(alone: int) -> None:
    lacks = np.full((alone, TRAITS), -0.5, np.float32)
    lacks[0, 0] = 0.2
    assert stopped(lacks) == 1


@pytest.mark.parametrize("count", [2, 3, 10, 31, 98])
def test_moved_limits_are_exact_where_tails_are_exponential(count: int) -> None:
    rng = np.random.default_rng(count)
    galleries = rng.exponential(0.3, (3000, count, TRAITS)).astype(np.float32)
    limits = np.array([moved_limits(each) for each in galleries])
    exceeded = np.exp(-limits / 0.3)  # the probability for a new image, limit by limit
    beyond = np.exp(-galleries.max(axis=1) / 0.3)  # where this is smaller, the limit is at the last exemplar
    error = exceeded.std() / exceeded.size**0.5
    assert exceeded.mean() <= RATE / TRAITS + 4 * error
    assert count > 31 or exceeded.mean() >= RATE / TRAITS - 4 * error
    np.testing.assert_array_less(exceeded, beyond * 1.001)


def test_heavier_values_below_the_median_only_move_limits_further() -> None:
    rng = np.random.default_rng(0)
    light = rng.exponential(0.3, (40, TRAITS)).astype(np.float32)
    heavy = np.where(light < np.median(light, axis=0), light - rng.pareto(1, light.shape), light).astype(np.float32)
    assert (moved_limits(heavy) >= moved_limits(light)).all()


@pytest.mark.parametrize("law", ["uniform", "normal"])
def test_moved_limits_stop_fewer_where_tails_are_lighter(law: str) -> None:
    draw = getattr(np.random.default_rng(0), law)
    stops = [lack_more(draw(size=(200, TRAITS)), draw(size=(30, TRAITS))).mean() for _ in range(300)]
    assert np.mean(stops) <= RATE


def test_a_single_plain_exemplar_says_nothing_about_plain_images() -> None:
    assert not lack_more(np.array([BLACK, NOISE], np.float32), np.array([SKY], np.float32)).any()


@pytest.mark.parametrize("count", [20, 98, 99, 400])
def test_among_windows_of_the_sky_black_frames_and_noise_stand_out(count: int) -> None:
    rng = np.random.default_rng(count)
    sky = np.asarray(SKY + rng.normal(0, 0.05, (count, TRAITS)), np.float32)
    assert lack_more(np.array([BLACK, NOISE], np.float32), sky).all()
    assert not lack_more(np.array([SKY], np.float32), sky).any()


@pytest.mark.parametrize("count", [30, 400])
def test_images_like_an_exemplar_are_not_stopped(count: int) -> None:
    exemplars = np.full((count, TRAITS), -0.5, np.float32)
    exemplars[: count // 10] = BLACK
    assert not lack_more(np.array([BLACK], np.float32), exemplars).any()
