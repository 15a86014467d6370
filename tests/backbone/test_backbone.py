from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch
from PIL import Image

import corel
from corel.backbone import DEFAULT, Backbone, shipped
from corel.encoders import Autoencoder

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), np.uint8)


@pytest.fixture
def backbone() -> Backbone:
    torch.manual_seed(0)
    latents = torch.randn(20, 6).half().float().numpy()
    deaths = np.arange(6, dtype=np.float32).reshape(2, 3)
    metadata = {
        "config": {"epochs": 3, "seed": 7},
        "data": {"source": "noise", "items": 20},
        "version": "0",
        "auc": {"noise": 0.5},
    }
    return Backbone(Autoencoder(2, 3, 4, 3, 8), "autoencoder", 2.0, 1.0, 10, deaths, latents, metadata)


@pytest.fixture
def file(backbone: Backbone, tmp_path: Path) -> Path:
    backbone.save(tmp_path / "b.safetensors")
    return tmp_path / "b.safetensors"


def test_a_saved_backbone_loads_unchanged(backbone: Backbone, file: Path) -> None:
    again = Backbone.load(file)
    np.testing.assert_allclose(again.encode(PIXELS), backbone.encode(PIXELS), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(again.deaths, backbone.deaths)
    np.testing.assert_array_equal(again.background, backbone.background)
    assert (again.eta, again.p, again.branches, again.branch_dim, again.batch_size) == (2.0, 1.0, 2, 3, 10)
    assert again.metadata == backbone.metadata
    assert again.digest == backbone.digest
    assert again.background.dtype == again.encode(PIXELS).dtype == np.float32


def test_the_background_is_stored_in_half_precision(file: Path) -> None:
    with safetensors.safe_open(file, "pt") as tensors:
        assert tensors.get_tensor("background").dtype == torch.float16


def test_the_digest_is_of_what_scores_depend_on(backbone: Backbone) -> None:
    assert replace(backbone, metadata={}).digest == backbone.digest
    assert replace(backbone, eta=3.0).digest != backbone.digest
    assert replace(backbone, background=backbone.background + 1).digest != backbone.digest
    other = Autoencoder(2, 3, 4, 3, 8)
    assert replace(backbone, network=other).digest != backbone.digest


def test_any_truncation_is_a_clear_error(file: Path, tmp_path: Path) -> None:
    content = file.read_bytes()
    for kept in (0, 1, 7, 8, 9, 200, len(content) // 2, len(content) - 1):
        cut = tmp_path / "cut.safetensors"
        cut.write_bytes(content[:kept])
        with pytest.raises(ValueError, match="not a whole safetensors file"):
            Backbone.load(cut)


def test_a_foreign_file_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "foreign.safetensors"
    path.write_bytes(safetensors.torch.save({"x": torch.zeros(1)}))
    with pytest.raises(ValueError, match="not a corel backbone"):
        Backbone.load(path)
    path.write_text("PK\x03\x04 this was a zip once, or a pickle")
    with pytest.raises(ValueError, match=r"is an \.npz or \.zip file, not a corel backbone"):
        Backbone.load(path)


def edit(file: Path, *, version: str = "1", drop: str = "", **changes: object) -> None:
    with safetensors.safe_open(file, "pt") as old:
        header = old.metadata()
        tensors = {name: old.get_tensor(name) for name in old.keys() if name != drop}  # noqa: SIM118
    del header["sha256"]  # as in a file from before there were checksums
    header["version"] = version
    header["document"] = json.dumps({**json.loads(header["document"]), **changes})
    file.write_bytes(safetensors.torch.save(tensors, header))


def test_a_newer_format_is_a_clear_error(file: Path) -> None:
    edit(file, version="2")
    with pytest.raises(ValueError, match="format 2 and this corel reads up to 1; upgrade"):
        Backbone.load(file)


ARCHITECTURE = {"branches": 2, "branch_dim": 3, "width": 4, "channels": 3, "image_size": 8}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"objective": "os"}, "got 'os'"),
        ({"architecture": {**ARCHITECTURE, "width": 8}}, "size mismatch"),
        ({"architecture": {**ARCHITECTURE, "width": 10**7}}, "size mismatch"),  # 10 petabytes, if it were allocated
        ({"architecture": {**ARCHITECTURE, "shell": 1}}, "unexpected keyword"),
        ({"drop": "network.encoder.0.bias"}, "Missing key"),
        ({"drop": "deaths"}, "'deaths'"),
        ({"eta": -2.0}, "its scale, norm, batch size or provenance is impossible"),
        ({"metadata": "none"}, "its scale, norm, batch size or provenance is impossible"),
    ],
)
def test_an_edited_file_is_a_clear_error(file: Path, changes: dict[str, object], sentence: str) -> None:
    edit(file, **changes)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=rf"is damaged or was edited(.|\n)*{sentence}(.|\n)*get the file again"):
        Backbone.load(file)


def test_a_file_without_checksums_still_opens(backbone: Backbone, file: Path) -> None:
    edit(file)
    assert Backbone.load(file).digest == backbone.digest


def test_one_flipped_bit_anywhere_is_noticed(file: Path, tmp_path: Path) -> None:
    content, other = file.read_bytes(), tmp_path / "other.safetensors"
    for position in (*range(0, 1200, 37), *range(1200, len(content), 1499), len(content) - 1):
        changed = bytearray(content)
        changed[position] ^= 1 << position % 8
        other.write_bytes(changed)
        with pytest.raises(ValueError, match=str(other)):
            Backbone.load(other)


def test_one_flipped_bit_in_a_shipped_file_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = shutil.copytree(Path(corel.__file__).parent / "backbones", tmp_path / "backbones").parent
    monkeypatch.setattr("corel.backbone._card.resources.files", lambda _: package)
    assert Backbone.load("cifar10-16x10").eta == 2.0
    path = package / "backbones" / "cifar10-16x10.safetensors"
    content = bytearray(path.read_bytes())
    content[-1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="its checksum does not match"):
        Backbone.load("cifar10-16x10")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("where", ["weights", "background", "deaths"])
def test_values_that_are_not_finite_are_refused(backbone: Backbone, tmp_path: Path, where: str, value: float) -> None:
    if where == "weights":
        next(backbone.network.parameters()).view(-1)[3] = value
    else:
        getattr(backbone, where)[1, 1] = value
    backbone.save(tmp_path / "bad.safetensors")
    with pytest.raises(ValueError, match="is not finite; get the file again"):
        Backbone.load(tmp_path / "bad.safetensors")


def test_later_changes_of_the_file_do_not_change_a_loaded_backbone(file: Path) -> None:
    again = Backbone.load(file)
    latents, digest = again.encode(PIXELS), again.digest
    with file.open("r+b") as opened:
        opened.write(b"\0" * file.stat().st_size)
        opened.truncate(0)
    np.testing.assert_array_equal(again.encode(PIXELS), latents)
    assert again.digest == digest


def test_a_document_that_nests_too_deep_is_a_clear_error(file: Path) -> None:
    with safetensors.safe_open(file, "pt") as old:
        header, tensors = old.metadata(), {name: old.get_tensor(name) for name in old.keys()}  # noqa: SIM118
    del header["sha256"]
    file.write_bytes(safetensors.torch.save(tensors, {**header, "document": "[" * 100_000}))
    with pytest.raises(ValueError, match="its document cannot be read"):
        Backbone.load(file)
    file.write_bytes(safetensors.torch.save(tensors, {**header, "version": "²"}))
    with pytest.raises(ValueError, match="has format ² and this corel reads up to 1"):
        Backbone.load(file)


@pytest.mark.parametrize("odd", [None, 3, "text", ["a"], {"source": ["x" * 10_000], "items": "many", "epochs": {}}])
def test_a_card_can_be_made_from_odd_metadata(backbone: Backbone, odd: object) -> None:
    card = replace(backbone, metadata={"data": odd, "config": odd, "auc": odd, "version": odd}).describe()
    assert max(map(len, card.splitlines())) <= 300


def test_an_unknown_name_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="or one of the shipped names"):
        Backbone.load(tmp_path / "nothing")


def test_saving_leaves_the_previous_file_when_it_fails(backbone: Backbone, file: Path) -> None:
    before = file.read_bytes()
    backbone.metadata = {"not": {"json"}}
    with pytest.raises(TypeError):
        backbone.save(file)
    assert file.read_bytes() == before
    assert [file] == list(file.parent.iterdir())


def test_the_card_has_origin_size_and_results(backbone: Backbone) -> None:
    card = backbone.describe()
    for fact in (
        backbone.digest[:12],
        "2 branches × 3 dimensions",
        "η = 2",
        "noise, 20 items",
        "3 epochs, seed 7",
        "noise: 0.500",
    ):
        assert fact in card
    assert "α̂ = 1.50, ε̂ = 2.50, β̂ = 3.50 in batches of 10" in card
    assert repr(backbone) == f"<Backbone {backbone.objective}: images 3 × 8 × 8 to 2 branches × 3 dimensions>"
    wrapped = Backbone.wrap("vectors", np.random.default_rng(0).normal(size=(60, 8)))
    assert "1 branch × 8 dimensions" in wrapped.describe()


def test_the_card_of_a_foreign_file_holds_no_control_codes(backbone: Backbone) -> None:
    evil = "\x1b[2J\n"
    metadata = {"config": {"epochs": evil, "seed": evil}, "data": {"source": evil}, "version": evil, "auc": {evil: 1.0}}
    card = replace(backbone, metadata=metadata).describe()
    assert card.count("\n") == backbone.describe().count("\n")
    assert "\x1b" not in card


def test_onnx_agrees_with_torch_at_any_batch_size(backbone: Backbone, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    backbone.export_onnx(tmp_path / "encoder.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["encoder.onnx"]
    session = onnxruntime.InferenceSession(tmp_path / "encoder.onnx", providers=["CPUExecutionProvider"])
    for n in (1, 2, 5):
        images = torch.rand(n, 3, 8, 8)
        (latents,) = session.run(["latents"], {"images": images.numpy()})
        np.testing.assert_allclose(latents, backbone.encode(images), atol=1e-4)


# --- What ships

FOLDER = Path(corel.__file__).parent / "backbones"


CONTRASTIVE = "tiny-imagenet-contrastive-16x10"


def test_three_backbones_ship_and_one_is_the_default() -> None:
    assert {"cifar10-16x10", "tiny-imagenet-16x10", CONTRASTIVE} <= set(shipped())
    assert Backbone.load().digest == Backbone.load(DEFAULT).digest


def test_the_default_is_the_best_by_the_committed_evaluation() -> None:
    """By the count on CIFAR-10 test, which is on every card, among those that were trained on other images."""
    where = "CIFAR-10 test, m = 120, count"
    general = [name for name in shipped() if not name.startswith("cifar10")]
    assert max(general, key=lambda name: Backbone.load(name).metadata["auc"][where]) == DEFAULT


@pytest.mark.parametrize(
    ("name", "megabytes", "cloud", "miss"),
    [("cifar10-16x10", 3, 100, 0.1), ("tiny-imagenet-16x10", 3, 100, 0.1), (CONTRASTIVE, 8, 128, 0.25)],
)
def test_a_shipped_backbone_is_small_and_comes_with_its_card_and_log(
    name: str, megabytes: float, cloud: int, miss: float
) -> None:
    backbone = Backbone.load(name)
    assert (FOLDER / f"{name}.safetensors").stat().st_size < megabytes * 1e6
    assert (backbone.eta, backbone.p, backbone.batch_size) == (2.0, 1.0, cloud)
    assert backbone.background.shape == (4000, 160)
    alpha, epsilon, beta = backbone.deaths.T
    assert (np.abs(epsilon - backbone.eta) < miss).all()
    assert (alpha < epsilon).all()
    assert (epsilon < beta).all()
    log = json.loads((FOLDER / f"{name}.json").read_text())
    assert log["results"]["digest"] == backbone.digest
    assert log["results"]["metadata"] == backbone.metadata
    card = (FOLDER / f"{name}.md").read_text()
    assert backbone.describe() in card
    for topic in ("Training data", "Apache-2.0", "Latents are not anonymous"):
        assert topic in card


def test_pooled_features_are_stored_and_checked(tmp_path: Path) -> None:
    backbone = Backbone.load()
    features = np.random.default_rng(0).normal(size=(30, 384)).astype(np.float16).astype(np.float32)
    path = tmp_path / "b.safetensors"
    replace(backbone, pooled_background=features).save(path)
    again = Backbone.load(path)
    assert again.background_features is not None
    np.testing.assert_array_equal(again.background_features, features)
    assert again.digests[1] == replace(backbone, pooled_background=None).digest != again.digest
    replace(backbone, pooled_background=features[:, 1:]).save(path)
    with pytest.raises(ValueError, match=r"pooled background is \[30, 383\], not \[k, 384\]"):
        Backbone.load(path)
    autoencoder = Backbone.load("cifar10-16x10")
    assert autoencoder.background_features is autoencoder.background
    assert autoencoder.digests == (autoencoder.digest,)


@pytest.mark.parametrize("images", ["a.png", [PIXELS[0]], Image.fromarray(PIXELS[0])])
def test_what_is_no_array_is_refused_by_its_type(backbone: Backbone, images: object) -> None:
    with pytest.raises(TypeError, match=rf"images must be an array, .* not {type(images).__name__}; corel.images.open"):
        backbone.encode(images)


def test_a_batch_of_no_images_is_refused(backbone: Backbone) -> None:
    with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
        backbone.encode(PIXELS, batch_size=0)
