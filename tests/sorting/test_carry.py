"""Files change places whole and once: a kill at any change of the file system loses and overwrites nothing."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from corel.sorting import LIST, How, undo
from corel.sorting._carry import _temporary, carry_out, complete
from corel.sorting._plan import Record, folder_name, free_target, read_records, write_records

from .dying import run_and_die

NAMES = ("a.png", "b.png", "b.png")  # two folders hold a b.png


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Photos, and a folder that holds a b.png of its own."""
    for folder, name in zip(("one", "one", "two"), NAMES, strict=True):
        (tmp_path / "photos" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "photos" / folder / name).write_text(f"{folder} {name}")
    (tmp_path / "sorted" / "cat").mkdir(parents=True)
    (tmp_path / "sorted" / "cat" / "b.png").write_text("of the user")
    return tmp_path


def planned(place: Path, how: How) -> list[Record]:
    taken: set[Path] = set()
    files = sorted(each for each in (place / "photos").rglob("*.png"))
    target = (place / "sorted").resolve() / "cat"
    return [Record.of(how, each, free_target(target, each.name, taken)) for each in files]


def run(place: Path, how: How) -> None:
    """What a sort does to the files: finish what an earlier one began, plan, write the plan down, carry it out."""
    undo_list = (place / "sorted").resolve() / LIST
    before = read_records(undo_list)
    for record in before:
        complete(record)
    done = {each.source for each in before if how is not How.MOVE and os.path.lexists(each.target)}
    records = [each for each in planned(place, how) if each.source not in done]
    write_records(undo_list, records)
    assert not carry_out(records)


def contents(folder: Path) -> list[str]:
    return sorted(each.read_text() for each in folder.rglob("*.png"))


ALL = ["one a.png", "one b.png", "two b.png"]


@pytest.mark.parametrize("how", list(How))
def test_a_kill_at_any_change_then_a_rerun_then_an_undo(place: Path, how: How) -> None:
    for at in range(1000):
        lived = run_and_die(lambda: run(place, how), at)
        assert set(contents(place)) == {*ALL, "of the user"}, at
        assert (place / "sorted" / "cat" / "b.png").read_text() == "of the user"
        run(place, how)
        assert contents(place / "sorted") == ["of the user", *ALL]
        assert contents(place / "photos") == ([] if how is How.MOVE else ALL)
        undo(place / "sorted" / LIST)
        assert contents(place / "photos") == ALL
        assert contents(place / "sorted") == ["of the user"]
        assert [each.name for each in (place / "sorted").iterdir()] == ["cat"]
        if lived:
            break
    assert at > 10


@pytest.mark.parametrize("how", list(How))
def test_an_undo_that_is_killed_at_any_change_is_repeated(place: Path, how: How) -> None:
    for at in range(1000):
        run(place, how)
        lived = run_and_die(lambda: undo(place / "sorted" / LIST), at)
        assert set(contents(place)) == {*ALL, "of the user"}, at
        if (place / "sorted" / LIST).exists():
            assert not undo(place / "sorted" / LIST).left
        assert contents(place / "photos") == ALL
        assert contents(place / "sorted") == ["of the user"]
        if lived:
            break
    assert at > 3


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="another disk is found on Linux")
def test_a_move_to_another_disk_is_a_copy_that_is_checked(place: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        (place / "sorted").rename(place / "before")
        (place / "sorted").symlink_to(shutil.copytree(place / "before", Path(other) / "sorted"))
        if (place / "sorted").stat().st_dev == (place / "photos").stat().st_dev:
            pytest.skip("both are one disk")
        for at in range(0, 60, 3):
            run_and_die(lambda: run(place, How.MOVE), at)
            assert {*contents(place / "photos"), *contents(place / "sorted")} == {*ALL, "of the user"}, at
            run(place, How.MOVE)
            assert contents(place / "sorted") == ["of the user", *ALL]
            assert contents(place / "photos") == []
            assert not list((place / "sorted").rglob(".*.sorting"))
            undo(place / "sorted" / LIST)
            assert contents(place / "photos") == ALL


def test_nothing_is_overwritten_if_a_name_is_taken_meanwhile(place: Path) -> None:
    records = planned(place, How.MOVE)
    Path(records[0].target).write_text("came meanwhile")
    (left,) = carry_out(records)
    assert (left.path, Path(left.path).read_text()) == (records[0].source, "one a.png")
    assert Path(records[0].target).read_text() == "came meanwhile"
    assert contents(place / "photos") == ["one a.png"]


def test_a_file_that_cannot_be_removed_stays_under_its_old_name_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a locked card; the tests may run as root, whom no permission stops."""
    unlink = Path.unlink

    def locked(self: Path, missing_ok: bool = False) -> None:
        if self.parent == place / "photos" / "one":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", locked)
    records = planned(place, How.MOVE)
    write_records(place / "sorted" / LIST, records)
    for _ in range(2):  # the same command again makes no second copy
        left = [*carry_out(records)]
        assert [Path(each.path).name for each in left] == ["a.png", "b.png"]
        assert {each.reason for each in left} == {"stays: Read-only file system"}
        assert contents(place / "photos") == ["one a.png", "one b.png"]
        assert contents(place / "sorted") == ["of the user", "two b.png"]
        records = records[:2]
    assert undo(place / "sorted" / LIST).left == []
    assert contents(place / "photos") == ALL


def test_undo_leaves_changed_files_and_reports_them(place: Path) -> None:
    run(place, How.MOVE)
    (place / "sorted" / "cat" / "a.png").write_text("edited by the user")
    (place / "photos" / "one" / "b.png").write_text("a new file of this name")
    done = undo(place / "sorted" / LIST)
    assert sorted(Path(each.path).name for each in done.left) == ["a.png", "b-2.png"]
    assert contents(place / "photos") == ["a new file of this name", "two b.png"]
    assert contents(place / "sorted") == ["edited by the user", "of the user", "one b.png"]
    assert (place / "sorted" / LIST).exists()


def test_the_last_copy_is_not_removed(place: Path) -> None:
    run(place, How.COPY)
    (place / "photos" / "one" / "a.png").unlink()
    (left,) = undo(place / "sorted" / LIST).left
    assert Path(left.path).read_text() == "one a.png"


@pytest.mark.parametrize("name", ["..", ".", "stranger", "Unsure", "not a photograph", ".hidden", LIST])
def test_a_class_cannot_use_a_reserved_folder_name(name: str, tmp_path: Path) -> None:
    assert (tmp_path / folder_name(name)).resolve() == tmp_path / f"class {name}"


@pytest.mark.parametrize("content", ["not json\n", "no line", '{"a": 1}\n', "[1]\n", '"text"\n'])
def test_a_file_that_is_no_undo_list_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "list").write_text(content)
    with pytest.raises(ValueError, match=r"name (another|the one)"):
        undo(tmp_path / "list")
    assert (tmp_path / "list").read_text() == content


@pytest.mark.parametrize("target", ["elsewhere/a.png", "sorted/../a.png", "sorted"])
def test_a_list_cannot_name_files_outside_its_folder(place: Path, target: str) -> None:
    (place / "elsewhere").mkdir()
    (place / "elsewhere" / "a.png").write_text("one a.png")
    line = {"how": "copy", "source": str(place / "photos/one/a.png"), "target": str(place / target), "size": 9}
    (place / "sorted" / LIST).write_text(json.dumps({**line, "modified": 0}) + "\n")
    with pytest.raises(ValueError, match="name the one in the sorted folder"):
        undo(place / "sorted" / LIST)
    assert (place / "elsewhere" / "a.png").exists()


def paths(records: Sequence[Record]) -> list[str]:
    return [each.target for each in records]


def test_a_line_cut_off_by_a_kill_is_dropped(place: Path) -> None:
    records = planned(place, How.COPY)
    undo_list = place / "sorted" / LIST
    write_records(undo_list, records[:1])
    with undo_list.open("a") as file:
        file.write('{"how": "co')
    assert paths(read_records(undo_list)) == paths(records[:1])
    write_records(undo_list, records[1:])
    assert paths(read_records(undo_list)) == paths(records)


def undo_of_a_stranger(place: Path, source: Path, target: Path) -> list[str]:
    """Undo a list that says `source` was moved to `target`; gives what it says of files that stay."""
    found = target.stat()
    line = {"how": "move", "source": str(source), "target": str(target), "size": found.st_size}
    (place / "sorted" / LIST).write_text(json.dumps({**line, "modified": found.st_mtime_ns}) + "\n")
    return [each.reason for each in undo(place / "sorted" / LIST).left]


@pytest.fixture
def outside(place: Path) -> Path:
    (place / "outside" / "empty").mkdir(parents=True)
    (place / "outside" / "a.png").write_text("of the user")
    return place / "outside"


def test_undo_does_not_follow_a_link_out_of_its_folder(place: Path, outside: Path) -> None:
    (place / "sorted" / "link").symlink_to(outside)
    (reason,) = undo_of_a_stranger(place, place / "stolen.png", place / "sorted" / "link" / "a.png")
    assert "link" in reason
    assert sorted(each.name for each in outside.iterdir()) == ["a.png", "empty"]
    assert not (place / "stolen.png").exists()


def test_undo_does_not_follow_a_link_that_an_earlier_step_put_there(place: Path, outside: Path) -> None:
    folder, undo_list = place / "sorted", place / "sorted" / LIST
    (folder / "cat" / "link").symlink_to(outside)
    through = Record.of(How.MOVE, outside / "a.png", folder / "later" / "a.png")
    link = Record.of(How.MOVE, folder / "cat" / "link", folder / "cat" / "link")
    steps = [replace(through, source=str(place / "stolen.png")), replace(link, source=str(folder / "later"))]
    write_records(undo_list, steps)  # the last one is undone first: it makes `later` a link
    undo(undo_list)
    assert (outside / "a.png").exists()
    assert not (place / "stolen.png").exists()


def test_undo_removes_no_empty_folder_behind_a_link(place: Path, outside: Path) -> None:
    (place / "sorted" / "cat" / "b.png").unlink()
    (place / "sorted" / "cat").rmdir()
    run(place, How.COPY)
    shutil.rmtree(place / "sorted" / "cat")
    (place / "sorted" / "cat").symlink_to(outside / "empty")
    assert not undo(place / "sorted" / LIST).folders
    assert (outside / "empty").is_dir()


def test_a_link_within_the_folder_is_no_way_out(place: Path) -> None:
    run(place, How.MOVE)
    (place / "sorted" / "cat").rename(place / "sorted" / "lion")
    (place / "sorted" / "cat").symlink_to("lion")
    assert not undo(place / "sorted" / LIST).left
    assert contents(place / "photos") == ALL


def without_links(source: Path, target: Path, **_: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM), str(source), None, str(target))  # as exFAT does


def test_a_disk_without_hard_links_keeps_no_hidden_copies(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", without_links)
    left = carry_out(planned(place, How.COPY))
    assert len(left) == 3
    assert all("has no hard links" in each.reason for each in left)
    assert [each.name for each in (place / "sorted" / "cat").iterdir()] == ["b.png"]


def test_undo_removes_a_hidden_copy_that_a_killed_sort_left(place: Path) -> None:
    (record, *_) = records = planned(place, How.COPY)
    write_records(place / "sorted" / LIST, records)
    _temporary(Path(record.target)).write_text("half a copy")
    assert not undo(place / "sorted" / LIST).left
    assert [each.name for each in (place / "sorted").rglob("*")] == ["cat", "b.png"]


@pytest.mark.parametrize("way", ["a link to the file", "a link to its folder", "the file itself"])
def test_the_only_name_of_a_file_is_never_removed(place: Path, outside: Path, way: str) -> None:
    """A list from a stranger may say that a file was moved to a place that leads back to it."""
    link, victim = place / "sorted" / "link", outside / "a.png"
    if way == "a link to its folder":
        link.symlink_to(outside)
    else:
        link.symlink_to(victim)
    target = {"a link to the file": link, "a link to its folder": link / "a.png", "the file itself": victim}[way]
    complete(Record.of(How.MOVE, victim, target))
    assert victim.read_text() == "of the user"
