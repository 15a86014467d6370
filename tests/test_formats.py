"""Files of earlier versions: they open, and mean what they meant."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from corel.backbone import Backbone, shipped
from corel.gallery import Gallery
from corel.images import Preparation
from tests.gallery.test_gallery import colored

DATA = Path(__file__).with_name("data")
EXPECTED = json.loads((DATA / "format1.json").read_text())


@pytest.mark.parametrize("name", sorted(EXPECTED["shipped"]))
def test_digests_of_the_shipped_backbones_stay(name: str) -> None:
    assert name in shipped()
    assert EXPECTED["shipped"][name] in Backbone.load(name).digests  # features were added to one of the files


def test_a_backbone_of_the_first_version_keeps_its_digest_when_saved_again(tmp_path: Path) -> None:
    old = Backbone.load(DATA / "format1.safetensors")
    assert old.preparation == Preparation(8)
    old.save(tmp_path / "again")
    assert old.digest == Backbone.load(tmp_path / "again").digest == EXPECTED["digest"]


def test_another_preparation_is_stored_and_enters_the_digest(tmp_path: Path) -> None:
    old = Backbone.load(DATA / "format1.safetensors")
    how = Preparation(8, "crop", mean=(0.5, 0.4, 0.3), deviation=(0.2, 0.2, 0.2))
    new = replace(old, preparation=how)
    assert new.digest != old.digest
    new.save(tmp_path / "new")
    loaded = Backbone.load(tmp_path / "new")
    assert (loaded.preparation, loaded.digest) == (how, new.digest)
    pixels = colored(0, 5, 7)
    unit = (pixels / 255 - np.array(how.mean)) / np.array(how.deviation)
    expected = old.network.encoder(torch.from_numpy(unit.astype(np.float32)).permute(0, 3, 1, 2))
    np.testing.assert_allclose(loaded.encode(pixels), expected.numpy(), rtol=1e-4, atol=1e-5)


def check_scores(gallery: Gallery) -> None:
    found = gallery.score(np.concatenate([colored(hue, 3, 7) for hue in range(3)]))
    chosen = [found.classes.index(name) for name in ("green", "red")]
    np.testing.assert_allclose(found.scores[:, chosen], EXPECTED["scores"], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.p_values[:, chosen], EXPECTED["p_values"])


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return Path(shutil.copy(DATA / "format1.gallery", tmp_path))


def test_a_gallery_of_the_first_version_scores_as_before_and_is_not_touched(old: Path) -> None:
    with Gallery.open(old, DATA / "format1.safetensors") as gallery:
        assert gallery.classes() == {"green": 9, "red": 12}
        assert gallery.settings == {}
        check_scores(gallery)
        assert gallery.exemplars("red")[0].features is None
    assert old.read_bytes() == (DATA / "format1.gallery").read_bytes()


def test_the_first_write_converts_it_and_what_was_there_stays(old: Path) -> None:
    with Gallery.open(old, DATA / "format1.safetensors") as gallery, Gallery.open(old, gallery.backbone) as other:
        check_scores(other)
        before = gallery.exemplars("red")
        assert gallery.enroll("red", colored(0, 12, 1)).duplicates == 12  # hashes are those of format 1
        gallery.enroll("blue", colored(2, 5, 3))
        gallery.configure(method="contrast")
        for each in (gallery, other):  # one that was open all the time, too
            check_scores(each)
            assert each.classes() == {"blue": 5, "green": 9, "red": 12}
            assert each.settings == {"method": "contrast"}
        for one, another in zip(before, gallery.exemplars("red"), strict=True):
            assert (one.hash, one.source, one.thumbnail) == (another.hash, another.source, another.thumbnail)
            np.testing.assert_array_equal(one.latent, another.latent)
        gallery.explain(colored(0, 1, 9), "red").draw()  # thumbnails of both formats
    connection = sqlite3.connect(old)
    assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


KILLED = """
import os, signal, sqlite3, sys
from corel.gallery._store import Store
word, path = sys.argv[1:]
connect = sqlite3.connect
def traced(*arguments, **options):
    connection = connect(*arguments, **options)
    if ":memory:" not in arguments:
        connection.set_trace_callback(lambda sql: os.kill(os.getpid(), 9) if sql.startswith(word) else None)
    return connection
sqlite3.connect = traced
from pathlib import Path
Store(Path(path), create=False).remove("red")
"""


@pytest.mark.parametrize("statement", ["ALTER", "INSERT INTO change", "DELETE", "UPDATE change"])
def test_a_kill_while_it_is_converted_leaves_it_as_it_was(old: Path, statement: str) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, statement, old], check=False).returncode
    assert killed == -signal.SIGKILL
    with Gallery.open(old, DATA / "format1.safetensors") as gallery:
        check_scores(gallery)
        assert gallery.classes() == {"green": 9, "red": 12}
        assert gallery.forget("red") == 12
        assert gallery.classes() == {"green": 9}


def test_features_are_kept_where_an_encoder_has_them(tmp_path: Path) -> None:
    backbone = Backbone.load("tiny-imagenet-contrastive-16x10")
    pixels = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    with Gallery.open(tmp_path / "g", "tiny-imagenet-contrastive-16x10", create=True) as gallery:
        gallery.enroll("noise", pixels)
        found = gallery.exemplars("noise")
    expected = backbone.embed(pixels)
    np.testing.assert_array_equal(np.stack([each.latent for each in found]), expected.latents)
    features = [each.features for each in found if each.features is not None]
    np.testing.assert_array_equal(np.stack(features), expected.features)
