"""Enrollments: what is read, prepared, spooled and kept of each image; several threads at once."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from corel.backbone import Backbone
from corel.gallery import Gallery, thumbnail
from corel.gallery._items import decoded_thumbnail
from corel.images import content_hash

from .test_gallery import backbone as backbone  # a fixture
from .test_gallery import colored
from .test_gallery import path as path


def test_threads_share_a_gallery_and_each_sees_whole_enrollments(path: Path, backbone: Backbone) -> None:
    asked = colored(0, 3, 3)
    with Gallery.open(path, backbone) as gallery, ThreadPoolExecutor(4) as pool:
        expected = gallery.score(asked).scores[:, 1]  # red
        enrolled = [pool.submit(gallery.enroll, f"hue {i}", colored(i % 3, 5, 20 + i)) for i in range(6)]
        scored = [pool.submit(gallery.score, asked) for _ in range(10)]
        forgotten = pool.submit(gallery.forget, "green")
        assert all(each.result().duplicates == 0 for each in enrolled)
        assert forgotten.result() == 30
        for found in (each.result() for each in scored):
            # A score depends on its class alone: whatever else is enrolled meanwhile, red's stay.
            np.testing.assert_array_equal(found.scores[:, found.classes.index("red")], expected)
        assert gallery.classes() == {**{f"hue {i}": 5 for i in range(6)}, "red": 40}
        assert gallery.score(asked).classes == (*(f"hue {i}" for i in range(6)), "red")
        gallery._store._connection.execute("PRAGMA integrity_check")  # type: ignore[union-attr]


def test_an_enrollment_reads_only_what_is_new(path: Path, backbone: Backbone, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    with Gallery.open(path, backbone) as gallery, Gallery.open(path, backbone) as other:
        changes = gallery._store.changes

        def counted(known: Any) -> Any:
            found = changes(known)
            read.append(len(found.new))
            return found

        monkeypatch.setattr(gallery._store, "changes", counted)
        for _ in range(2):
            gallery.score(colored(0, 1, 3))
        other.enroll("blue", colored(2, 7, 4))
        found = gallery.score(colored(2, 4, 5))
        other.forget("red")
        assert gallery.score(colored(0, 1, 3)).classes == ("blue", "green")
    assert read == [70, 7, 0]
    with Gallery.open(path, backbone) as fresh:
        np.testing.assert_array_equal(
            fresh.score(colored(2, 4, 5)).scores, found.scores[:, [found.classes.index(c) for c in ("blue", "green")]]
        )


def test_an_enrollment_prepares_its_own_class_alone(path: Path, backbone: Backbone) -> None:
    asked = colored(0, 5, 6)
    with Gallery.open(path, backbone) as gallery:
        gallery.recognize(asked)
        green, red = gallery._bank().bank._bags
        gallery.enroll("red", colored(0, 3, 7))
        found = gallery.score(asked)
        updated = gallery._bank().bank._bags
        assert updated[0] is green
        assert updated[1] is not red
        gallery.rename("green", "zebra")  # after red
        assert gallery._bank().bank._bags[::-1] == updated
        gallery.configure(method="count")  # nothing that was prepared for another score is used
        assert gallery._bank().bank.method == "count"
        gallery.configure(method="contrast")
        gallery.rename("zebra", "green")
        with Gallery.open(path, backbone) as fresh:
            anew = fresh.score(asked)
    for name in ("scores", "p_values", "likeness", "known"):
        np.testing.assert_array_equal(getattr(found, name), getattr(anew, name))


def test_an_enrollment_larger_than_memory_is_spooled_to_a_file(
    path: Path, backbone: Backbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corel.gallery._spool.IN_MEMORY", 1000)
    with Gallery.open(path, backbone) as gallery:
        assert gallery.enroll("blue", colored(2, 300, 4)).added == {"blue": 300}
        found = gallery.exemplars("blue")
        np.testing.assert_allclose(np.stack([each.latent for each in found]), backbone.encode(colored(2, 300, 4)))
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]  # the file is gone


def test_thumbnails_are_small_and_compressed(tmp_path: Path) -> None:
    large = np.asarray(Image.effect_mandelbrot((224, 224), (-3, -2.5, 2, 2.5), 40).convert("RGB"))
    small = thumbnail(large)
    assert small is not None
    assert max(Image.open(io.BytesIO(small)).size) == 96
    assert len(small) < 6000
    assert thumbnail(np.zeros(5, np.float32)) is None


def test_the_thumbnail_of_a_plain_surface_loses_nothing() -> None:
    faint = np.random.default_rng(0).integers(100, 104, (32, 32, 3)).astype(np.uint8)
    np.testing.assert_array_equal(decoded_thumbnail(thumbnail(faint), (32, 32)), faint)


def test_thumbnails_show_the_enrolled_pixels(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as gallery:
        thumbnail = gallery.exemplars("red")[3].thumbnail
    assert thumbnail is not None
    shown, enrolled = np.asarray(Image.open(io.BytesIO(thumbnail))), colored(0, 40, 1)[3]
    assert shown.shape == enrolled.shape
    assert np.abs(shown.mean(axis=(0, 1)) - enrolled.mean(axis=(0, 1))).max() < 12  # it is compressed


def test_own_thumbnails_are_stored_and_exemplars_are_read_by_hash(path: Path, backbone: Backbone) -> None:
    new = colored(0, 2, 77)
    picture = thumbnail(np.zeros((96, 96, 3), np.uint8))
    assert picture is not None
    with Gallery.open(path, backbone) as gallery:
        before = gallery.hashes()["red"]
        gallery.enroll("red", new, pictures={content_hash(new[1]).hex(): picture})
        hashes = gallery.hashes()["red"]
        assert hashes[:-2] == before
        second, first = gallery.exemplars("red", [hashes[-1], hashes[0], "none"])
        assert (second.hash, first.hash) == (hashes[-1], hashes[0])
        assert second.thumbnail == picture
        assert gallery.exemplars("red", hashes[-2:-1])[0].thumbnail != picture
        assert gallery.exemplars("red", ["none"]) == []
        with pytest.raises(ValueError, match="'nobody' is no class"):
            gallery.exemplars("nobody", ["none"])
