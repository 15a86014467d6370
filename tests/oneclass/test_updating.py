"""A bank that is updated equals one made anew, and classes that did not change are not prepared again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from corel.oneclass import METHODS, Calibration, ClassBank, Split

RNG = np.random.default_rng(0)
BACKGROUND = RNG.normal(size=(60, 6)).astype(np.float32)
FIRST, SECOND, THIRD, NEW = (RNG.normal(size=(m, 6)).astype(np.float32) + shift for shift, m in enumerate((9, 5, 7, 4)))
POINTS = np.concatenate([BACKGROUND[20:21], RNG.normal(size=(5, 6)).astype(np.float32)])
PREPARED = ("points", "peers", "around")


def bank_of(bags: Any, method: Any, omitted: Any = (), dtype: Any = np.float32) -> ClassBank:
    branches = 1 if method == "cosine" else 2
    settings: dict[str, Any] = {"branches": branches, "radius": 2.0, "method": method, "background": BACKGROUND}
    return ClassBank.of([np.asarray(bag, dtype) for bag in bags], **settings, omitted=omitted)


def everything(bank: ClassBank) -> list[Any]:
    """All that a bank, its calibration and a split say."""
    calibration, split = Calibration.of(bank), Split.of(bank)
    found: list[Any] = [*bank.assess(POINTS), bank.scores(POINTS), bank.likeness(POINTS), bank.leave_one_out()]
    found += [bank.peer_likeness(), bank.votes(POINTS, 1), bank.explain(POINTS, 1)[0].parts, bank.slack]
    found += [bank.without(20).likeness(POINTS), bank.without(20).leave_one_out(), bank.thresholds(0.2)]
    return [*found, calibration.best, *calibration.own, *calibration.joined, split.calibration, split.scores(POINTS)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", METHODS)
def test_updated_bank_equals_one_made_anew(method: Any, dtype: Any) -> None:
    old = bank_of([FIRST, SECOND, THIRD], method, dtype=dtype)
    everything(old)
    grown = np.concatenate([SECOND, NEW, BACKGROUND[3:5]])
    cases: dict[str, tuple[list[Any], list[Any], list[int]]] = {
        "an enrollment": ([0, grown, 2], [FIRST, grown, THIRD], [3, 4]),
        "a new class": ([0, NEW, 1, 2], [FIRST, NEW, SECOND, THIRD], []),
        "another order": ([2, 0, 1], [THIRD, FIRST, SECOND], []),
        "a class forgotten": ([*np.flatnonzero([True, False, True])], [FIRST, THIRD], [7]),
    }
    for classes, bags, omitted in cases.values():
        pairs = zip(
            everything(old.updated(classes, omitted)), everything(bank_of(bags, method, omitted, dtype)), strict=True
        )
        for ours, theirs in pairs:
            assert_array_equal(ours, theirs)


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_are_no_longer_omitted_count_again(method: Any) -> None:
    some = bank_of([FIRST, BACKGROUND[:9]], method, range(9))
    everything(some)
    for ours, theirs in zip(
        everything(some.updated([0, SECOND])), everything(bank_of([FIRST, SECOND], method)), strict=True
    ):
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize("method", METHODS)
def test_other_classes_keep_their_prepared_arrays(method: Any) -> None:
    old = bank_of([FIRST, SECOND, THIRD], method)
    everything(old)
    before = [{name: getattr(bag, name) for name in PREPARED} for bag in old._bags]
    new = old.updated([0, np.concatenate([SECOND, NEW]), 2], [3])
    everything(new)
    for c, bag in enumerate(new._bags):
        same = [getattr(bag, name) is before[c][name] for name in PREPARED]
        assert same == [c != 1] * 3, f"class {c}"
    assert new._whole is old._whole


def test_bag_of_other_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="exemplars has 3 columns but the exemplars have 6"):
        bank_of([FIRST], "contrast").updated([0, [[1.0, 2.0, 3.0]]])
