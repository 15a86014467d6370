"""Files of earlier versions: they open, and mean what they meant."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from corel.backbone import Backbone, shipped
from corel.gallery import Gallery
from corel.images import Preparation
from tests.gallery.test_gallery import coloured

DATA = Path(__file__).with_name("data")
EXPECTED = json.loads((DATA / "format1.json").read_text())


@pytest.mark.parametrize("name", sorted(EXPECTED["shipped"]))
def test_digests_of_the_shipped_backbones_stay(name: str) -> None:
    assert name in shipped()
    assert Backbone.load(name).digest == EXPECTED["shipped"][name]


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
    pixels = coloured(0, 5, 7)
    unit = (pixels / 255 - np.array(how.mean)) / np.array(how.deviation)
    expected = old.network.encoder(torch.from_numpy(unit.astype(np.float32)).permute(0, 3, 1, 2))
    np.testing.assert_allclose(loaded.encode(pixels), expected.numpy(), rtol=1e-4, atol=1e-5)


def test_a_gallery_of_the_first_version_scores_as_before() -> None:
    with Gallery.open(DATA / "format1.gallery", DATA / "format1.safetensors") as gallery:
        assert gallery.classes() == {"green": 9, "red": 12}
        found = gallery.score(np.concatenate([coloured(hue, 3, 7) for hue in range(3)]))
    np.testing.assert_allclose(found.scores, EXPECTED["scores"], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.p_values, EXPECTED["p_values"])
