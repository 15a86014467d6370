"""A small training and evaluation of classes with hostile names, and the page written about them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from corel import images
from corel.backbone import Backbone
from corel.evaluation import Evaluation, evaluate
from corel.images import ImageSet
from corel.report import write_report
from corel.training import TrainConfig, train

NAMES = (
    "<script>alert('class')</script>",
    "<b>&amp;</b>",
    "$x_1^2$ or $\\broken",
    "a very long name indeed, longer than a row",
)
TITLE = "<i>title</i> & more"


@dataclass(frozen=True, eq=False)
class Case:
    backbone: Backbone
    enrolled: ImageSet
    test: ImageSet
    evaluation: Evaluation


@pytest.fixture(scope="session")
def case() -> Case:
    enrolled, test = _four_digits("train"), _four_digits("test")
    config = TrainConfig(epochs=3, width=4, branches=2, branch_dim=3, batch_size=20)
    backbone = train(enrolled, config, progress=False)
    found = evaluate(backbone, enrolled, test, exemplars=[5, 20], draws=2, progress=False)
    return Case(backbone, enrolled, test, found)


@pytest.fixture(scope="session")
def page(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with every section, two encoders compared."""
    place = tmp_path_factory.mktemp("page") / "all.html"
    backbones = {"trained": case.backbone, "the <same> again": case.backbone}
    return write_report(
        place, backbones, images=case.enrolled, evaluation=case.evaluation, enrolled=case.enrolled, test=case.test,
        title=TITLE, progress=False,
    )  # fmt: skip


def _four_digits(split: str) -> ImageSet:
    digits = images.open("digits", split, size=8, progress=False)
    return replace(digits.take(np.asarray(digits.labels) < len(NAMES)), classes=NAMES)
