"""README and documentation show what the committed results say."""

import re
from pathlib import Path
from typing import Any

import pytest

import corel
from experiments.render.documents import DOCUMENTS, TABLES, fill

ROOT = Path(__file__).parents[1]
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


@each_document
def test_tables_are_what_the_results_give(document: Path) -> None:
    text = document.read_text()
    assert fill(text) == text, "run `make readme`"


@each_document
def test_a_changed_number_is_put_right(document: Path) -> None:
    text = document.read_text()
    changed = re.sub(r"(<!-- table: \w+ -->(?:(?!<!-- end).)*?)\d", r"\1x", text, flags=re.DOTALL)
    if changed == text:
        pytest.skip("its tables wait for results")
    assert fill(changed) == text


def test_every_table_is_shown_somewhere() -> None:
    shown = [name for document in DOCUMENTS for name in re.findall(r"<!-- table: (\w+) -->", document.read_text())]
    assert sorted(shown) == sorted(TABLES)


def test_the_pipeline_accepts_as_many_as_its_comment_says() -> None:
    (block,) = re.findall(r"```python\n((?:(?!```).)*make_pipeline.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    accepted, threes = names["accepted"], names["y"][1200:] == 3
    said = re.search(r"(\d+)% of the threes, (\d+)% of the rest", block)
    assert said is not None
    assert [int(each) for each in said.groups()] == [round(100 * accepted[of].mean()) for of in (threes, ~threes)]


def test_citation_and_changelog_are_of_this_version() -> None:
    assert f"\nversion: {corel.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## [{corel.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
