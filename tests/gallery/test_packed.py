"""A gallery that travels as bytes gives the same verdicts elsewhere, and so do items that were encoded before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from corel.backbone import Backbone
from corel.gallery import Gallery, Packed

from .test_gallery import backbone as backbone  # a fixture
from .test_gallery import colored
from .test_gallery import path as path

ASKED = np.concatenate([colored(hue, 20, 50 + hue) for hue in range(3)])


def test_an_unpacked_gallery_gives_the_same_scores(path: Path, backbone: Backbone, tmp_path: Path) -> None:
    with Gallery.open(path, backbone) as gallery:
        packed, wanted = Packed.of(gallery), gallery.score(ASKED)
    with packed.unpacked(tmp_path / "elsewhere") as other:
        found = other.score(ASKED)
        assert Packed.of(other).digest == packed.digest
    assert np.array_equal(found.p_values, wanted.p_values)
    assert np.array_equal(found.scores, wanted.scores)
    assert found.decide() == wanted.decide()


def test_the_digest_follows_what_decides_a_verdict(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as gallery:
        before = Packed.of(gallery).digest
        gallery.configure(method="count")
        configured = Packed.of(gallery).digest
        gallery.enroll("red", colored(0, 1, 77))
        assert len({before, configured, Packed.of(gallery).digest}) == 3


def test_a_gallery_that_is_empty_is_not_packed(tmp_path: Path, backbone: Backbone) -> None:
    new = Gallery.open(tmp_path / "new.gallery", backbone, create=True)
    with new as gallery, pytest.raises(ValueError, match="enroll a class"):
        Packed.of(gallery)


def test_items_encoded_before_score_as_the_images_do(path: Path, backbone: Backbone) -> None:
    names = [f"train/{i:06d}" for i in range(len(ASKED))]
    with Gallery.open(path, backbone) as gallery:
        wanted = gallery.score(ASKED, photographs=False)
        found = gallery.score_encoded(backbone.encode(ASKED), names)
        assert found.decide() == wanted.decide()
        assert np.array_equal(found.p_values, wanted.p_values)
        with pytest.raises(ValueError, match="the exemplars have 8"):
            gallery.score_encoded(np.zeros((3, 5), np.float32), names[:3])
