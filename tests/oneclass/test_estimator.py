"""scikit-learn's contract, and that fitting, adding and forgetting are one and the same."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from corel.oneclass import ClassBank, OneClass


@pytest.mark.filterwarnings("ignore:.*exemplars cannot support rate")
@parametrize_with_checks([OneClass(), OneClass(method="count", rate=0.2, radius=3.0)])
def test_scikit_learns_checks(estimator: OneClass, check: Any) -> None:
    check(estimator)


def test_clone_parameters_and_representation() -> None:
    background = np.zeros((3, 4))
    model = OneClass(branches=2, method="contrast", background=background)
    copy = clone(model)
    assert copy.get_params()["method"] == "contrast"
    assert copy.get_params()["background"].shape == (3, 4)
    assert copy.set_params(method="count").fit(np.zeros((2, 4))).bank_.method == "count"
    assert "method='contrast'" in repr(model)


def test_the_old_name_of_the_method_is_refused_with_the_new_one() -> None:
    with pytest.raises(TypeError, match=r"score is called method now; write OneClass\(method='count'\)"):
        OneClass(score="count")  # type: ignore[call-arg]


def test_integers_that_float32_cannot_tell_apart_stay_apart() -> None:
    model = OneClass(method="count", radius=5.0).fit(np.array([[1_700_000_000], [1_700_000_003]]))
    assert model.score_samples([[1_700_000_004], [1_700_000_060]]).tolist() == [2, 0]
    assert OneClass(method="count").fit(np.zeros((2, 1), np.float32)).exemplars_.dtype == np.float32


def test_the_background_may_be_a_tensor_of_any_type() -> None:
    background = torch.randn(30, 4, generator=torch.Generator().manual_seed(0)).bfloat16().requires_grad_()
    rows = np.random.default_rng(0).normal(size=(9, 4))
    expected = OneClass(background=background.detach().float().numpy()).fit(rows).score_samples(rows)
    assert OneClass(background=background).fit(rows).score_samples(rows).tolist() == expected.tolist()


def test_pipelines() -> None:
    rng = np.random.default_rng(0)
    pipeline = make_pipeline(StandardScaler(), OneClass(branches=2)).fit(rng.normal(5, 3, (60, 4)))
    assert pipeline.predict([[5.0] * 4, [90.0] * 4]).tolist() == [1, -1]
    assert not hasattr(pipeline, "score")


def test_the_backbone_fills_in_the_settings() -> None:
    rng = np.random.default_rng(0)
    backbone = SimpleNamespace(branches=2, eta=1.5, p=1.0, background=rng.normal(size=(30, 4)))
    model = OneClass.from_backbone(backbone, rate=0.2).fit(rng.normal(size=(9, 4)))
    assert (model.bank_.branches, model.bank_.radius, model.bank_.method, model.rate) == (2, 1.5, "contrast", 0.2)
    assert OneClass.from_backbone(backbone, method="count").fit(rng.normal(size=(9, 4))).bank_.method == "count"
    backbone.p = 2.0
    with pytest.raises(ValueError, match=r"trained with p=2, .* train with p=1"):
        OneClass.from_backbone(backbone)


Step = tuple[bool, int, int]  # add or forget, how many, seed
steps_of = st.lists(st.tuples(st.booleans(), st.integers(1, 4), st.integers(0, 2**16)), min_size=1, max_size=6)


@settings(max_examples=40)
@given(steps_of, st.booleans())
def test_adding_and_forgetting_equal_fitting_on_what_is_left(steps: list[Step], contrast: bool) -> None:
    rng = np.random.default_rng(0)
    model = OneClass(branches=2, radius=2.0, rate=0.2, background=rng.normal(size=(20, 6)) if contrast else None)
    kept = rng.normal(size=(3, 6))
    model.partial_fit(kept)
    for add, size, seed in steps:
        if add:
            more = np.random.default_rng(seed).normal(size=(size, 6))
            kept = np.concatenate([kept, more])
            model.partial_fit(more)
        elif len(kept) > size:
            gone = np.random.default_rng(seed).choice(len(kept), size, replace=False)
            kept = np.delete(kept, gone, axis=0)
            model.forget(gone)
    fresh, z = clone(model).fit(kept), rng.normal(size=(10, 6))
    np.testing.assert_array_equal(model.exemplars_, kept)
    np.testing.assert_array_equal(model.score_samples(z), fresh.score_samples(z))
    np.testing.assert_array_equal(model.p_values(z), fresh.p_values(z))
    assert model.offset_ == fresh.offset_


def test_forget_takes_positions_as_they_were_before_the_call() -> None:
    model = OneClass().fit(np.arange(4.0)[:, None]).forget([0, 2])
    assert model.exemplars_[:, 0].tolist() == [1.0, 3.0]
    with pytest.raises(IndexError, match="integers from 0 to 1"):
        model.forget([2])
    with pytest.raises(IndexError, match="integers from 0 to 1"):
        model.forget([-1])
    with pytest.raises(IndexError, match="integers from 0 to 1"):
        model.forget([True, False])
    with pytest.raises(ValueError, match="leaves no class"):
        model.forget([0, 1])
    assert model.forget([]).exemplars_[:, 0].tolist() == [1.0, 3.0]


def test_offset_is_the_kth_smallest_leave_one_out_score() -> None:
    X = np.array([[0.0], [0.5], [1.0], [5.0]])  # neighbors within 0.6: 1, 2, 1, 0
    for rate, offset in [(0.1, -np.inf), (0.2, 0.0), (0.4, 1.0), (0.6, 1.0), (0.8, 2.0)]:
        assert OneClass(radius=0.6, rate=rate).fit(X).offset_ == offset
    model = OneClass(radius=0.6, rate=0.4).fit(X)
    assert model.predict([[5.0], [9.0]]).tolist() == [1, -1]  # a score equal to the offset is accepted
    assert model.decision_function([[0.5]]).tolist() == [2.0]


def test_one_exemplar_is_enough_to_score() -> None:
    model = OneClass(branches=2, background=np.arange(8.0).reshape(2, 4), rate=0.5).fit(np.zeros((1, 4)))
    near, far = model.score_samples([[0.0] * 4, [9.0] * 4])
    assert np.isfinite([near, far]).all()
    assert near > far
    np.testing.assert_array_equal(model.p_values([[0.0] * 4, [9.0] * 4]), [1.0, 1.0])


def test_too_few_exemplars_for_the_rate_is_a_warning_that_says_so() -> None:
    X = np.random.default_rng(0).normal(size=(19, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OneClass(rate=0.05).fit(X).predict(X)
    with pytest.warns(UserWarning, match="18 exemplars cannot support rate=0.05.*Enroll at least 19"):
        OneClass(rate=0.05).fit(X[1:]).predict(X)


def test_unfitted_and_bad_rates_are_refused() -> None:
    with pytest.raises(NotFittedError):
        OneClass().predict([[0.0]])
    with pytest.raises(ValueError, match="rate must lie strictly between 0 and 1, not 5"):
        OneClass(rate=5).fit([[0.0]])


def test_explain_counts_rates_and_neighbors_nearest_first() -> None:
    X = np.array([[0.0, 0.0], [1.0, 9.0], [0.5, 1.0], [7.0, 0.5]])
    model = OneClass(branches=2, radius=1.0, background=np.array([[0.0, 5.0], [9.0, 9.0], [1.0, 9.0]])).fit(X)
    (why,) = model.explain([[0.25, 0.75]])
    assert why.counts.tolist() == [3, 3]
    assert [near.tolist() for near in why.neighbors] == [[0, 2, 1], [2, 3, 0]]
    assert [d.tolist() for d in why.distances] == [[0.25, 0.25, 0.75], [0.25, 0.25, 0.75]]
    assert why.background_rates is not None
    assert why.background_rates.tolist() == [2 / 3, 0.0]
    assert OneClass(branches=2).fit(X).explain([[0.0, 0.0]])[0].background_rates is None


@pytest.mark.parametrize("score", ["count", "contrast"])
def test_explanations_add_up_to_the_score(score: Literal["count", "contrast"]) -> None:
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(9, 12)).astype(np.float32) for _ in range(3)]
    bank = ClassBank.of(bags, branches=3, radius=4.0, background=rng.normal(size=(40, 12)), method=score)
    z = rng.normal(size=(20, 12))
    for c in range(3):
        explanations = bank.explain(z, c)
        np.testing.assert_allclose([why.parts.sum() for why in explanations], bank.scores(z)[:, c])
        if score == "count":
            assert all((why.parts == why.counts).all() for why in explanations)


def test_a_fitted_estimator_keeps_the_background_it_was_fitted_with() -> None:
    rng = np.random.default_rng(0)
    background, bag, z = (rng.normal(size=(n, 4)) for n in (50, 20, 4))
    one, other = (OneClass(background=background).fit(bag) for _ in range(2))
    before = one.score_samples(z)
    background += 100
    np.testing.assert_array_equal(other.score_samples(z), before)


@pytest.mark.parametrize("method", ["count", "contrast"])
def test_a_radius_without_neighbors_is_warned_of(method: Any) -> None:
    rng = np.random.default_rng(0)
    exemplars, background = rng.normal(size=(60, 32)), rng.normal(size=(200, 32))
    model = OneClass(method=method, background=background).fit(exemplars)
    with pytest.warns(UserWarning, match="no two exemplars are within the radius 2 of each other"):
        assert (model.predict(exemplars + 100) == 1).all()
    wider = OneClass(method=method, background=background, radius=40.0).fit(exemplars)
    assert (wider.predict(exemplars + 100) == -1).all()
