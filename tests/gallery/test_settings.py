"""What a gallery stores of how it was made: its score and its views."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import corel.images
from corel.backbone import Backbone
from corel.encoders import ResidualNetwork
from corel.gallery import Gallery, _checksums

from .test_gallery import backbone as backbone  # a fixture
from .test_gallery import colored
from .test_gallery import path as path


def test_a_gallery_survives_features_that_are_added_to_its_backbone(tmp_path: Path) -> None:
    """The shipped encoder had no pooled features once: galleries know it by the digest it had without them."""
    torch.manual_seed(0)
    network = ResidualNetwork(branches=2, branch_dim=3, width=4, image_size=8)
    auxiliary = np.concatenate([colored(hue, 30, 100 + hue) for hue in range(3)])
    latents, features = (part.numpy() for part in network.eval().embed(auxiliary))
    older = Backbone(network, "contrastive", 1.0, 1.0, 30, np.ones((2, 3), np.float32), latents, {})
    file, path = tmp_path / "b.safetensors", tmp_path / "old.gallery"
    older.save(file)
    with Gallery.open(path, file, create=True) as gallery:
        gallery.enroll("red", colored(0, 20, 1))
        expected = gallery.score(colored(0, 5, 2)).scores
    newer = replace(Backbone.load(file), pooled_background=features)
    assert newer.digests == (newer.digest, older.digest)
    newer.save(file)
    with Gallery.open(path) as gallery:
        assert gallery.backbone.pooled_background is not None
        np.testing.assert_array_equal(gallery.score(colored(0, 5, 2)).scores, expected)
        gallery.enroll("red", colored(0, 20, 3))
        assert gallery.classes() == {"red": 40}
        gone = gallery.exemplars("red")[:2]
        gallery.forget("red", [each.hash for each in gone])
        assert gallery.restore(gone) == 2
    other = replace(newer, eta=2.0)
    with pytest.raises(ValueError, match="was made with"):
        Gallery.open(path, other)


def test_a_new_gallery_takes_the_backbone_s_sharpest_score_and_keeps_it(tmp_path: Path) -> None:
    """The encoder that ships has features of its own: they are stored, compared, and decide after reopening too."""
    digits = corel.images.open("digits")
    path = tmp_path / "a.gallery"
    with corel.Gallery.open(path, create=True) as gallery:
        for digit in (0, 1):
            gallery.enroll(str(digit), digits.take(np.flatnonzero(digits.labels == digit)[:20]))
        assert gallery.method == "cosine"
        backbone, found = gallery.backbone, gallery.score(digits.take(range(6)))
    bags = [
        corel.OneClass.from_backbone(backbone, method="cosine").fit(
            backbone.embed(digits.take(np.flatnonzero(digits.labels == digit)[:20])).features
        )
        for digit in (0, 1)
    ]
    asked = backbone.embed(digits.take(range(6))).features
    np.testing.assert_array_equal(found.p_values, np.stack([bag.p_values(asked) for bag in bags], axis=1))
    with corel.Gallery.open(path) as gallery:
        np.testing.assert_array_equal(gallery.score(digits.take(range(6))).p_values, found.p_values)


def test_a_gallery_that_stores_no_score_keeps_contrast(tmp_path: Path) -> None:
    digits = corel.images.open("digits")
    path = tmp_path / "a.gallery"
    with corel.Gallery.open(path, create=True) as gallery:
        gallery.enroll("0", digits.take(np.flatnonzero(digits.labels == 0)[:20]))
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM setting")
        _checksums.seal_list(connection)
    with corel.Gallery.open(path) as gallery:
        assert gallery.method == "contrast"
        asked = digits.take(range(4))
        bag = gallery.backbone.encode(digits.take(np.flatnonzero(digits.labels == 0)[:20]))
        model = corel.OneClass.from_backbone(gallery.backbone).fit(bag)
        expected = model.p_values(gallery.backbone.encode(asked))
        np.testing.assert_array_equal(gallery.score(asked).p_values[:, 0], expected)


def test_views_are_stored_and_averaged(tmp_path: Path, backbone: Backbone) -> None:
    """An image and its mirror image are one to a gallery that sees both; nobody can change that later."""
    path, images = tmp_path / "mirror.gallery", colored(0, 30, 1)
    with Gallery.open(path, backbone, create=True, views="mirror") as gallery:
        gallery.enroll("red", images)
    with Gallery.open(path, backbone) as gallery:
        assert gallery.views == "mirror"
        new = colored(0, 5, 9)
        straight, mirrored = (gallery.score(each).scores for each in (new, np.ascontiguousarray(new[:, :, ::-1])))
        np.testing.assert_allclose(straight, mirrored, rtol=1e-6)
        expected = (backbone.encode(images) + backbone.encode(np.ascontiguousarray(images[:, :, ::-1]))) / 2
        np.testing.assert_array_equal([each.latent for each in gallery.exemplars("red")], expected)
    with pytest.raises(ValueError, match=r"views must be mirror for .*mirror\.gallery, got 'crops'"):
        Gallery.open(path, backbone, views="crops")


def test_views_of_a_gallery_made_meanwhile(tmp_path: Path, backbone: Backbone) -> None:
    """Two processes that create one gallery with other views: the later enrollment is refused, nothing of it stays."""
    path = tmp_path / "race.gallery"
    with (
        Gallery.open(path, backbone, create=True) as one,
        Gallery.open(path, backbone, create=True, views="mirror") as two,
    ):
        one.enroll("red", colored(0, 20, 1))
        with pytest.raises(ValueError, match="views"):
            two.enroll("green", colored(1, 20, 2))
        assert one.classes() == {"red": 20}


@pytest.mark.parametrize(("name", "count"), corel.images.VIEWS.items())
def test_views_have_the_size_of_the_image(name: str, count: int) -> None:
    images = colored(1, 3, 0)
    seen = list(corel.images.views_of(images, name))
    assert len(seen) == count
    assert all(each.shape == images.shape and each.dtype == np.uint8 for each in seen)
    np.testing.assert_array_equal(seen[0], images)


def test_views_of_vectors_are_refused() -> None:
    with pytest.raises(ValueError, match="views must be whole"):
        list(corel.images.views_of(np.zeros((2, 5), np.float32), "mirror"))


def test_a_setting_that_would_break_verdicts_is_refused(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as gallery:
        before = gallery.settings
        for wrong in ("nonsense", "auto", np.float32(1)):
            with pytest.raises(ValueError, match="method must be one of count, contrast, cosine, got"):
                gallery.configure(method=wrong)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="views must be one of whole, mirror, crops, got 'all'"):
            gallery.configure(views="all")
        with pytest.raises(ValueError, match=r"views must stay whole, .* enroll again in a new gallery .*'crops'"):
            gallery.configure(method="count", views="crops")
        with pytest.raises(TypeError, match="anything"):
            gallery.configure(anything=1)  # type: ignore[call-arg]
        assert gallery.settings == before
        gallery.configure(method="count", views="whole")
        assert (gallery.method, gallery.views) == ("count", "whole")


def test_a_score_without_its_background_is_not_stored(tmp_path: Path, backbone: Backbone) -> None:
    features = replace(Backbone.load(), pooled_background=None)  # a network with features of its own, none of them kept
    with Gallery.open(tmp_path / "a.gallery", features, create=True) as gallery:
        gallery.enroll("0", corel.images.open("digits").take(range(3)))
        with pytest.raises(ValueError, match='method is "cosine", but the backbone has no features'):
            gallery.configure(method="cosine")
        assert gallery.method == "contrast"


@pytest.mark.parametrize("name", corel.images.VIEWS)
def test_views_of_a_tensor_are_those_of_the_array(name: str, backbone: Backbone) -> None:
    images = colored(1, 3, 0)
    expected = backbone.embed(images, views=name).latents
    np.testing.assert_array_equal(backbone.embed(torch.tensor(images), views=name).latents, expected)
    with pytest.raises(ValueError, match="views must be whole for anything but uint8 images"):
        list(corel.images.views_of(torch.zeros(2, 8, 8, 3, dtype=torch.bfloat16), "mirror"))
