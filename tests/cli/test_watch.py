"""`corel watch`: each file once, across restarts and kills; commands without a shell; an alarm that stays."""

from __future__ import annotations

import csv
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from corel._io import lines
from corel.gallery import Gallery
from corel.watching import Row, Watch, _journal, watch

from .conftest import Corel, hue

ONCE = ("--once", "--settle", 0, "--seed", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "incoming").mkdir()
    return tmp_path / "incoming"


def put(folder: Path, channel: int, count: int, seed: int, name: str = "") -> list[str]:
    names = [f"{name or seed}-{i}.png" for i in range(count)]
    for file, pixels in zip(names, hue(channel, count, seed), strict=True):
        Image.fromarray(pixels).save(folder / file)
    return names


def rows(out: Path) -> list[dict[str, Any]]:
    if out.suffix == ".csv":
        return list(csv.DictReader(out.read_text().splitlines()))
    return [json.loads(line) for line in out.read_text().splitlines()]


def names(out: Path) -> list[str]:
    return [Path(each["image"]).name for each in rows(out)]


@pytest.mark.parametrize("style", ["csv", "jsonl"])
def test_each_file_is_scored_once_also_after_a_restart(
    corel: Corel, gallery: Path, folder: Path, tmp_path: Path, style: str
) -> None:
    out = tmp_path / f"rows.{style}"
    first = put(folder, 0, 5, 100)
    (folder / "broken.png").write_text("not an image")
    corel("watch", gallery, folder, "--out", out, *ONCE)
    assert sorted(names(out)) == sorted([*first, "broken.png"])
    corel("watch", gallery, folder, "--out", out, *ONCE)
    second = put(folder, 1, 3, 101)
    shown = corel("watch", gallery, folder, "--out", out, *ONCE).stdout
    assert len(shown.splitlines()) == 3
    assert sorted(names(out)) == sorted([*first, "broken.png", *second])
    assert {each["verdict"] for each in rows(out) if each["image"].endswith("broken.png")} == {"unreadable"}
    put(folder, 0, 1, 102, "100")  # another picture under a name that was there
    corel("watch", gallery, folder, "--out", out, *ONCE)
    assert len(rows(out)) == 10


@pytest.mark.parametrize("name", ["=cmd()", "＝1+1", "@x", "-1"])
def test_a_class_whose_name_begins_like_a_formula_is_text_in_the_table(
    corel: Corel, photos: Path, backbone_file: Path, folder: Path, tmp_path: Path, name: str
) -> None:
    gallery, out = tmp_path / "formulas.gallery", tmp_path / "rows.csv"
    corel("enroll", gallery, "--backbone", backbone_file, "--", name, photos / "classes" / "red")
    put(folder, 0, 2, 100)
    corel("watch", gallery, folder, "--out", out, *ONCE)
    assert {each["likeliest"] for each in rows(out)} == {f"'{name}"}
    assert {each["classes"] for each in rows(out)} <= {f"'{name}", ""}


def test_an_image_in_several_classes_counts_once(
    corel: Corel, photos: Path, backbone_file: Path, folder: Path, tmp_path: Path
) -> None:
    gallery, out = tmp_path / "same.gallery", tmp_path / "rows.csv"
    for name in "abcd":
        corel("enroll", gallery, name, photos / "classes" / "blue", "--backbone", backbone_file)
    put(folder, 2, 2, 100)
    corel("watch", gallery, folder, "--out", out, *ONCE)
    assert len(rows(out)) == 2
    corel("select", gallery, folder)


def test_a_gallery_of_one_image_in_two_classes_cannot_watch(
    corel: Corel, photos: Path, backbone_file: Path, folder: Path, tmp_path: Path
) -> None:
    gallery, one = tmp_path / "one.gallery", next((photos / "classes" / "blue").iterdir())
    for name in "ab":
        corel("enroll", gallery, name, one, "--backbone", backbone_file)
    said = corel("watch", gallery, folder, "--out", tmp_path / "rows.csv", *ONCE, exits=2).stderr
    assert "GALLERY must hold two different exemplars or more" in said


def test_verdicts_are_those_of_score(corel: Corel, gallery: Path, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    for channel in range(3):
        put(folder, channel, 4, 110 + channel)
    corel("watch", gallery, folder, "--out", out, *ONCE)
    scored = [json.loads(line) for line in corel("score", gallery, folder, "--format", "jsonl").stdout.splitlines()]
    keys = ("verdict", "classes", "p_value")
    expected = {Path(each["image"]).name: [each[key] for key in keys] for each in scored}
    assert {Path(each["image"]).name: [each[key] for key in keys] for each in rows(out)} == expected


def test_restarts_do_not_change_the_drift_test(corel: Corel, gallery: Path, folder: Path, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    for seed in range(3):
        put(folder, seed % 2, 4, 120 + seed)
        corel("watch", gallery, folder, "--out", parts, *ONCE)
        time.sleep(0.01)  # so that file times tell the order
    corel("watch", gallery, folder, "--out", whole, *ONCE)
    assert [strip(each) for each in rows(parts)] == [strip(each) for each in rows(whole)]


def strip(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "time"}


def test_an_alarm_is_raised_once_and_stays(corel: Corel, gallery: Path, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    put(folder, 0, 10, 130)
    assert corel("watch", gallery, folder, "--out", out, *ONCE).stderr == ""
    put(folder, 2, 30, 131)
    assert "alarm" in corel("watch", gallery, folder, "--out", out, *ONCE, "--fail-on-alarm", exits=1).stderr
    assert rows(out)[-1]["alarm"]
    assert not rows(out)[9]["alarm"]
    put(folder, 0, 1, 132)
    assert corel("watch", gallery, folder, "--out", out, *ONCE).stderr == ""
    assert rows(out)[-1]["alarm"]


def test_a_changed_gallery_begins_another_test_at_a_lower_level(
    corel: Corel, gallery: Path, photos: Path, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "rows.jsonl"
    put(folder, 0, 3, 140)
    corel("watch", gallery, folder, "--out", out, *ONCE)
    corel("enroll", gallery, "blue", photos / "classes" / "blue")
    put(folder, 0, 3, 141)
    with Gallery.open(gallery) as opened, watch(opened, folder, out, settle=0) as watcher:
        assert len([row for batch in watcher.look() for row in batch]) == 3
        assert watcher.journal.tests == 2
        assert watcher.limit == pytest.approx(600)
        assert len(watcher.journal.scores) == 3


def test_exemplars_are_not_bet_on(corel: Corel, gallery: Path, photos: Path, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    shutil.copy(photos / "classes" / "red" / "00.png", folder)
    corel("watch", gallery, folder, "--out", out, *ONCE)
    (row,) = rows(out)
    assert (row["online_p_value"], row["note"]) == (None, "already enrolled as red")


def test_no_shell_sees_a_file_s_name(corel: Corel, gallery: Path, folder: Path, tmp_path: Path) -> None:
    log, script = tmp_path / "log", tmp_path / "note it"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$1" "$2" >> {log}\n')
    script.chmod(0o755)
    (name,) = put(folder, 2, 1, 150, "-rf $(touch hacked); `touch hacked` 'x")
    put(folder, 0, 2, 151)
    command = f"'{script}' --flag"
    corel("watch", gallery, folder, "--out", tmp_path / "r.csv", *ONCE, "--on-stranger", command)
    assert log.read_text().splitlines() == ["2", "--flag", str(folder / name)]
    assert not list(tmp_path.rglob("hacked"))
    corel("watch", gallery, folder, "--out", tmp_path / "r.csv", *ONCE, "--on-stranger", command)
    assert len(log.read_text().splitlines()) == 3


def test_a_file_that_still_grows_is_left_for_later(gallery: Path, folder: Path, tmp_path: Path) -> None:
    with Gallery.open(gallery) as opened, watch(opened, folder, tmp_path / "r.csv", settle=0.2) as watcher:
        (name,) = put(folder, 0, 1, 160)
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:50])
        assert not list(watcher.look())
        time.sleep(0.25)
        (folder / name).write_bytes(content)
        assert not list(watcher.look())
        time.sleep(0.25)
        ((row,),) = watcher.look()
        assert row.verdict != "unreadable"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--out", "OUT/rows.txt"], "must be a .csv or a .jsonl file"),
        (["--out", "OUT/incoming"], "is a directory"),
        (["--out", "OUT/hues.gallery"], "would replace"),
        (["--out", "OUT/other.csv"], "is not the state of a watch"),
        ([], "--out"),
    ],
)
def test_bad_input_is_one_sentence(
    corel: Corel, gallery: Path, folder: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    (tmp_path / "other.csv.state").write_text('{"a": 1}\n')
    words = [each.replace("OUT", str(tmp_path)) for each in arguments]
    assert sentence in corel("watch", gallery, folder, *words, *ONCE, exits=2).stderr


def test_a_failing_command_is_reported_and_the_watch_continues(
    corel: Corel, gallery: Path, folder: Path, tmp_path: Path
) -> None:
    put(folder, 2, 2, 155)
    command = ("watch", gallery, folder, "--out", tmp_path / "r.jsonl", *ONCE, "--on-stranger")
    assert "--on-stranger cannot be split into words" in corel(*command, "'open", exits=2).stderr
    assert "--on-stranger begins with 'no-such-program'" in corel(*command, "no-such-program", exits=2).stderr
    with pytest.warns(UserWarning, match="false ended with 1 for"):
        corel(*command, "false")
    assert len(rows(tmp_path / "r.jsonl")) == 2


def test_files_that_come_while_it_runs_and_an_interruption(gallery: Path, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    options = ["--out", str(out), "--settle", "0.1", "--every", "0.1", "--quiet"]
    put(folder, 0, 1, 190)
    command = [sys.executable, "-m", "corel", "watch", str(gallery), str(folder), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible) as process:
        for count in (1, 3):
            while process.poll() is None and (not out.exists() or len(rows(out)) < count):
                time.sleep(0.05)
            put(folder, 0, 2, 191)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 0
    assert len(rows(out)) >= 3


def interruptible() -> None:
    """A program that was started in the background ignores Ctrl-C, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    "change",
    [
        {"rows": [[1]]},
        {"files": [[1]]},
        {"files": 1},
        {"log_bets": ["a"]},
        {"scores": [None]},
        {"start": "a"},
        {"rows": {}},
    ],
)
def test_a_state_with_other_values_is_refused(
    corel: Corel, gallery: Path, folder: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    out, state = tmp_path / "r.csv", tmp_path / "r.csv.state"
    put(folder, 0, 1, 195)
    corel("watch", gallery, folder, "--out", out, *ONCE)
    lines = [json.loads(line) for line in state.read_text().splitlines()]
    state.write_text("".join(json.dumps(each | change if "rows" in each else each) + "\n" for each in lines))
    assert "is not the state of a watch" in corel("watch", gallery, folder, "--out", out, *ONCE, exits=2).stderr


def test_two_watches_with_one_state_are_refused(gallery: Path, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.csv"
    with (
        Gallery.open(gallery) as opened,
        watch(opened, folder, out),
        pytest.raises(ValueError, match="another process"),
        watch(opened, folder, out),
    ):
        pass


def test_rows_cut_off_by_a_kill_are_completed(corel: Corel, gallery: Path, folder: Path, tmp_path: Path) -> None:
    for style in ("csv", "jsonl"):
        out = tmp_path / f"rows.{style}"
        put(folder, 0, 4, 170)
        corel("watch", gallery, folder, "--out", out, *ONCE)
        whole = out.read_bytes()
        for size in np.linspace(0, len(whole), 5).astype(int).tolist():
            out.write_bytes(whole[:size])
            corel("watch", gallery, folder, "--out", out, *ONCE)
            assert out.read_bytes() == whole
        out.unlink()
        corel("watch", gallery, folder, "--out", out, *ONCE)
        assert out.read_bytes() == whole


def full_once(write: Callable[[Path, Any], None], *, when: Callable[[Path, Any], bool]) -> Callable[[Path, Any], None]:
    """Write as `write` does, but a half and with an error, as on a full disk, the first three times it applies."""
    left = iter(range(3))

    def write_or_raise(path: Path, content: Any) -> None:
        if when(path, content) and next(left, None) is not None:
            write(path, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, content)

    return write_or_raise


def is_out(path: Path, content: str) -> bool:
    return path.suffix in (".csv", ".jsonl")


def looked(watcher: Watch) -> list[Row]:
    """Give the rows of a look, none if the disk was full."""
    with suppress(OSError):
        return [row for batch in watcher.look() for row in batch]
    return []


@pytest.mark.parametrize("style", ["csv", "jsonl"])
def test_rows_that_a_full_disk_cut_off_are_completed_by_the_same_watch(
    gallery: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    out, first = tmp_path / f"rows.{style}", put(folder, 0, 4, 175)
    monkeypatch.setattr(_journal, "append_text", full_once(lines.append_text, when=is_out))
    with Gallery.open(gallery) as opened, watch(opened, folder, out, settle=0) as watcher:
        assert [looked(watcher) for _ in range(3)] == [[], [], []]
        second = put(folder, 0, 2, 176)
        assert len(looked(watcher)) == 2
    assert sorted(names(out)) == sorted([*first, *second])


def test_rows_that_a_full_disk_cut_off_need_no_new_image(
    gallery: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, first = tmp_path / "rows.csv", put(folder, 0, 4, 175)
    monkeypatch.setattr(_journal, "append_text", full_once(lines.append_text, when=is_out))
    with Gallery.open(gallery) as opened, watch(opened, folder, out, settle=0) as watcher:
        assert [looked(watcher) for _ in range(4)] == [[], [], [], []]
        assert sorted(names(out)) == sorted(first)


def test_rows_that_were_moved_away_are_not_written_again(gallery: Path, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    with Gallery.open(gallery) as opened, watch(opened, folder, out, settle=0) as watcher:
        for seed in (177, 178):
            added = put(folder, 0, 2, seed)
            looked(watcher)
            assert sorted(names(out)) == sorted(added)
            out.rename(tmp_path / f"{seed}.csv")


def test_images_whose_state_was_not_written_are_bet_on_once(
    gallery: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, 0, 4, 175)
    full, whole = tmp_path / "full.jsonl", tmp_path / "whole.jsonl"
    with Gallery.open(gallery) as opened, watch(opened, folder, whole, settle=0, seed=0) as watcher:
        looked(watcher)
    refused = full_once(lines.append_lines, when=lambda _, batch: "files" in batch[0])
    monkeypatch.setattr(_journal, "append_lines", refused)
    with Gallery.open(gallery) as opened, watch(opened, folder, full, settle=0, seed=0) as watcher:
        assert [len(looked(watcher)) for _ in range(4)] == [0, 0, 0, 4]
    assert [strip(each) for each in rows(full)] == [strip(each) for each in rows(whole)]


def test_kills_at_random_moments_lose_and_repeat_nothing(gallery: Path, folder: Path, tmp_path: Path) -> None:
    staged = tmp_path / "staged"
    staged.mkdir()
    for seed, channel in enumerate((0, 2, 1)):
        put(staged, channel, 4, 180 + seed)
    command = [sys.executable, "-m", "tests.cli.forked_watch", str(gallery), str(staged), str(folder), str(tmp_path)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[2])
    exits = json.loads(result.stdout)
    assert exits.count(-signal.SIGKILL) >= 2
    assert exits[-1] == 0
    out, whole = tmp_path / "killed.jsonl", tmp_path / "whole.jsonl"
    assert sorted(names(out)) == sorted(each.name for each in staged.iterdir())
    assert [strip(each) for each in rows(out)] == [strip(each) for each in rows(whole)]
    strangers = {each["image"] for each in rows(out) if each["verdict"] == "stranger"}
    assert set((tmp_path / "log").read_text().splitlines()) == strangers


@pytest.mark.parametrize(("name", "content"), [("x.csv", "image,verdict\na,known\n"), ("x.jsonl", '{"image": "a"}\n')])
def test_rows_are_appended_to_those_of_a_watch_only(
    corel: Corel, gallery: Path, folder: Path, tmp_path: Path, name: str, content: str
) -> None:
    out = tmp_path / name
    put(folder, 0, 2, 100)
    corel("watch", gallery, folder, "--out", out, *ONCE)
    for others in (out, tmp_path / f"new-{name}"):
        others.write_text(content)
        said = corel("watch", gallery, folder, "--out", others, *ONCE, exits=2).stderr
        assert "does not hold rows of a watch; name another --out" in said
        assert others.read_text() == content
