"""`corel sort` and `corel unsort`: real commands, killed at random moments."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corel.gallery import Gallery, Scores

from .conftest import Corel


@pytest.fixture
def mixed(tmp_path: Path, photos: Path) -> Path:
    """Red, green and blue photos in two folders, with a broken file and a name that occurs twice."""
    folder = tmp_path / "mixed"
    for name in ("red", "green", "blue"):
        for file in sorted((photos / "classes" / name).iterdir())[:5]:
            place = folder / ("more" if name == "green" else "") / f"{name if name == 'blue' else 'x'}{file.name}"
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
    shutil.copy(photos / "broken.png", folder)
    return folder


def files(folder: Path) -> Counter[bytes]:
    return Counter(each.read_bytes() for each in folder.rglob("*.png"))


@pytest.mark.parametrize("how", ["copy", "link", "move"])
def test_files_are_sorted_by_verdict_and_unsort_moves_them_back(
    corel: Corel, gallery: Path, mixed: Path, tmp_path: Path, how: str
) -> None:
    before, into = files(mixed), tmp_path / "sorted"
    verdicts = [json.loads(line) for line in corel("score", gallery, mixed, "--format", "jsonl").stdout.splitlines()]
    readable = [each for each in verdicts if each["verdict"] != "unreadable"]
    expected = Counter(each["classes"][0] if each["verdict"] == "known" else each["verdict"] for each in readable)
    shown = corel("sort", gallery, mixed, "--into", into, "--how", how)
    assert "broken.png" in shown.stderr
    assert Counter(each.parent.name for each in into.rglob("*.png")) == expected
    assert sum(files(mixed).values()) == (1 if how == "move" else 16)
    again = corel("sort", gallery, mixed, "--into", into, "--how", how)
    assert "15 images sorted before" in again.stdout
    assert Counter(each.parent.name for each in into.rglob("*.png")) == expected
    corel("unsort", into / "corel-sort.jsonl")
    assert files(mixed) == before
    assert not list(into.iterdir())


def test_sorting_says_that_a_class_is_too_small_to_be_ruled_out(
    corel: Corel, mixed: Path, photos: Path, backbone_file: Path, tmp_path: Path
) -> None:
    corel("enroll", tmp_path / "few", "blue", photos / "classes" / "blue", "--backbone", backbone_file)
    shown = corel("sort", tmp_path / "few", mixed, "--into", tmp_path / "sorted", "--how", "copy")
    assert "blue: too few exemplars to be ruled out at a rate of 0.05; 19 are needed" in shown.stderr


def test_names_that_are_taken_get_a_number(corel: Corel, gallery: Path, mixed: Path, tmp_path: Path) -> None:
    for name in ("red", "green", "stranger", "unsure"):
        (tmp_path / "sorted" / name).mkdir(parents=True)
        (tmp_path / "sorted" / name / "x00.png").write_bytes(b"of the user")
    corel("sort", gallery, mixed, "--into", tmp_path / "sorted", "--how", "move")
    assert files(tmp_path / "sorted")[b"of the user"] == 4
    assert [each.read_bytes() for each in tmp_path.glob("sorted/*/x00.png")] == [b"of the user"] * 4
    assert list((tmp_path / "sorted").glob("*/x00-2.png"))


def test_a_photo_that_disappears_after_it_was_scored_is_named_and_the_others_are_sorted(
    corel: Corel, gallery: Path, mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score, gone = Gallery.score_batches, mixed / "more" / "x00.png"

    def score_and_remove(*arguments: Any, **options: Any) -> Iterator[Scores]:
        for scores in score(*arguments, **options):
            gone.unlink(missing_ok=True)
            yield scores

    monkeypatch.setattr(Gallery, "score_batches", score_and_remove)
    said = corel("sort", gallery, mixed, "--into", tmp_path / "sorted", "--how", "copy").stderr
    assert "No such file" in said
    assert "x00.png" in said
    assert sum(files(tmp_path / "sorted").values()) == 14


def test_a_class_folder_that_is_a_link_out_is_not_sorted_into(
    corel: Corel, gallery: Path, mixed: Path, tmp_path: Path
) -> None:
    into, outside = tmp_path / "sorted", tmp_path / "outside"
    for folder in (into, outside):
        folder.mkdir()
    for name in ("red", "green", "stranger", "unsure"):
        (into / name).symlink_to(outside)
    said = corel("sort", gallery, mixed, "--into", into, "--how", "copy", exits=1).stderr  # nothing was sorted
    assert "leads out of" in said
    assert not list(outside.iterdir())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sort", "GALLERY", "MIXED", "--into", "SORTED"], "--how"),
        (["sort", "GALLERY", "MIXED/more", "--into", "MIXED", "--how", "copy"], "lies; name another folder"),
        (["sort", "GALLERY", "MIXED", "--into", "MIXED", "--how", "copy"], "lies; name another folder"),
        (["sort", "GALLERY", "NONE", "--into", "SORTED", "--how", "copy"], "NONE"),
        (["unsort", "SORTED/none"], "there is no undo list"),
        (["unsort", "MIXED/broken.png"], "name the one"),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(
    corel: Corel, gallery: Path, mixed: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    before, places = files(mixed), {"GALLERY": gallery, "MIXED": mixed, "SORTED": tmp_path / "sorted"}
    parts = [word.partition("/") for word in arguments]
    words = [f"{places.get(first, first)}{slash}{rest}" for first, slash, rest in parts]
    assert sentence in corel(*words, exits=2).stderr
    assert files(mixed) == before


def test_a_folder_below_the_one_that_is_sorted(corel: Corel, gallery: Path, mixed: Path) -> None:
    before = files(mixed)
    corel("sort", gallery, mixed, "--into", mixed / "sorted", "--how", "copy")
    assert (
        "15 images sorted before" in corel("sort", gallery, mixed, "--into", mixed / "sorted", "--how", "copy").stdout
    )
    corel("unsort", mixed / "sorted" / "corel-sort.jsonl")
    assert files(mixed) == before


def test_kills_at_random_moments_lose_and_repeat_nothing(gallery: Path, photos: Path, tmp_path: Path) -> None:
    moments, into, folder = random.Random(0), tmp_path / "sorted", tmp_path / "many"
    shutil.copytree(photos / "classes", folder)
    before = files(folder)
    paths = (str(gallery), str(folder), str(into), str(moments.randrange(1000)))
    command = [sys.executable, "-m", "tests.cli.forked_sort", *paths]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[2])
    kills = json.loads(result.stdout)
    assert [each["exit"] for each in kills].count(-signal.SIGKILL) >= 4
    assert all(each["sound"] for each in kills)
    assert files(folder) == before
    assert not list(into.iterdir())
