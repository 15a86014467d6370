"""The demo on the photographs: what it writes, and that its boxes mean what they say."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import corel
from corel.cli import _demo
from corel.demo import page, photos
from corel.demo.photos import Box, Recognized
from corel.finding import find
from corel.gallery import Gallery


@pytest.fixture(scope="module")
def recognized(tmp_path_factory: pytest.TempPathFactory) -> Recognized:
    return photos.recognize(tmp_path_factory.mktemp("demo"))


def overlap(one: Box, other: Box) -> int:
    sides = [
        min(a + width, b + breadth) - max(a, b)
        for a, width, b, breadth in ((one[0], one[2], other[0], other[2]), (one[1], one[3], other[1], other[3]))
    ]
    return max(0, sides[0]) * max(0, sides[1])


def test_enrolled_and_new_strips_do_not_overlap() -> None:
    for thing in photos.THINGS.values():
        assert not any(overlap(one, other) for one in thing.strips(0) for other in thing.strips(1))
    boxes = [(thing.photo, thing.box) for thing in photos.THINGS.values()]
    for photo, box in photos.STRANGERS.values():
        assert not any(overlap(box, other) for where, other in boxes if where == photo)


def test_the_gallery_beats_pixels_and_says_so(recognized: Recognized) -> None:
    assert len(recognized.windows) == len(recognized.truth) == len(recognized.verdicts) == 30
    named = [
        verdict.classes == (truth,)
        for truth, verdict in zip(recognized.truth, recognized.verdicts, strict=True)
        if truth in photos.THINGS
    ]
    assert np.mean(named) >= 0.7
    pairs = zip(recognized.verdicts, recognized.truth, strict=True)
    assert not any(each.classes for each, truth in pairs if truth in ("leaves", "water", "black frame"))
    counts = [int(each) for each in re.findall(r"\d+", recognized.summary())]
    right, members, strangers, stopped, unsure, wrong = counts[:6]
    assert (right, members, strangers) == (sum(named), 20, 10)
    assert stopped + unsure + wrong == strangers
    assert right > counts[6]  # than nearest neighbors on pixels


def test_the_gallery_is_there_for_the_next_command(recognized: Recognized) -> None:
    with Gallery.open(recognized.gallery) as gallery:
        assert gallery.classes() == dict.fromkeys(sorted(photos.THINGS), photos.ENROLLED)
        files = sorted((recognized.gallery.parent / "demo_windows").glob("*.png"))
        again = gallery.score(files).decide(0.05)
    assert [each.verdict for each in again] == [each.verdict for each in recognized.verdicts]


def test_the_page_begins_with_what_is_recognized(recognized: Recognized, tmp_path: Path) -> None:
    photo = photos.load_photo("china.jpg")[150:350, 100:330]
    (found,) = find(photo, (10, 10, 200, 180))
    why = photos.explain(recognized)
    written = page.write_page(
        tmp_path / "report.html", {"pagoda": found}, recognized, why, page.train_pair(epochs=2, width=4), rate=0.05
    )
    text = written.read_text()
    titles = ("see the rest of it", "against a gallery", "Why?", "The connectivity loss", "points meet?")
    order = [text.index(words) for words in titles]
    assert order == sorted(order)
    assert text.count(photos.CREDIT) == 2
    assert "Left out" not in text
    assert ">01 pagoda.png<" in text  # what the votes are for, by the name of its file
    assert (tmp_path / "report_files" / "found-pagoda.png").is_file()


def test_the_demo_of_a_module_names_commands_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(Path(corel.__file__).with_name("__main__.py")), "demo"])
    first = shlex.split(_demo._next_lines(Path("demo.gallery"))[0])
    said = subprocess.run([*first[: first.index("enroll")], "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("corel ")


def test_the_demo_ends_with_lines_to_type() -> None:
    lines = _demo._next_lines(Path("my demo/demo.gallery"))
    assert [lines[i].split()[1] for i in (0, 2)] == ["enroll", "serve"]
    assert "ConnectivityLoss" in lines[1]
    assert "'my demo/demo.gallery'" in lines[2]
