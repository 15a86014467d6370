"""Galleries drawn from a pool, and what the studies of them measure, on data whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from corel.oneclass import ClassBank, Split
from experiments._lib import pools
from experiments._lib.pools import Pool, full_p_values
from experiments.studies import confidence, selection


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    monkeypatch.setattr(pools, "IMAGES", 300)
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 100)
    rows = (rng.normal(size=(300, 4)) + 3.0 * labels[:, None]).astype(np.float32)
    return Pool(rows, labels, {"branches": 2, "radius": 2.0, "background": rng.normal(size=(50, 4)).astype(np.float32)})


def test_a_bank_with_a_memory_equals_a_plain_one(pool: Pool) -> None:
    for draw in range(3):
        bank = pool.bank(np.random.default_rng(draw).permutation(300)[:60])
        plain = ClassBank(bank.exemplars, bank.offsets, **pool.settings)
        np.testing.assert_array_equal(Split.of(bank).p_values(pool.rows), Split.of(plain).p_values(pool.rows))
        np.testing.assert_array_equal(full_p_values(bank, pool.rows), full_p_values(plain, pool.rows))


def test_strangers_far_away_are_stopped_and_few_galleries_exceed_the_rate(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confidence, "GALLERIES", 20)
    far = np.full((10, 4), 50.0, np.float32)
    found = confidence.measure(pool, far, 120)
    assert (found["calibrating"], found["unseen"], found["full"]["galleries"]) == (60, 180, 20)
    assert found["confidence"]["strangers stopped"] == found["full"]["strangers stopped"] == 1
    assert found["confidence"]["violations"] <= min(5, found["split"]["violations"])
    assert found["confidence"]["known called stranger"] < found["split"]["known called stranger"]


def test_strangers_far_away_are_selected_and_few_others(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"DRAWS": 20, "FULL": 5, "IMAGES": 100, "ENROLLED": 150}.items():
        monkeypatch.setattr(selection, name, value)
    found = selection.measure(pool, np.full((60, 4), 50.0, np.float32), 0.5, 1)
    assert {rule: each["draws"] for rule, each in found.items()} == {"split": 20, "full": 5, "full, BY": 5}
    assert found["split"]["power"] == 1
    assert found["split"]["fdr"] <= 0.1
