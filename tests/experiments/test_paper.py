"""Published numbers agree with each other."""

import numpy as np
import pytest

from experiments import paper


@pytest.mark.parametrize("name", paper.BASELINES_BY_CLASS)
def test_classes_average_to_the_published_mean(name: str) -> None:
    column = paper.BASELINES_BY_CLASS[name]
    assert len(column) == len(paper.CIFAR10_CLASSES)
    assert np.mean(column) == pytest.approx(paper.BASELINE_MEANS[name], abs=6e-4)  # both are rounded


def test_ablations_agree_where_they_are_the_same_training() -> None:
    for m in (120, 5000):
        assert paper.WEIGHT_ABLATION[20][m] == paper.RADIUS_SWEEP[m][2]


def test_branches_in_the_text_are_the_ablation_rounded() -> None:
    assert round(paper.WEIGHT_ABLATION[20][5000], 2) == paper.BRANCHES_IN_TEXT[16]
    assert round(paper.BRANCH_ABLATION[32, 5][20], 2) == paper.BRANCHES_IN_TEXT[32]
    assert round(paper.BRANCH_ABLATION[1, 160][20], 2) == paper.BRANCHES_IN_TEXT[1]


def test_table_1_is_within_a_training_of_the_notebook() -> None:
    ours = [row for row in paper.TABLE_1 if row.auxiliary]
    assert ours
    for row in ours:
        assert row.auxiliary is not None
        assert row.auc == pytest.approx(paper.cell(row.auxiliary, row.evaluated).m120, abs=0.005 + 0.005)


def test_more_exemplars_never_hurt_the_notebook() -> None:
    assert all(cell.m80 < cell.m120 < cell.m500 for cell in paper.CELLS)
