"""An explanation's words and picture agree with the score and with each other."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from numpy.typing import NDArray

from corel.gallery import Explanation, Gallery, Scores, rows_of
from corel.gallery._comparison import Comparison, compare, compared_classes
from corel.gallery._exemplar import Exemplar
from corel.oneclass import Calibration, ClassBank

from .test_gallery import colored, make_backbone

BACKBONE = make_backbone(0)


@pytest.fixture
def gallery(tmp_path: Path) -> Gallery:
    gallery = Gallery.open(tmp_path / "hues.gallery", BACKBONE, create=True)
    for hue, (name, count) in enumerate({"red": 40, "green": 30, "blue": 20}.items()):
        gallery.enroll(name, colored(hue, count, hue + 1))
    return gallery


def bars(axes: Axes) -> list[Rectangle]:
    return [each for each in axes.patches if isinstance(each, Rectangle)]


def test_the_bars_are_the_sums_that_decide(gallery: Gallery) -> None:
    new = colored(1, 1, 9)
    found, scores = gallery.explain(new), gallery.score(new)
    assert found.verdict == scores.decide()[0]
    assert found.name == found.verdict.likeliest == "green"
    likeness = dict(zip(scores.classes, scores.likeness[0], strict=True))
    first, second = found.comparisons
    assert likeness[second.name] == sorted(likeness.values())[-2]
    np.testing.assert_allclose(first.total - second.total, likeness[first.name] - likeness[second.name])
    _, _, _, left, _, right = found.draw().axes
    for axes, side in ((left, first), (right, second)):
        *votes, typical = bars(axes)
        assert all(each.get_width() >= 0 for each in votes)
        assert sum(each.get_width() for each in votes) == pytest.approx(side.total)
        assert typical.get_width() == pytest.approx(np.median(side.members))
    assert left.get_xlim() == right.get_xlim()  # so that the classes can be compared


def test_the_class_asked_about_stands_beside_the_likeliest(gallery: Gallery) -> None:
    found = gallery.explain(colored(0, 1, 9), "blue")
    assert [(each.name, each.role) for each in found.comparisons] == [("blue", "asked about"), ("red", "the likeliest")]
    assert found.name == "blue"
    assert found.score == gallery.score(colored(0, 1, 9)).scores[0, 0]
    with pytest.raises(ValueError, match="'violet' is no class"):
        gallery.explain(colored(0, 1, 9), "violet")


def test_where_the_likeliest_class_rules_an_image_out_the_class_that_is_left_comes_first() -> None:
    """Members of a tight class are so alike that a point close to it is none, while a wide class takes it."""
    rng = np.random.default_rng(0)
    tight, wide = rng.normal(0, 0.02, (40, 2)), rng.normal([6, 0], 3, (40, 2))
    bags = [np.asarray(each, np.float32) for each in (tight, wide)]
    bank = ClassBank.of(bags, branches=1, radius=3.0, background=rng.normal(3, 4, (80, 2)), method="contrast")
    point = np.array([[0.5, 0]], np.float32)
    scores = Scores.of(bank, Calibration.of(bank), point, images=["new"], classes=("tight", "wide"))
    (verdict,) = scores.decide(0.05)
    assert (verdict.verdict, verdict.classes, verdict.likeliest) == ("known", ("wide",), "tight")
    assert compared_classes(scores, verdict, None) == {1: "named by the verdict", 0: "the likeliest, ruled out"}
    assert compared_classes(scores, verdict, "tight") == {0: "the likeliest", 1: "the runner-up"}
    assert [row.name for row in rows_of(scores, [verdict], 0.05)] == ["wide"]
    assert [row.name for row in rows_of(scores, [verdict], 0.05, every=True)] == ["wide", "tight"]


def test_small_classes_are_explained_by_the_p_value_that_decided(tmp_path: Path) -> None:
    """Six exemplars alone have no p-value below 1/7; with other small classes they rule an image out."""
    with Gallery.open(tmp_path / "g", BACKBONE, create=True) as gallery:
        for hue, (name, count) in enumerate({"red": 6, "green": 18, "blue": 17}.items()):
            gallery.enroll(name, colored(hue, count, hue + 1))
        new = colored(1, 1, 9)
        found, scores = gallery.explain(new, "red"), gallery.score(new)
        alone = gallery.explain(new, "red", rate=0.2)
    red = scores.classes.index("red")
    decided = scores.set_p_values(0.05)[0, red]
    assert found.p_value == found.comparisons[0].p_value == decided <= 0.05 < 1 / 7 <= scores.p_values[0, red]
    assert "red" not in found.verdict.classes
    assert "of the members of all small classes fit as badly, so it is ruled out" in str(found)
    assert f"{decided:.4f}" in words_of(found, expert=True)
    drawn = " ".join(text.get_text() for text in found.draw().findobj(Text))
    assert "of all small classes fit as badly, so it is ruled out." in " ".join(drawn.split())  # nothing is cut off
    assert alone.p_value == scores.p_values[0, red]  # at 20% the class decides by itself
    assert "red: at most 15% of its members fit as badly, so it is ruled out" in str(alone)  # 1/7, rounded up


def test_branches_and_radii_appear_only_in_the_expert_picture(gallery: Gallery) -> None:
    found = gallery.explain(colored(0, 1, 9), "red")
    assert not {"branch", "radius"} & words_of(found, expert=False)
    assert {"branch", "radius"} <= words_of(found, expert=True)
    assert str(found).splitlines()[0] == f"Known: {found.verdict}"


def words_of(found: Explanation, *, expert: bool) -> set[str]:
    texts = found.draw(expert=expert).findobj(Text)
    return {word.strip(",.:") for text in texts for word in text.get_text().split()}


def test_one_class_has_no_runner_up_and_a_far_image_no_voters(tmp_path: Path) -> None:
    with Gallery.open(tmp_path / "g", BACKBONE, create=True) as gallery:
        gallery.enroll("red", colored(0, 1, 1))
        found = gallery.explain(colored(2, 1, 2))
        assert [each.role for each in found.comparisons] == ["the likeliest"]
        found.draw().savefig(tmp_path / "why.png")
    nothing = Comparison("red", found.exemplars, np.zeros(1), np.zeros(1), 1.0)
    assert nothing.voters(8) == []


@pytest.mark.parametrize("method", ["count", "contrast", "cosine"])
def test_every_score_can_be_compared(method: Literal["count", "contrast", "cosine"]) -> None:
    """A member's bar is what the others vote for it, as if they were as many as vote for a new item."""
    rng = np.random.default_rng(0)
    bags: list[NDArray[np.float32]] = [rng.normal(size=(m, 6)).astype(np.float32) for m in (9, 15)]
    bank = ClassBank.of(bags, branches=2, radius=3.0, background=rng.normal(size=(50, 6)), method=method)
    exemplars = [Exemplar("a", f"{i}", f"{i}.png", "", row, None) for i, row in enumerate(bags[0])]
    z = rng.normal(size=(1, 6)).astype(np.float32)
    found = compare(bank, z, 0, exemplars, 0.5, "the likeliest")
    assert found.total == pytest.approx(bank.likeness(z)[0, 0] - bank.least_likeness)
    shares = [share for _, share in found.voters(9)]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert (found.members >= 0).all()
    if method == "count":
        votes = bank.votes(bags[0], 0)
        np.testing.assert_allclose(found.members, (votes.sum(axis=1) - np.diag(votes)) * 9 / 8)
