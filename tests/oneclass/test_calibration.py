"""The promises behind a verdict, each by exact enumeration: any member of a labeled bag may be the one that is new."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import corel.oneclass._calibration as calibration_module
from corel.oneclass import METHODS, Calibration, ClassBank, _contrast, _cosine
from corel.oneclass._whitening import whitening_of

Array = NDArray[Any]
Like = Callable[[Array, Array], Array]
RATES = (0.1, 0.2, 0.34)


@dataclass(frozen=True)
class Bag:
    """Labeled points, any of which may be the image."""

    points: Array
    labels: Array
    background: Array
    method: Any

    def without(self, i: int) -> tuple[ClassBank, Array] | None:
        """The bank of all others and the point itself; None where it was the last of its class."""
        rest = np.arange(len(self.points)) != i
        bags = [self.points[rest & (self.labels == c)] for c in range(self.labels.max() + 1)]
        if not len(bags[self.labels[i]]):
            return None
        settings = {"branches": 2, "radius": 1.5, "background": self.background, "method": self.method}
        return ClassBank.of(bags, **settings), self.points[i : i + 1]

    def splits(self) -> Iterator[tuple[int, ClassBank, Array]]:
        """Each member in turn as the image."""
        for i, label in enumerate(self.labels):
            if (found := self.without(i)) is not None:
                yield int(label), *found


def bags(kind: str, method: str, seeds: int) -> Iterator[Bag]:
    """Small bags of unequal classes; `ties` takes few distinct values, `copies` repeats points, also across classes."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 9, rng.integers(1, 5)) + (seed % 3 == 0) * rng.integers(0, 12)
        labels = np.repeat(np.arange(len(sizes)), sizes)
        centers = rng.normal(0, 1.5, (len(sizes), 4))[labels]
        points = centers + rng.normal(size=(len(labels), 4))
        if kind == "ties":
            points = np.rint(points)
        if kind == "copies":
            points = points[rng.integers(0, len(points), len(points))]
        yield Bag(points, labels, rng.normal(size=(20, 4)), method)


def exact(bank: ClassBank, z: Array) -> float:
    """The exact p-value from sums made here, pair by pair."""
    points = np.concatenate([bank.exemplars, z])
    owners = np.repeat(np.arange(len(bank.sizes)), bank.sizes)
    weights = weigh(bank, points, points)
    np.einsum("iib->ib", weights)[:] = 0
    sums = np.einsum("imb,mc->icb", weights[:, :-1], owners[:, None] == np.arange(len(bank.sizes)))
    scales = scales_at(bank, points)

    def like(sums: Array, counts: Array) -> Array:
        growth = bank.sizes.mean() / np.maximum(counts, 1)
        if bank.method == "count":
            return np.asarray(sums.sum(axis=2) * growth)
        return np.asarray(np.log((1.0 + sums * (scales[:, None] * growth[:, :, None])).prod(axis=2)))

    return exact_known(sums[:-1], sums[-1], weights[:-1, -1], owners, like)


def exact_known(peers: Array, image: Array, mutual: Array, owners: Array, like: Like) -> float:
    """The p-value of `Calibration.known` in its exact form: slow, and never higher.

    For each class y the image joins y, all M + 1 points are compared by their likeliest class, each with itself left
    out, and p is the largest of the C shares that are no likelier than the image.

    Args:
        peers: sums `[M, C, B]` of each exemplar over each class, itself left out.
        image: sums `[C, B]` of the image.
        mutual: weights `[M, B]` between the image and each exemplar.
        owners: the class `[M]` of each exemplar.
        like: gives the likeness `[M + 1, C]` for sums `[M + 1, C, B]`, the image last, divided by counts `[M + 1, C]`.

    """
    classes, shares = np.arange(image.shape[0]), []
    for y in classes:
        sums = np.concatenate([peers, image[None]])
        sums[:-1, y] += mutual
        members = np.append(owners, y)[:, None] == classes
        best = like(sums, members.sum(axis=0) - members).max(axis=1)
        shares.append(float(np.mean(best <= best[-1])))
    return max(shares)


def scales_at(bank: ClassBank, points: Array) -> Array:
    """The factor for the mass around each point `[n, B]`."""
    assert bank.background is not None
    masses = weigh(bank, points, bank.background).sum(axis=1)
    measure = _cosine if bank.method == "cosine" else _contrast
    return np.asarray(measure.scales(masses, len(bank.background)))


def weigh(bank: ClassBank, a: Array, b: Array) -> Array:
    """The weight of each row of `b` at each row of `a`, branch by branch `[n, m, B]`."""
    if bank.method == "cosine":
        assert bank.background is not None
        whitening = whitening_of(bank.background)
        window = _cosine.window(whitening.length)
        products = whitening.units(a) @ whitening.units(b).T
        return np.asarray(window.weights[((window.largest - products) * window.steps).astype(int)][..., None] * 1.0)
    distances = np.abs(a.reshape(-1, 1, 2, 2) - b.reshape(-1, 2, 2)).sum(axis=3)
    if bank.method == "count":
        return np.asarray((distances <= bank.radius).astype(float))
    window = _contrast.exponential(bank.radius, np.float64)
    steps = np.minimum(distances * window.steps, len(window.weights) - 1).astype(int)
    return np.asarray(window.weights[steps].astype(float))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["continuous", "ties", "copies"])
def test_known_images_are_called_strangers_no_more_often_than_the_rate(kind: str, method: str) -> None:
    """Whatever the bag, at most the share a of its members has p ≤ a, as the image among all others; for every a."""
    for bag in bags(kind, method, 14):
        found = [(Calibration.of(bank).known(bank.likeness(z)).item(), exact(bank, z)) for _, bank, z in bag.splits()]
        size = len(bag.points)
        for cheap, slow in found:
            assert cheap >= slow
        for p in zip(*found, strict=True):
            for rank, value in enumerate(sorted(p), start=1):
                assert rank <= value * size + 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["continuous", "ties", "copies"])
@pytest.mark.parametrize("rate", RATES)
def test_sets_cover_within_each_category(kind: str, method: str, rate: float) -> None:
    """Classes too small for the rate are one category, every other class is one of its own."""
    for bag in bags(kind, method, 9):
        missed: dict[int, list[bool]] = {}
        sizes = np.bincount(bag.labels)
        for label, bank, z in bag.splits():
            own = bank.assess(z)
            p = Calibration.of(bank).pooled(own.p_values, bank.likeness(z), rate)[0, label]
            category = -1 if sizes[label] < 1 / rate else label
            missed.setdefault(category, []).append(bool(p <= rate))
        for category, each in missed.items():
            total = sizes[sizes < 1 / rate].sum() if category < 0 else sizes[category]
            assert sum(each) <= rate * total + 1e-9


def test_small_classes_reject_together_what_none_rejects_alone() -> None:
    rng = np.random.default_rng(0)
    centers = 6.0 * rng.normal(size=(12, 4))
    bank = ClassBank.of([center + 0.3 * rng.normal(size=(5, 4)) for center in centers], branches=2, radius=2.0)
    far = np.full((1, 4), 90.0)
    alone = bank.p_values(far)
    assert alone.min() > 0.05
    pooled = Calibration.of(bank).pooled(alone, bank.likeness(far), 0.05)
    assert pooled.max() <= 0.05


def test_large_classes_keep_their_own_p_values() -> None:
    rng = np.random.default_rng(1)
    bank = ClassBank.of([rng.normal(size=(30, 4)), rng.normal(size=(25, 4))], branches=2, radius=2.0)
    z = rng.normal(size=(9, 4))
    own = bank.p_values(z)
    np.testing.assert_array_equal(Calibration.of(bank).pooled(own, bank.likeness(z), 0.05), own)


def test_a_random_subset_of_many_exemplars_keeps_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the rest, the calibrating exemplars and the image are exchangeable: seen over many bags."""
    monkeypatch.setattr(calibration_module, "CALIBRATING", 9)
    rejected, trials = 0, 600
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        truth, drawn = int(rng.integers(3)), rng.normal(size=(31, 4))
        drawn[:, 0] += 3.0 * (np.arange(31) % 3)
        drawn[30, 0] += 3.0 * truth
        bank = ClassBank.of([drawn[c:30:3] for c in range(3)], branches=2, radius=2.0)
        calibration = Calibration.of(bank)
        assert calibration.best.shape == (9,)
        rejected += int(calibration.known(bank.likeness(drawn[30:])).item() <= 0.2)
    assert rejected <= 0.2 * trials + 3 * np.sqrt(0.16 * trials)


def test_a_stranger_is_what_lies_below_one_threshold_on_the_best_likeness() -> None:
    """The p-value never falls as the best likeness rises, whichever class that is: no threshold could do better."""
    rng = np.random.default_rng(2)
    bank = ClassBank.of([rng.normal(c, 1.0, (9 + 7 * c, 4)) for c in range(3)], branches=2, radius=2.0)
    likeness = bank.likeness(rng.normal(1, 2, (300, 4)))
    p = Calibration.of(bank).known(likeness)
    assert (np.diff(p[np.argsort(likeness.max(axis=1))]) >= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_the_p_value_is_nearly_exact_for_known_images(method: str) -> None:
    """The p-value is nearly exact: 30 exemplars in each of 5 classes reject 4 to 5% of known images at 5%."""
    rejected = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        centers = rng.normal(0, 2, (5, 4))
        draw = centers[np.arange(250) % 5] + rng.normal(size=(250, 4))
        settings = {"branches": 2, "radius": 2.0, "background": rng.normal(0, 2, (50, 4)), "method": method}
        bank = ClassBank.of([draw[c:150:5] for c in range(5)], **settings)
        rejected.append((Calibration.of(bank).known(bank.likeness(draw[150:])) <= 0.05).mean())
    assert 0.03 < np.mean(rejected) < 0.055


@given(
    counted=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=7), min_size=2, max_size=4), z=st.integers(0, 3)
)
@example(counted=[[3, 3], [0, 3, 3, 3, 3, 0], [0, 0, 1]], z=0)
@example(counted=[[0, 3], [2, 2, 1, 0, 1, 2], [2, 3, 2]], z=2)
def test_equal_ratios_stay_ties_for_the_count(counted: list[list[int]], z: int) -> None:
    """Likenesses are ratios of whole numbers: no p-value is below the exact one, computed in fractions."""
    points = [0.75 * value for bag in counted for value in bag]
    owners = [c for c, bag in enumerate(counted) for _ in bag]
    bank = ClassBank.of([0.75 * np.array([bag], float).T for bag in counted], branches=1, radius=1.0)
    found = Calibration.of(bank).known(bank.likeness([[0.75 * z]])).item()
    assert found >= exact_in_fractions([*points, 0.75 * z], owners) - 1e-12


def exact_in_fractions(points: list[float], owners: list[int]) -> float:
    """The exact p-value of the last point for the count within a radius of 1."""
    shares = []
    for y in set(owners):
        labels, best = [*owners, y], []
        for i, point in enumerate(points):
            ratios = []
            for c in set(owners):
                others = [x for j, x in enumerate(points) if j != i and labels[j] == c]
                ratios.append(Fraction(sum(abs(x - point) <= 1 for x in others), max(len(others), 1)))
            best.append(max(ratios))
        shares.append(sum(each <= best[-1] for each in best) / len(points))
    return max(shares)


@given(sizes=st.lists(st.integers(1, 40), min_size=2, max_size=5), divisor=st.integers(1, 41))
def test_the_likeness_of_a_count_is_rounded_once(sizes: list[int], divisor: int) -> None:
    """A class of m equal exemplars gives sum/divisor = m/divisor, times the mean size: the nearest float to it."""
    bank = ClassBank.of([np.zeros((m, 1)) for m in sizes], branches=1, radius=1.0)
    expected = [float(Fraction(m * sum(sizes), divisor * len(sizes))) for m in sizes]
    assert bank.likeness([[0.0]], [divisor] * len(sizes))[0].tolist() == expected
    of_peers = [float(Fraction((m - 1) * sum(sizes), divisor * len(sizes))) for m in sizes for _ in range(m)]
    assert bank.peer_likeness([divisor] * len(sizes)).tolist() == of_peers
