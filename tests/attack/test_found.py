"""What the attack has found, each as a test of its own."""

from __future__ import annotations

import io
import os
import signal
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, features
from safetensors.numpy import save_file

from corel import images
from corel.encoders import graph, resuming
from corel.gallery import Gallery
from corel.gallery._items import decoded_thumbnail
from corel.gallery._store import Store
from corel.images import _cache
from corel.images.known.cifar_pickle import unpickle
from corel.images.known.fashion_mnist import read_fashion_mnist
from corel.images.known.unpack import unpack
from tests.attack.foreign_files import _zipped
from tests.attack.own_files import _fill, _row, _with_row
from tests.attack.pictures import picture
from tests.encoders import small_graph


@pytest.mark.skipif(not features.check("avif"), reason="this Pillow reads no AVIF")
def test_an_avif_whose_frame_is_damaged_is_skipped(tmp_path: Path) -> None:
    content = picture("AVIF")
    (tmp_path / "bad.avif").write_bytes(content[:-40] + bytes(40))
    (tmp_path / "good.avif").write_bytes(content)
    found = images.open(tmp_path)
    assert [Path(each.path).name for each in found.skipped] == ["bad.avif"]
    assert len(found) == 1


def _before_the_beginning(archive: bytearray) -> None:
    place = archive.rfind(b"PK\5\6") + 16  # where the directory is said to begin
    archive[place : place + 4] = (10**6).to_bytes(4, "little")


def _without_a_name(archive: bytearray) -> None:
    archive[:] = archive.replace(b"folder/a.txt", b"\0older/a.txt")


@pytest.mark.parametrize("damage", [_before_the_beginning, _without_a_name])
def test_a_zip_with_damaged_entries_is_a_clear_error(tmp_path: Path, damage: object) -> None:
    content = bytearray(_zipped({"folder/a.txt": b"text" * 50}))
    damage(content)  # type: ignore[operator]
    (tmp_path / "a.zip").write_bytes(content)
    (tmp_path / "out").mkdir()
    with pytest.raises(ValueError, match=r"a\.zip is (damaged|not unpacked)"):
        unpack(tmp_path / "a.zip", tmp_path / "out", progress=False)
    assert not list((tmp_path / "out").iterdir())


def test_an_error_about_a_gzipped_file_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(b"\x1f\x8b\x08" + bytes(7) + b"\x03\0" + bytes(8))
    with pytest.raises(ValueError, match=r"train-images-idx3-ubyte\.gz is not a whole IDX file"):
        read_fashion_mnist(tmp_path, "train")


def test_a_schema_that_is_no_text_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "g"
    _fill(path)
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE change", b"CREATE TABLE chang\xff"))
    with pytest.raises(ValueError, match="g is damaged"):
        Store(path, create=False)


def test_a_deeply_nested_setting_is_a_clear_error(tmp_path: Path) -> None:
    deep = _row().replace(b"[2, 3]", b"[" * 100_000)
    (tmp_path / "g").write_bytes(_with_row(deep))
    store = Store(tmp_path / "g", create=False)
    with pytest.raises(ValueError, match="a setting cannot be read"):
        store.settings()
    store.close()


def test_a_deeply_nested_cache_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COREL_CACHE", str(tmp_path))
    (tmp_path / "images").mkdir()
    metadata = {"broken": "[" * 100_000, "digest": ""}
    save_file({"pixels": np.zeros((1, 4, 4, 3), np.uint8)}, tmp_path / "images" / "key.safetensors", metadata)
    assert _cache.load("key", 1, 4) is None


def test_a_gallery_emptied_by_a_journal_without_pages_is_refused(tmp_path: Path) -> None:
    """SQLite cuts the file down to what its journal says; an emptied one is refused, not listed as empty."""
    path = tmp_path / "g"
    _fill(path)
    journal = (
        bytes.fromhex("d9d505f920a163d7") + bytes(4 + 4 + 4) + (512).to_bytes(4, "big") + (4096).to_bytes(4, "big")
    )
    path.with_name("g-journal").write_bytes(journal.ljust(512, b"\0"))
    with pytest.raises(ValueError, match="g is empty; enroll a class into it, or restore a copy"):
        Gallery.open(path)


def test_a_pickle_that_asks_for_a_list_by_name_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "batch").write_bytes(b"\x80\x04]]\x93.")  # two empty lists, as a module and a name in it
    with pytest.raises(ValueError, match="batch is not a batch of CIFAR's python version: it asks for"):
        unpickle(tmp_path / "batch")


def test_a_graph_with_an_unreadable_name_is_a_clear_error() -> None:
    content = small_graph.content().replace(b"Relu", b"Rel\xff")
    with pytest.raises(ValueError, match=r"a\.onnx is (no|not a valid) ONNX graph"):
        graph.check(content, "a.onnx")


def test_a_thumbnail_of_many_pixels_is_not_decoded() -> None:
    file = io.BytesIO()
    Image.new("1", (5_000, 5_000)).save(file, "PNG")
    assert decoded_thumbnail(file.getvalue(), (32, 32)) is None


def test_a_pipe_has_no_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    signal.alarm(20)  # without the check, opening it waits for a writer
    assert images.shorter_side(tmp_path / "a.png") == 0
    signal.alarm(0)


def test_rows_of_an_interrupted_run_are_used_up_to_the_first_damaged_one(tmp_path: Path) -> None:
    kind, identity = resuming.row_type(3), bytes(32)
    rows = np.zeros(5, kind)
    rows["latent"] = np.arange(15).reshape(5, 3)
    resuming.seal_rows(rows)
    content = bytearray(identity + rows.tobytes())
    content[32 + 3 * kind.itemsize + 34] ^= 1
    (tmp_path / "partial").write_bytes(content)
    np.testing.assert_array_equal(resuming.read_rows(tmp_path / "partial", identity, kind), rows[:3])
    assert not len(resuming.read_rows(tmp_path / "partial", bytes(31) + b"x", kind))


def test_renaming_a_class_is_a_change_that_others_see(tmp_path: Path) -> None:
    _fill(tmp_path / "g")
    one, other = (Store(tmp_path / "g", create=False) for _ in range(2))
    before = other.version()
    assert one.rename("cat 0", "dog") == 7
    assert other.version() != before
    assert [each.name for each in other.exemplars("dog")] == ["dog"] * 7
    one.close()
    other.close()


def test_a_damaged_exemplar_gets_no_new_checksum_with_a_new_name(tmp_path: Path) -> None:
    _fill(tmp_path / "g")
    with sqlite3.connect(tmp_path / "g") as connection:
        connection.execute("UPDATE exemplar SET latent = zeroblob(16) WHERE id = 1")
    connection.close()
    store = Store(tmp_path / "g", create=False)
    with pytest.raises(ValueError, match="an exemplar of 'cat 0' does not match its checksum"):
        store.rename("cat 0", "dog")
    store.close()
