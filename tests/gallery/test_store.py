"""The gallery's file: what is written is read back, what is damaged or foreign is refused with a sentence."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corel.gallery import _checksums, _file
from corel.gallery._exemplar import BackboneReference, Exemplar
from corel.gallery._names import check_name, unknown_class
from corel.gallery._store import Store

REFERENCE = BackboneReference("a", "0123456789abcdef", 4)


def exemplar(name: str, number: int) -> Exemplar:
    latent = np.full(4, number, np.float32)
    return Exemplar(name, f"{number:064x}", f"{number}.png", "2020-01-01T00:00:00+00:00", latent, b"png %d" % number)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "an odd?#%name.gallery"
    store = Store(path, create=True)
    assert store.add(REFERENCE, [exemplar("cat", i) for i in range(50)] + [exemplar("dog", 1)]) == [True] * 51
    store.close()
    return path


@pytest.mark.parametrize("create", [False, True])
def test_written_exemplars_are_read_back(path: Path, create: bool) -> None:
    store = Store(path, create=create)
    assert store.reference == REFERENCE
    assert store.counts() == {"cat": 50, "dog": 1}
    first, *_ = store.exemplars("cat")
    np.testing.assert_array_equal(first.latent, exemplar("cat", 0).latent)
    assert (first.hash, first.source, first.thumbnail) == (f"{0:064x}", "0.png", b"png 0")
    found = store.changes(())
    assert [(name, len(keys)) for name, keys in found.keys.items()] == [("cat", 50), ("dog", 1)]
    latents = np.stack([latent for latent, _ in found.new.values()])
    assert latents.dtype == np.float32
    np.testing.assert_array_equal(latents[:, 0], [*range(50), 1])
    store.close()


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "clear"]), st.sampled_from("ab"), st.integers(0, 5))))
def test_random_changes_agree_with_a_dictionary(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, str, int]]
) -> None:
    store = Store(tmp_path_factory.mktemp("gallery") / "g", create=True)
    model: dict[tuple[str, int], None] = {}
    for change, name, number in changes:
        if change == "add":
            assert store.add(REFERENCE, [exemplar(name, number)]) == [(name, number) not in model]
            model.setdefault((name, number))
        elif change == "remove":
            assert store.remove(name, [f"{number:064x}"]) == ((name, number) in model)
            model.pop((name, number), None)
        else:
            assert store.remove(name) == sum(key[0] == name for key in model)
            model = {key: None for key in model if key[0] != name}
    for name in "ab":
        kept = [int(each.latent[0]) for each in store.exemplars(name)]
        assert kept == [number for key, number in model if key == name]  # in the order of enrollment
    store.close()


def test_an_error_in_the_middle_adds_nothing(path: Path) -> None:
    store = Store(path, create=False)

    def failing() -> object:
        yield exemplar("bird", 1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add(REFERENCE, failing())  # type: ignore[arg-type]
    assert store.counts() == {"cat": 50, "dog": 1}
    store.close()


def test_the_version_changes_with_every_change_and_only_then(path: Path) -> None:
    mine, other = Store(path, create=False), Store(path, create=False)
    seen = mine.version()
    assert mine.version() == seen
    other.remove("dog")
    assert mine.version() != seen
    seen = mine.version()
    mine.remove("cat")
    assert mine.version() != seen
    mine.close()
    other.close()


def test_forgotten_exemplars_are_overwritten_in_the_file(path: Path) -> None:
    assert b"png 17" in path.read_bytes()
    store = Store(path, create=False)
    store.remove("cat", [f"{17:064x}"])
    store.close()
    content = path.read_bytes()
    assert b"png 17" not in content
    assert b"png 18" in content
    assert exemplar("cat", 17).latent.tobytes() not in content


def test_a_new_gallery_appears_with_its_first_exemplars(tmp_path: Path) -> None:
    store = Store(tmp_path / "new", create=True)
    assert store.counts() == {}
    assert store.remove("cat") == 0
    assert not (tmp_path / "new").exists()
    store.add(REFERENCE, [exemplar("cat", 1)])
    assert (tmp_path / "new").exists()
    store.close()


def test_an_empty_file_is_a_gallery_without_classes(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(ValueError, match="empty is empty; enroll a class into it, or restore a copy"):
        Store(tmp_path / "empty", create=False)
    store = Store(tmp_path / "empty", create=True)
    assert store.reference is None
    assert store.counts() == {}
    assert store.add(REFERENCE, [exemplar("cat", 1)]) == [True]
    store.close()


@pytest.mark.parametrize("there", [False, True])
def test_a_gallery_that_cannot_be_created_leaves_no_file(tmp_path: Path, there: bool) -> None:
    def failing() -> Iterator[Exemplar]:
        yield exemplar("cat", 1)
        raise KeyboardInterrupt

    path = tmp_path / "g"
    if there:
        path.touch()
    store = Store(path, create=True)
    with pytest.raises(KeyboardInterrupt):
        store.add(REFERENCE, failing())
    assert not list(tmp_path.iterdir())
    assert store.add(REFERENCE, [exemplar("cat", 1)]) == [True]
    store.close()


@pytest.mark.parametrize("size", [1, 100, 511, 512])
def test_a_truncated_gallery_is_not_taken_for_an_empty_one(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"cut short|not a gallery|malformed"):
        Store(path, create=True)


def test_two_processes_creating_one_gallery_must_use_the_same_backbone(tmp_path: Path) -> None:
    mine, other = Store(tmp_path / "g", create=True), Store(tmp_path / "g", create=True)
    other.add(REFERENCE, [exemplar("cat", 1)])
    with pytest.raises(ValueError, match=r"backbone is b \(ffff\), but .* was made with a \(0123456789ab\)"):
        mine.add(BackboneReference("b", "ffff", 4), [exemplar("cat", 2)])
    assert mine.add(REFERENCE, [exemplar("cat", 2)]) == [True]
    assert other.counts() == {"cat": 2}
    mine.close()
    other.close()


def _sql(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.commit()
        connection.close()

    return change


def _sealed(statement: str) -> Callable[[Path], None]:
    """Change the file and its checksums, as a stranger can who reads this program."""

    def change(path: Path) -> None:
        _sql(statement)(path)
        connection = sqlite3.connect(path)
        _checksums.seal_rows(connection)
        _checksums.seal_list(connection)
        connection.commit()
        connection.close()

    return change


def _overwrite(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 + 64 : -64] = b"\xff" * len(content[4096 + 64 : -64])
    path.write_bytes(content)


def _hide_a_trigger(path: Path) -> None:
    """Add a trigger with a table's name and list it before that table, where a dictionary by name would lose it."""
    connection = sqlite3.connect(path)
    connection.executescript(f"""
        CREATE TEMP TABLE kept AS SELECT * FROM backbone;
        DROP TABLE backbone;
        CREATE TRIGGER backbone BEFORE DELETE ON exemplar BEGIN SELECT RAISE(IGNORE); END;
        {_file.STEPS[1][0]};
        INSERT INTO backbone SELECT * FROM kept;
    """)
    connection.close()


NOT_FINITE = np.array([1, 2, np.nan, 4], "<f4").tobytes().hex()
DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (
        lambda path: path.write_text("not a database, but long enough to be one" * 100),
        "not a gallery",
    ),
    "another program": (_sql("PRAGMA application_id = 7"), "another program"),
    "newer": (_sql("PRAGMA user_version = 4"), "newer corel; run `pip install --upgrade corel`"),
    "cut short": (lambda path: path.write_bytes(path.read_bytes()[:-4096]), "malformed|cut short"),
    "cut in a page": (lambda path: path.write_bytes(path.read_bytes()[:-100]), "cut short"),
    "overwritten": (_overwrite, "damaged"),
    "trigger": (
        _sql("CREATE TRIGGER t AFTER DELETE ON exemplar BEGIN SELECT 1; END"),
        "tables are not those",
    ),
    "trigger with a table's name": (_hide_a_trigger, "tables are not those"),
    "view": (_sql("CREATE VIEW more AS SELECT * FROM exemplar"), "tables are not those"),
    "index": (_sql("CREATE INDEX more ON exemplar (source)"), "tables are not those"),
    "write-ahead log": (_sql("PRAGMA journal_mode = WAL"), "write-ahead log, which a gallery never does"),
    "log beside it": (
        lambda path: path.with_name(path.name + "-wal").write_bytes(b"frames"),
        "write-ahead log, which a gallery never does",
    ),
    "pipe as a journal": (
        lambda path: os.mkfifo(path.with_name(path.name + "-journal")),
        "is a pipe, not a file",
    ),
    "column": (_sql("ALTER TABLE exemplar ADD COLUMN more TEXT"), "tables are not those"),
    "two backbones": (_sealed("INSERT INTO backbone VALUES ('b', 'c', 3)"), "does not name one backbone"),
    "no dimension": (_sealed("UPDATE backbone SET dimension = 'x'"), "does not name one backbone"),
    "long latent": (_sealed("UPDATE exemplar SET latent = zeroblob(20) WHERE id = 7"), "does not have 4 values"),
    "text latent": (_sealed("UPDATE exemplar SET latent = 'x' WHERE id = 7"), "does not have 4 values"),
    "not finite": (_sealed(f"UPDATE exemplar SET latent = x'{NOT_FINITE}' WHERE id = 7"), "not finite"),
    "escape codes": (_sealed("UPDATE exemplar SET class = char(27) || '[2J' WHERE id = 7"), "impossible name"),
    "another latent": (
        _sql("UPDATE exemplar SET latent = zeroblob(16) WHERE id = 7"),
        "'cat' does not match its checksum",
    ),
    "another name": (_sql("UPDATE exemplar SET source = 'x' WHERE id = 7"), "'cat' does not match its checksum"),
    "another picture": (_sql("UPDATE exemplar SET thumbnail = NULL WHERE id = 7"), "'cat' does not match its checksum"),
    "another class": (_sql("UPDATE exemplar SET class = 'dog' WHERE id = 7"), "list of exemplars does not match"),
    "one less": (_sql("DELETE FROM exemplar WHERE id = 7"), "list of exemplars does not match"),
    "another setting": (_sql("INSERT INTO setting VALUES ('method', '1')"), "list of exemplars does not match"),
    "another backbone": (_sql("UPDATE backbone SET name = 'b'"), "list of exemplars does not match"),
    "no checksum": (_sql("DELETE FROM checksum WHERE id = 7"), "list of exemplars does not match"),
    "no change": (_sql("DELETE FROM change"), "list of exemplars does not match"),
    "number as name": (_sealed("UPDATE exemplar SET class = x'00' WHERE id = 7"), "impossible name"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_that_is_not_a_whole_gallery_is_refused_with_a_clear_error(path: Path, damage: str) -> None:
    change, sentence = DAMAGE[damage]
    change(path)

    def read() -> None:
        store = Store(path, create=False)
        try:
            store.changes(())
        finally:
            store.close()

    with pytest.raises(ValueError, match=sentence):
        read()


def _journal_that_deletes(victim: Path, pages: int) -> bytes:
    """Write a rollback journal without pages that names `victim` as its super-journal (SQLite's file format)."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(victim)
    head = magic + struct.pack(">IIIII", 0, 0, pages, 512, 4096)
    return head.ljust(512, b"\0") + bytes(4) + name + struct.pack(">II", len(name), sum(name)) + magic


@pytest.mark.parametrize("by_link", [False, True])
def test_a_journal_cannot_make_sqlite_delete_another_file(path: Path, tmp_path: Path, by_link: bool) -> None:
    victim, journal = tmp_path / "victim", path.with_name(path.name + "-journal")
    victim.write_text("precious")
    content = _journal_that_deletes(victim, path.stat().st_size // 4096)
    journal.write_bytes(content)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(ValueError, match="names another file for SQLite to delete"):
        Store(tmp_path / "link" if by_link else path, create=False)
    assert victim.read_text() == "precious"
    assert journal.read_bytes() == content
    _sql("SELECT * FROM exemplar")(path)
    assert not victim.exists()  # the journal is a real one: SQLite itself does as it asks


def test_places_that_cannot_hold_a_gallery(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no gallery"):
        Store(tmp_path / "missing", create=False)
    with pytest.raises(ValueError, match="not a file"):
        Store(tmp_path, create=True)
    with pytest.raises(FileNotFoundError, match="no folder"):
        Store(tmp_path / "missing" / "g", create=True)
    (tmp_path / "file").touch()
    with pytest.raises(FileNotFoundError, match="no folder"):
        Store(tmp_path / "file" / "g", create=True)


def test_a_gallery_that_cannot_be_written_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As a read-only file system behaves; permission bits would not bind the superuser.
    monkeypatch.setattr(_file, "SETTINGS", ("PRAGMA query_only = ON",))
    store = Store(path, create=False)
    assert store.counts() == {"cat": 50, "dog": 1}
    with pytest.raises(PermissionError, match="cannot be written"):
        store.remove("cat")
    store.close()


def test_waiting_for_a_stuck_writer_ends_with_a_clear_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_file, "BUSY_SECONDS", 0.05)
    stuck = sqlite3.connect(path, isolation_level=None)
    stuck.execute("BEGIN IMMEDIATE")
    store = Store(path, create=False)
    assert store.counts() == {"cat": 50, "dog": 1}  # readers are not held up
    with pytest.raises(TimeoutError, match="another process"):
        store.remove("cat")
    stuck.execute("ROLLBACK")
    assert store.remove("cat") == 50
    store.close()
    stuck.close()


def _add_forty(path: Path, first: int) -> None:
    for number in range(first, first + 40):
        store = Store(path, create=True)
        store.add(REFERENCE, [exemplar("cat", number)])
        store.close()


def test_two_processes_that_create_and_write_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add_forty, args=(tmp_path / "g", first)) for first in (0, 20)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    store = Store(tmp_path / "g", create=False)
    assert sorted(int(each.latent[0]) for each in store.exemplars("cat")) == list(range(60))
    store.close()


@pytest.mark.parametrize("name", ["cat", "big cat", "Katze (jung)", "猫", "a" * 100, "..."])
def test_names(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name", ["", " ", " cat", "cat\n", "a/b", "..\\b", "\x1b[2J", "a" * 101, "a" * 10_000, "\udcff"]
)
def test_impossible_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="class") as error:
        check_name(name)
    assert len(str(error.value)) < 200


def test_an_unknown_class_suggests_the_nearest() -> None:
    assert "did you mean 'zebra'?" in str(unknown_class("zbera", ["cat", "zebra"]))
    assert "holds cat, zebra" in str(unknown_class("xyz", ["cat", "zebra"]))
    assert "enroll one first" in str(unknown_class("cat", []))
