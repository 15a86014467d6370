"""The gallery: enrolled images are recognized, forgotten ones are not, and each decision keeps its promise."""

from __future__ import annotations

import copy
import io
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from PIL import Image

import corel.images
from corel.backbone import Backbone
from corel.encoders import Autoencoder
from corel.encoders.base import Network
from corel.gallery import BlankTest, Gallery, Verdict
from corel.images import ImageSet
from corel.oneclass import ClassBank

Pixels = NDArray[np.uint8]


def colored(hue: int, count: int, seed: int) -> Pixels:
    """Images with one strong channel, so that even an untrained encoder tells the hues apart."""
    random = np.random.default_rng(seed)
    pixels = random.integers(0, 60, (count, 8, 8, 3))
    pixels[..., hue] += random.integers(120, 190, (count, 1, 1))
    return pixels.astype(np.uint8)


def make_backbone(seed: int) -> Backbone:
    torch.manual_seed(seed)
    network = Autoencoder(branches=4, branch_dim=2, width=4, image_size=8)
    auxiliary = np.concatenate([colored(hue, 60, 100 + hue) for hue in range(3)])
    latents = network.encode(auxiliary).numpy()
    spread = float(np.abs(latents[::2] - latents[1::2]).sum(1).mean()) / 4
    background = latents.astype(np.float16).astype(np.float32)
    return Backbone(network, "autoencoder", spread, 1.0, 100, np.ones((4, 3), np.float32), background, {})


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return make_backbone(0)


@pytest.fixture
def path(tmp_path: Path, backbone: Backbone) -> Path:
    path = tmp_path / "hues.gallery"
    with Gallery.open(path, backbone, create=True) as gallery:
        gallery.enroll("red", colored(0, 40, 1))
        gallery.enroll("green", colored(1, 30, 2))
    return path


def test_scores_are_those_of_the_bank_of_its_exemplars(path: Path, backbone: Backbone) -> None:
    bags = [backbone.encode(colored(1, 30, 2)), backbone.encode(colored(0, 40, 1))]  # alphabetical
    new = colored(0, 7, 3)
    bank = ClassBank.of(bags, branches=4, radius=backbone.eta, background=backbone.background)
    with Gallery.open(path, backbone) as gallery:
        found = gallery.score(new)
    assert found.classes == ("green", "red")
    np.testing.assert_allclose(found.scores, bank.scores(backbone.encode(new)), rtol=1e-6)
    np.testing.assert_array_equal(found.p_values, bank.p_values(backbone.encode(new)))


def test_enrolled_hues_are_recognized_and_a_third_is_a_stranger(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as gallery:
        for hue, name in enumerate(("red", "green")):
            sets = gallery.classify(colored(hue, 50, 4), rate=0.05)
            assert np.mean([each == (name,) for each in sets]) >= 0.8
        assert np.mean([each == () for each in gallery.classify(colored(2, 50, 5), rate=0.05)]) >= 0.8


def test_a_small_class_is_the_likeliest_for_its_own_images(tmp_path: Path, backbone: Backbone) -> None:
    """Classes are ranked as if all were as large as the largest."""
    with Gallery.open(tmp_path / "uneven", backbone, create=True) as gallery:
        gallery.enroll("red", colored(0, 80, 1))
        gallery.enroll("green", colored(1, 5, 2))
        found = gallery.score(colored(1, 40, 3))
    green = found.classes.index("green")
    assert (found.ranking(0.05)[:, 0] == green).mean() > 0.9
    bags = [backbone.encode(colored(1, 5, 2)), backbone.encode(colored(0, 80, 1))]
    bank = ClassBank.of(bags, branches=4, radius=backbone.eta, background=backbone.background)
    np.testing.assert_allclose(found.likeness, bank.likeness(backbone.encode(colored(1, 40, 3))), rtol=1e-6)


def test_a_backbone_that_cannot_be_scored_enrolls_nothing(tmp_path: Path, backbone: Backbone) -> None:
    with Gallery.open(tmp_path / "other", replace(backbone, p=2.0), create=True) as gallery:
        with pytest.raises(ValueError, match="train with p=1"):
            gallery.enroll("red", colored(0, 5, 1))
        assert gallery.classes() == {}


def test_prediction_sets_hold_what_is_not_rejected_and_rank_by_likeness(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as gallery:
        found = gallery.score(np.concatenate([colored(hue, 20, 6) for hue in range(3)]))
        with pytest.warns(UserWarning, match="70 exemplars cannot support rate=0.001.*Enroll at least 999"):
            sets = gallery.classify(np.concatenate([colored(hue, 20, 6) for hue in range(3)]), rate=0.001)
    assert sets == found.prediction_sets(0.001)
    assert all(set(each) == {"red", "green"} for each in sets)  # no class is large enough to reject at 0.1%
    for rate in (0.001, 0.1, 0.9):
        for i, (names, order) in enumerate(zip(found.prediction_sets(rate), found.ranking(rate), strict=True)):
            kept = [c for c in range(2) if found.p_values[i, c] > rate]
            assert names == tuple(found.classes[c] for c in sorted(kept, key=lambda c: -found.likeness[i, c]))
            assert names == tuple(found.classes[c] for c in order[: len(kept)])


def test_an_exemplar_is_of_its_class_whatever_its_p_value(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as gallery:
        gallery.enroll("ruby", colored(0, 40, 1)[:3])
        found = gallery.score(colored(0, 40, 1))
        verdicts = found.decide(0.9)
        why = gallery.explain(colored(0, 40, 1)[3 + int(found.known[3:].argmin()) :][:1], rate=0.9)
    assert (found.known[3:] <= 0.9).any()  # of a new image this says stranger
    assert {(each.verdict, *sorted(each.classes)) for each in verdicts[:3]} == {("unsure", "red", "ruby")}
    assert {(each.verdict, *each.classes) for each in verdicts[3:]} == {("known", "red")}
    assert {found.classes[c] for c in found.ranking(0.9)[3:, 0]} == {"red"}
    assert str(why).startswith("Known: red (already enrolled as red)\nIt is an exemplar itself")
    assert "ruled out" not in str(why)


@pytest.mark.parametrize("rate", [0.0, 1.0, 5, float("nan")])
def test_an_invalid_rate_is_refused(path: Path, backbone: Backbone, rate: float) -> None:
    with Gallery.open(path, backbone) as gallery:
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            gallery.classify(colored(0, 1, 3), rate=rate)
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            gallery.score(colored(0, 1, 3)).prediction_sets(rate)


def test_duplicates_by_content_are_counted_and_skipped(path: Path, backbone: Backbone, tmp_path: Path) -> None:
    first = colored(0, 40, 1)[:1]
    Image.fromarray(first[0]).save(tmp_path / "copy.png")
    Image.fromarray(first[0]).save(tmp_path / "copy.bmp")
    with Gallery.open(path, backbone) as gallery:
        assert gallery.enroll("red", np.concatenate([colored(0, 40, 1), colored(0, 2, 9)])).duplicates == 40
        saved = gallery.enroll("red", [tmp_path / "copy.png", tmp_path / "copy.bmp"])
        assert (saved.added, saved.duplicates) == ({"red": 0}, 2)
        other = gallery.enroll("other", [tmp_path / "copy.png", tmp_path / "copy.bmp"])
        assert (other.added, other.duplicates) == ({"other": 1}, 1)
        assert gallery.classes() == {"green": 30, "other": 1, "red": 42}


def test_labeled_images_enroll_under_their_own_names(tmp_path: Path, backbone: Backbone) -> None:
    pixels = np.concatenate([colored(0, 3, 1), colored(1, 2, 2)])
    labeled = ImageSet(pixels, np.array([0, 0, 0, 2, 2]), ("red", "empty", "green"), list("abcde"), "here")
    with Gallery.open(tmp_path / "g", backbone, create=True) as gallery:
        assert gallery.enroll(None, labeled).added == {"red": 3, "green": 2}
        assert [each.source for each in gallery.exemplars("green")] == ["d", "e"]
        with pytest.raises(ValueError, match="name is needed for items without labels"):
            gallery.enroll(None, colored(0, 3, 1))


def test_a_label_with_a_slash_enrolls_with_a_dash(tmp_path: Path, backbone: Backbone) -> None:
    shirts = ImageSet(colored(0, 2, 1), np.array([0, 0]), ("T-shirt/top",), list("ab"), "here")
    with Gallery.open(tmp_path / "g", backbone, create=True) as gallery:
        assert gallery.enroll(None, shirts).added == {"T-shirt-top": 2}


def test_forgetting_gives_the_scores_of_a_gallery_without_the_images(path: Path, backbone: Backbone) -> None:
    new = colored(0, 9, 3)
    with Gallery.open(path, backbone) as gallery:
        gallery.score(new)  # what was kept ready must be dropped
        forgotten = [each.hash[:12] for each in gallery.exemplars("red")[10:]]
        assert gallery.forget("red", forgotten) == 30
        after = gallery.score(new)
    with Gallery.open(path.with_name("other"), backbone, create=True) as other:
        other.enroll("red", colored(0, 40, 1)[:10])
        other.enroll("green", colored(1, 30, 2))
        expected = other.score(new)
    np.testing.assert_array_equal(after.scores, expected.scores)
    np.testing.assert_array_equal(after.p_values, expected.p_values)


def test_another_process_s_change_is_seen(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as mine, Gallery.open(path) as other:
        assert mine.score(colored(0, 1, 3)).classes == ("green", "red")
        other.forget("green")  # without a backbone: forgetting needs none
        assert mine.score(colored(0, 1, 3)).classes == ("red",)


def test_a_class_is_scored_and_audited_under_its_new_name(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as mine, Gallery.open(path, backbone) as other:
        assert mine.score(colored(0, 1, 3)).classes == ("green", "red")
        assert other.rename("red", "crimson") == 40
        assert mine.score(colored(0, 1, 3)).classes == ("crimson", "green")
        assert len(mine.audit("crimson").fits) == 40


def test_forgetting_is_all_or_nothing(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as gallery:
        known = gallery.exemplars("red")[0].hash
        with pytest.raises(
            ValueError, match="'ffffffff' is neither the file of an exemplar nor the beginning of a hash"
        ):
            gallery.forget("red", [known, "ffffffff"])
        with pytest.raises(ValueError, match="at least 6 letters"):
            gallery.forget("red", [known[:2]])
        assert gallery.classes() == {"green": 30, "red": 40}
        assert gallery.forget("red") == 40
        with pytest.raises(ValueError, match="'red' is no class"):
            gallery.forget("red")


def test_explanation_names_the_exemplars_within_the_radius(path: Path, backbone: Backbone) -> None:
    new = colored(0, 1, 3)
    with Gallery.open(path, backbone) as gallery:
        found = gallery.explain(new, "red")
        scores = gallery.score(new)
    assert found.score == scores.scores[0, 1]
    assert found.p_value == scores.p_values[0, 1]
    z, bag = (backbone.encode(images).reshape(-1, 4, 2) for images in (new, colored(0, 40, 1)))
    distances = np.abs(bag - z).sum(2)
    for branch, voters in enumerate(found.votes.neighbors):
        inside = np.flatnonzero(distances[:, branch] <= backbone.eta)
        assert sorted(voters) == inside.tolist()
        assert found.votes.counts[branch] == len(inside)
        assert np.all(np.diff(distances[voters, branch]) >= 0)


def test_the_expert_s_picture_shows_the_voters_of_each_branch(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as gallery:
        found = gallery.explain(colored(0, 1, 3), "red")
    item, voters, shares = found.draw(expert=True).axes
    np.testing.assert_array_equal(item.images[0].get_array(), found.value)
    canvas = np.asarray(voters.images[0].get_array())
    nearest = found.exemplars[found.votes.neighbors[2][0]]
    assert nearest.thumbnail is not None
    shown = canvas[2 * 10 : 2 * 10 + 8, :8]  # the third row of 8 pixels and a gap of 2
    np.testing.assert_array_equal(shown, np.asarray(Image.open(io.BytesIO(nearest.thumbnail))))
    assert voters.get_aspect() == 1  # a cell, one unit wide and one high, is as square as its thumbnail
    assert voters.get_ylim() == shares.get_ylim()
    widths = [bar.get_width() for bar in shares.patches if isinstance(bar, Rectangle)]
    np.testing.assert_allclose(widths[:4], found.votes.counts / 40)
    assert found.votes.background_rates is not None
    np.testing.assert_allclose(widths[4:], found.votes.background_rates)


def test_the_wrong_backbone_is_refused(path: Path) -> None:
    other = make_backbone(1)
    with pytest.raises(ValueError, match="was made with unnamed"):
        Gallery.open(path, other)
    with Gallery.open(path) as gallery, pytest.raises(FileNotFoundError, match="backbone= in Python"):
        gallery.score(colored(0, 1, 3))


def test_a_gallery_finds_its_backbone_by_path(tmp_path: Path, backbone: Backbone) -> None:
    backbone.save(tmp_path / "b.safetensors")
    with Gallery.open(tmp_path / "g", tmp_path / "b.safetensors", create=True) as gallery:
        gallery.enroll("red", colored(0, 5, 1))
    with Gallery.open(tmp_path / "g") as gallery:
        assert gallery.backbone.digest == backbone.digest
    make_backbone(1).save(tmp_path / "b.safetensors")  # another one in its place
    with Gallery.open(tmp_path / "g") as gallery, pytest.raises(FileNotFoundError, match="is another one now"):
        gallery.score(colored(0, 1, 3))
    with pytest.raises(ValueError, match="was made with"):
        Gallery.open(tmp_path / "g", tmp_path / "b.safetensors")


def test_bad_input_is_one_sentence_and_changes_nothing(path: Path, backbone: Backbone, tmp_path: Path) -> None:
    before = path.read_bytes()
    (tmp_path / "text.png").write_text("not an image")
    with Gallery.open(path, backbone) as gallery:
        with pytest.raises(ValueError, match="cannot be that of a class"):
            gallery.enroll("../red", colored(0, 1, 3))
        with pytest.raises(ValueError, match=r"text\.png"):
            gallery.enroll("red", [tmp_path / "text.png"])
        with pytest.raises(ValueError, match="image"):
            gallery.enroll("red", np.empty((0, 8, 8, 3), np.uint8))
        with pytest.raises(ValueError, match="did you mean 'green'"):
            gallery.explain(colored(0, 1, 3), "greeen")
        with pytest.raises(ValueError, match="one image"):
            gallery.explain(colored(0, 2, 3), "green")
    assert path.read_bytes() == before


class Projection(Network):
    """An encoder of vectors with five features: the identity on four of them, in two branches."""

    def __init__(self) -> None:
        super().__init__()
        self.architecture = {"branches": 2, "branch_dim": 2}
        self.input_shape = (5,)
        self.encoder = torch.nn.Linear(5, 4, bias=False)
        self.encoder.weight.data = torch.eye(4, 5)

    def prepare(self, items: object) -> torch.Tensor:
        return torch.as_tensor(items)


def test_a_backbone_on_vectors_enrolls_scores_and_explains_rows(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    background = random.normal(size=(200, 4)).astype(np.float32)
    vectors = Backbone(Projection(), "autoencoder", 1.0, 1.0, 100, np.ones((2, 3), np.float32), background, {})
    near = random.normal(2, 0.1, size=(30, 5))
    with Gallery.open(tmp_path / "g", vectors, create=True) as gallery:
        assert gallery.enroll("near", near).added == {"near": 30}
        assert gallery.enroll("near", near).duplicates == 30
        assert gallery.classify([[2.0] * 5, [-9.0] * 5]) == [("near",), ()]
        found = gallery.explain([[2.0] * 5], "near")
        assert found.votes.counts.tolist() == [30, 30]
        assert found.exemplars[0].thumbnail is None
        found.draw()
        with pytest.raises(ValueError, match="images must be finite, in float32 too; rows 1 are not"):
            gallery.enroll("near", [[2.0] * 5, [np.nan] * 5])
        np.save(tmp_path / "near.npy", near)
        for named in (tmp_path / "near.npy", str(tmp_path / "near.npy"), [tmp_path / "near.npy"]):
            assert gallery.enroll("near", named).duplicates == 30
        for others in ("digits", tmp_path, [tmp_path / "near.npy"] * 2, [tmp_path / "a.png"]):
            with pytest.raises(ValueError, match=r"must be one \.npy or \.npz file for this backbone"):
                gallery.score(others)


def test_a_closed_gallery_says_so(path: Path) -> None:
    with Gallery.open(path) as gallery:
        assert gallery.classes() == {"green": 30, "red": 40}
    with pytest.raises(ValueError, match="was closed"):
        gallery.classes()


def test_results_that_are_fewer_than_the_images_bring_a_warning(path: Path, backbone: Backbone, tmp_path: Path) -> None:
    Image.fromarray(colored(0, 1, 3)[0]).save(tmp_path / "red.png")
    asked = [tmp_path / "gone.png", tmp_path / "red.png"]
    with Gallery.open(path, backbone) as gallery:
        with pytest.warns(UserWarning, match=r"1 image could not be read, .* the first: .*gone\.png cannot be read"):
            assert [each.image for each in gallery.recognize(asked)] == [str(asked[1])]
        with pytest.warns(UserWarning, match="the results are fewer than the images"):
            assert gallery.classify(asked) == [("red",)]


def test_a_gallery_that_is_copied_or_sent_to_a_process_says_what_to_do(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as gallery:
        for attempt in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match=r"hues\.gallery is open in this gallery.*open the file there"):
                attempt(gallery)


def test_bfloat16_images_are_read(path: Path, backbone: Backbone) -> None:
    images = torch.from_numpy(colored(0, 2, 3)).permute(0, 3, 1, 2) / 255
    with Gallery.open(path, backbone) as gallery:
        assert [each.best for each in gallery.recognize(images.bfloat16())] == ["red", "red"]


def test_an_empty_gallery_scores_nothing(tmp_path: Path, backbone: Backbone) -> None:
    with (
        Gallery.open(tmp_path / "g", backbone, create=True) as gallery,
        pytest.raises(ValueError, match="enroll a class first"),
    ):
        gallery.score(colored(0, 1, 3))


def test_a_verdict_is_stranger_if_and_only_if_its_p_value_is_at_most_the_rate(path: Path, backbone: Backbone) -> None:
    with Gallery.open(path, backbone) as gallery:
        images = np.concatenate([colored(hue, 12, 7) for hue in range(3)])
        found = gallery.score(images)
        for rate in (0.05, 0.2):
            verdicts = found.decide(rate)
            assert verdicts == gallery.recognize(images, rate)
            for verdict, p, allowed in zip(verdicts, found.known, found.prediction_sets(rate), strict=True):
                assert (verdict.verdict == "stranger") == (p <= rate)
                assert verdict.classes == (() if p <= rate else allowed)
                assert verdict.verdict in (("known",) if len(verdict.classes) == 1 else ("unsure", "stranger"))
                assert verdict.p_value == p
                assert verdict.likeliest in found.classes


def test_verdicts_read_as_sentences() -> None:
    assert str(Verdict("a", "known", ("cat",), "cat", 0.6)) == "cat"
    assert str(Verdict("a", "unsure", ("cat", "dog"), "cat", 0.3)) == "unsure: cat or dog"
    assert str(Verdict("a", "unsure", ("cat", "dog", "ox"), "cat", 0.3)) == "unsure: cat, dog or ox"
    assert str(Verdict("a", "unsure", (), "cat", 0.06)) == "unsure: most like cat"
    assert str(Verdict("a", "stranger", (), "cat", 0.01)) == "stranger, most like cat"


def test_a_blank_frame_is_no_photograph_unless_told_otherwise(tmp_path: Path) -> None:
    blank, digits = np.full((2, 32, 32, 3), 200, np.uint8), corel.images.open("digits")
    with Gallery.open(tmp_path / "g", "tiny-imagenet-16x10", create=True) as gallery:
        gallery.enroll("digits", digits.take(np.arange(60)))
        assert {str(each) for each in gallery.recognize(blank)} == {"not a photograph"}
        assert gallery.recognize(blank)[0].classes == ()
        assert gallery.score(blank, photographs=False).decide()[0].verdict != "not a photograph"
        others = gallery.score(digits.take(np.arange(60, 260)))
        assert others.photographic is not None
        assert others.photographic.all()


def test_exemplars_that_look_like_noise_are_no_blank_frames(tmp_path: Path) -> None:
    surfaces = np.random.default_rng(0).integers(90, 110, (60, 32, 32, 3)).astype(np.uint8)
    with Gallery.open(tmp_path / "g", "tiny-imagenet-16x10", create=True) as gallery:
        gallery.enroll("steel", surfaces[:30])
        shown = gallery.score(surfaces).photographic
    assert shown is not None
    assert shown.all()


def test_an_exemplar_is_no_blank_frame_even_if_the_test_looked_at_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BlankTest, "SAMPLE", 10)
    black, digits = np.zeros((1, 32, 32, 3), np.uint8), corel.images.open("digits")
    with Gallery.open(tmp_path / "g", "tiny-imagenet-16x10", create=True) as gallery:
        gallery.enroll("digits", digits.take(np.arange(60)))
        gallery.enroll("night", black)
        hashes = sorted(each for some in gallery.hashes().values() for each in some)
        assert corel.images.content_hash(black[0]).hex() not in hashes[:10]
        night, gray = gallery.recognize(np.concatenate([black, black + 100]))
    assert (night.verdict, night.note) == ("known", "already enrolled as night")
    assert gray.verdict == "not a photograph"


def test_an_image_near_a_limit_passes_unless_its_thumbnail_fails_too() -> None:
    """Exemplars are known by their thumbnails. So an image like them must not fail at a larger size alone."""
    cells = np.random.default_rng(37).integers(0, 256, (9, 9, 3)).astype(np.uint8)
    large = np.asarray(Image.fromarray(cells).resize((224, 224), Image.Resampling.BILINEAR))[None]
    assert not corel.images.photographic(large).any()
    assert BlankTest.of_images(large).photographic(large).all()
    assert BlankTest.of(()).photographic(large).all()


@pytest.mark.parametrize("count", [30, 240])
def test_a_gallery_of_the_sky_still_stops_blank_frames(tmp_path: Path, count: int) -> None:
    """Every window of the sky has less contrast than a photograph; a frame of one color and noise differ from it."""
    from sklearn.datasets import load_sample_image

    rng, sky = np.random.default_rng(0), load_sample_image("china.jpg")[20:160, 360:580]
    corners = zip(rng.integers(0, 108, 2 * count), rng.integers(0, 188, 2 * count), strict=True)
    windows = np.stack([sky[top : top + 32, left : left + 32] for top, left in corners])
    frames = np.stack([np.zeros((32, 32, 3)), np.full((32, 32, 3), [200, 20, 20]), rng.integers(0, 256, (32, 32, 3))])
    with Gallery.open(tmp_path / "g", "tiny-imagenet-16x10", create=True) as gallery:
        gallery.enroll("sky", windows[:count])
        members = gallery.score(windows[count:]).photographic
        verdicts = gallery.recognize(frames.astype(np.uint8))
    assert not corel.images.photographic(windows).any()
    assert members is not None
    assert members.mean() >= 0.97  # 99% or more on average; this is one gallery
    assert {each.verdict for each in verdicts} == {"not a photograph"}


# --- The score that a gallery keeps
