"""The recognition test does not depend on what the classes are called."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corel.backbone import Backbone
from corel.cli._recognition import recognition_lines
from corel.evaluation import Recognition, recognize
from corel.images import ImageSet

from .test_evaluation import backbone as backbone  # a fixture
from .test_evaluation import hues

VERDICTS = ("stranger", "not a photograph")


def called(classes: tuple[str, ...], data: ImageSet) -> ImageSet:
    return replace(data, classes=classes)


def recognized(backbone: Backbone, classes: tuple[str, ...]) -> Recognition:
    train, test = (called(classes, hues(split, count, seed)) for split, count, seed in (("a", 40, 0), ("b", 30, 1)))
    return recognize(backbone, train, test, rate=0.2)


@pytest.mark.parametrize(
    "classes", [("stranger", "unsure", "known"), ("not a photograph", "green", "stranger"), (*VERDICTS, "[stranger]")]
)
def test_a_class_may_have_the_name_of_a_verdict(backbone: Backbone, classes: tuple[str, ...]) -> None:
    plain, found = (recognized(backbone, names) for names in (("red", "green", "blue"), classes))
    assert plain.called_stranger > 0
    for name in ("called_stranger", "called_blank", "top_1", "coverage", "set_sizes", "auc"):
        assert getattr(found, name) == getattr(plain, name)
    assert [*found.confusion] == [*found.enrolled] == [*classes]
    assert len({*found.columns()}) == len(found.columns()) == len(plain.columns())
    of_plain = dict(zip(plain.columns(), found.columns(), strict=True))
    renamed = {of_plain[row]: {of_plain[c]: n for c, n in counts.items()} for row, counts in plain.confusion.items()}
    assert found.confusion == renamed
    assert len([*recognition_lines(found)]) == len([*recognition_lines(plain)])


def test_a_verdict_s_column_is_in_brackets_only_if_a_class_has_its_name(backbone: Backbone) -> None:
    assert recognized(backbone, ("red", "green", "blue")).columns()[3] == "stranger"
    assert recognized(backbone, ("red", "green", "stranger")).columns()[3] == "[stranger]"
