"""README and documentation show what the committed results say, and published numbers agree with each other."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corel
from experiments import paper
from experiments.readme import DOCUMENTS, TABLES, fill

ROOT = Path(__file__).parents[1]
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


@each_document
def test_tables_are_what_the_results_give(document: Path) -> None:
    text = document.read_text()
    assert fill(text) == text, "run `make readme`"


@each_document
def test_a_changed_number_is_put_right(document: Path) -> None:
    text = document.read_text()
    changed = re.sub(r"(<!-- table: \w+ -->(?:(?!<!-- end).)*?)\.\d", r"\1.x", text, flags=re.DOTALL)
    assert changed != text
    assert fill(changed) == text


def test_every_table_is_shown_somewhere() -> None:
    shown = [name for document in DOCUMENTS for name in re.findall(r"<!-- table: (\w+) -->", document.read_text())]
    assert sorted(shown) == sorted(TABLES)


def test_the_pipeline_accepts_as_many_as_its_comment_says() -> None:
    (block,) = re.findall(r"```python\n((?:(?!```).)*make_pipeline.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    accepted, threes = names["accepted"], names["y"][1::2] == 3
    said = re.search(r"(\d+)% of the threes, (\d+)% of the rest", block)
    assert said is not None
    assert [int(each) for each in said.groups()] == [round(100 * accepted[of].mean()) for of in (threes, ~threes)]


def test_citation_and_changelog_are_of_this_version() -> None:
    assert f"\nversion: {corel.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## [{corel.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("name", paper.BASELINES_BY_CLASS)
def test_classes_average_to_the_published_mean(name: str) -> None:
    column = paper.BASELINES_BY_CLASS[name]
    assert len(column) == len(paper.CIFAR10_CLASSES)
    assert np.mean(column) == pytest.approx(paper.BASELINE_MEANS[name], abs=6e-4)  # both are rounded


def test_ablations_meet_where_they_are_one_training() -> None:
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
