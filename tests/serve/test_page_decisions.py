"""What the page computes itself, in a real browser: verdicts as Python decides them, and cells of its table."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from corel.gallery import Gallery
from tests.serve.conftest import pictures
from tests.serve.servers import Factory, Server

from .test_page import DESKTOP, opened
from .test_page import browser as browser  # a fixture
from .test_page import tab as tab


@pytest.fixture(scope="module")
def uneven(factory: Factory, encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Server]]:
    """A gallery of classes of very different sizes, some too small for most rates."""
    path = tmp_path_factory.mktemp("uneven") / "uneven.gallery"
    server = factory.start(path, backbone=str(encoder)).wait_until_ready()
    for name, color, count, first in (
        ("red", "red", 45, 0), ("few red", "red", 6, 50), ("green", "green", 20, 0), ("two", "green", 2, 50),
        ("some blue", "blue", 11, 0), ("one", "blue", 1, 50), ("mixed", "red", 19, 70),
    ):  # fmt: skip
        server.enroll(name, pictures(color, count, first))
    yield path, server
    server.kill()


def test_the_page_decides_as_python_does(
    browser: Browser, uneven: tuple[Path, Server], encoder: Path, tmp_path: Path
) -> None:
    path, server = uneven
    sent = [*pictures("red", 16, 300), *pictures("green", 16, 300), *pictures("blue", 16, 300), *pictures("red", 16, 0)]
    for name, content in sent:
        (tmp_path / name).write_bytes(content)
    answer = server.post("/v1/score", sent).json
    rates = [0.001, 0.01, 0.02, 0.05, 0.0501, 1 / 21, 1 / 12, 0.1, 1 / 7, 0.2, 0.3, 1 / 3, 0.5, 0.9]
    for page in opened(browser, server, DESKTOP, "light"):
        found: list[list[dict[str, Any]]] = page.evaluate(
            """async ([answer, rates]) => {
              const {decide} = await import("/page/decide.js");
              const at = rate => image => decide(image, answer.calibration, rate, answer.classes);
              return rates.map(rate => answer.images.map(at(rate)));
            }""",
            [answer, rates],
        )
    with Gallery.open(shutil.copy(path, tmp_path / "copy.gallery"), encoder) as opened_gallery:
        scores = opened_gallery.score([tmp_path / name for name, _ in sent])
    seen = set()
    for rate, decisions in zip(rates, found, strict=True):
        np.testing.assert_array_equal([each["p"] for each in decisions], scores.set_p_values(rate))
        np.testing.assert_array_equal([each["order"] for each in decisions], scores.ranking(rate))
        for verdict, decision in zip(scores.decide(rate), decisions, strict=True):
            seen.add(verdict.verdict)
            assert decision["verdict"] == verdict.verdict
            assert answer["classes"][decision["likeliest"]] == verdict.likeliest
            if verdict.verdict in ("known", "unsure"):
                assert tuple(answer["classes"][index] for index in decision["set"]) == verdict.classes
    assert seen >= {"known", "unsure", "stranger"}


def test_cells_of_the_table_are_no_formulas(tab: Page) -> None:
    cells = ["=1+1", "@x", "+1", "-1", "＝1", 'a"b', "a,b", "a\nb", "plain", 0.5, -0.5]
    shown = tab.evaluate(
        "async cells => { const {cell} = await import('/page/csv.js'); return cells.map(cell); }", cells
    )
    assert shown == ["'=1+1", "'@x", "'+1", "'-1", "'＝1", '"a""b"', '"a,b"', '"a\nb"', "plain", "0.5", "-0.5"]
    assert json.dumps(shown)
