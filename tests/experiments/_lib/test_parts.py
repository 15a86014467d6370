"""An experiment that is stopped goes on with what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments._lib.parts import Part, is_complete, named, progress, results, run_parts
from experiments._lib.record import read


class Work:
    """Counts how often each part is done, and stops at one of them."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.stop_at: str | None = None

    def part(self, name: str, **settings: Any) -> Part:
        return Part(name, settings, lambda: self.do(name))

    def do(self, name: str) -> dict[str, int]:
        if name == self.stop_at:
            raise KeyboardInterrupt
        self.done.append(name)
        return {"length": len(name)}


def test_a_stopped_study_continues_with_the_missing_parts(tmp_path: Path) -> None:
    work = Work()
    parts = [work.part(name) for name in ("a", "bb", "ccc")]
    work.stop_at = "bb"
    with pytest.raises(KeyboardInterrupt):
        run_parts("trial", parts, {"why": "test"}, folder=tmp_path)
    assert progress("trial", tmp_path) == (1, 3)
    assert not is_complete("trial", tmp_path)
    work.stop_at = None
    run_parts("trial", parts, {"why": "test"}, folder=tmp_path)
    assert work.done == ["a", "bb", "ccc"]
    assert results("trial", tmp_path) == {"a": {"length": 1}, "bb": {"length": 2}, "ccc": {"length": 3}}
    assert is_complete("trial", tmp_path)


def test_a_complete_record_is_left_alone(tmp_path: Path) -> None:
    work = Work()
    run_parts("trial", [work.part("a", sizes=(1, 2))], {}, folder=tmp_path)
    before = (tmp_path / "trial.json").stat()
    run_parts("trial", [work.part("a", sizes=(1, 2))], {}, folder=tmp_path)
    assert work.done == ["a"]
    assert (tmp_path / "trial.json").stat().st_mtime_ns == before.st_mtime_ns


def test_other_settings_are_measured_anew(tmp_path: Path) -> None:
    work = Work()
    run_parts("trial", [work.part("a", epochs=1), work.part("b", epochs=1)], {}, folder=tmp_path)
    run_parts("trial", [work.part("a", epochs=2), work.part("b", epochs=1)], {}, folder=tmp_path)
    assert work.done == ["a", "b", "a"]


def test_a_recorded_part_whose_data_is_missing_is_kept(tmp_path: Path) -> None:
    work = Work()
    run_parts("trial", [work.part("a"), work.part("b")], {}, folder=tmp_path)
    run_parts("trial", [work.part("c")], {}, folder=tmp_path)
    assert list(results("trial", tmp_path)) == ["a", "b", "c"]
    assert is_complete("trial", tmp_path)


def test_without_a_record_no_part_is_done(tmp_path: Path) -> None:
    assert progress("trial", tmp_path) == (0, 1)


def test_parts_are_asked_for_by_words_of_their_names(tmp_path: Path) -> None:
    work = Work()
    parts = [work.part(name) for name in ("a → b", "a → c", "b → c")]
    assert named(parts, None) == {"a → b", "a → c", "b → c"}
    assert named(parts, ["a →"]) == {"a → b", "a → c"}
    run_parts("trial", parts, {}, only=named(parts, ["b →"]), folder=tmp_path)
    assert work.done == ["b → c"]


def test_every_part_has_its_commit(tmp_path: Path) -> None:
    run_parts("trial", [Work().part("a")], {}, folder=tmp_path)
    document = read("trial", tmp_path)
    assert document["results"]["a"]["commit"] == document["commit"]
