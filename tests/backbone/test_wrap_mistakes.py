"""Mistakes in wrapping an encoder: each is one sentence, and no file is written."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from typer.testing import CliRunner, Result

from corel.backbone import Backbone
from corel.cli import app
from corel.encoders import wrapping
from corel.encoders.pretrained import Pretrained
from tests.encoders.small_graph import WIDTH, model

from .test_wrap import backbone as backbone  # a fixture
from .test_wrap import folder as folder

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lite"], "ENCODER 'lite' is unknown; did you mean lite0?"),
        (["onnx:absent.onnx"], "no ONNX file absent.onnx"),
        (["onnx:{folder}/small.onnx", "--size", "32"], "takes images of 16 pixels; leave it out"),
        (["onnx:{folder}/small.onnx", "--layers", "pool"], "near it are pooled\n"),
        (["onnx:{folder}/small.onnx", "--weights", "x.pth"], "--weights is for timm:NAME"),
        (["onnx:{folder}/small.onnx", "--crop", "1.5"], "--crop must be a share above 0 and at most 1, got 1.5"),
        (["onnx:{folder}/small.onnx", "--interpolation", "cubic"], "interpolation must be one of nearest, bilinear"),
        (
            ["onnx:{folder}/small.onnx", "--mean", "0", "0", "0", "--deviation", "1", "0", "1"],
            "--deviation must be three",
        ),
        (["onnx:{folder}/small.onnx", "--channels", "gbr"], "--channels is one of rgb, bgr, got 'gbr'"),
        (["timm:hf-hub:someone/model"], "timm:hf-hub:someone/model names a place, not a model of timm's registry"),
        (["onnx:{folder}/small.onnx", "--shrink", "16"], "--shrink must be from 1 to 15, got 16"),
        (["vectors", "--channels", "bgr"], "--channels does not apply to vectors"),
        (["vectors", "--head", "connectivity"], "for vectors: corel train --features FILE"),
        (["vectors", "--crop", "0.5"], "--crop does not apply to vectors"),
        (["vectors"], "background"),
    ],
)
def test_mistakes_are_one_sentence_and_write_nothing(folder: Path, tmp_path: Path, words: list[str], said: str) -> None:
    asked = [each.format(folder=folder) for each in words]
    out = tmp_path / "x.safetensors"
    result = CliRunner().invoke(
        app, ["backbone", "wrap", *asked, "--background", str(folder / "background"), "--out", str(out)]
    )
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def bad_graphs(folder: Path) -> None:
    """Write a file for each thing that a graph may have wrong."""
    twice = model(nodes=[helper.make_node("Add", ["pooled", "other"], ["end"])], output="end")
    twice.graph.input.append(helper.make_tensor_value_info("other", 1, ["n", WIDTH]))
    (folder / "two.onnx").write_bytes(twice.SerializeToString())
    root = [helper.make_node("Neg", ["pooled"], ["negative"]), helper.make_node("Sqrt", ["negative"], ["end"])]
    where = [helper.make_node("NonZero", ["pooled"], ["where"]), helper.make_node("Cast", ["where"], ["end"], to=1)]
    turned = [*where[:1], helper.make_node("Cast", ["where"], ["rows"], to=1)]
    turned += [helper.make_node("Transpose", ["rows"], ["end"])]
    for name, nodes in {
        "nan": root, "varying": where, "uncounted": turned,
        "unknown": [helper.make_node("Sharpen", ["pooled"], ["end"])],
        "custom": [helper.make_node("Sharpen", ["pooled"], ["end"], domain="com.example")],
    }.items():  # fmt: skip
        (folder / f"{name}.onnx").write_bytes(model(nodes=nodes, output="end").SerializeToString())
    outside = model()
    outside.graph.initializer.append(numpy_helper.from_array(np.zeros((64, 64), np.float32), "large"))
    onnx.save(outside, folder / "outside.onnx", save_as_external_data=True, location="outside.data")
    with (folder / "huge.onnx").open("wb") as file:
        file.truncate(2**31)  # takes no room on the disk


@pytest.mark.parametrize(
    ("encoder", "photos", "said"),
    [
        ("two.onnx", "background", "two.onnx has 2 inputs (images, other)"),
        ("outside.onnx", "background", "keeps large in another file (external data)"),
        ("unknown.onnx", "background", "uses an unknown operator Sharpen"),
        ("custom.onnx", "background", "uses the custom operator com.example.Sharpen"),
        ("varying.onnx", "background", "the vectors of end have no fixed length"),
        ("uncounted.onnx", "background", "for 32 images, not [32, 2]; export it with one vector an image"),
        ("nan.onnx", "background", "the encoder gives NaN or infinity for image 0"),
        ("huge.onnx", "background", "huge.onnx has 2 GB or more"),
        ("small.onnx", "red/new", "--background needs at least 50 different items"),
    ],
)
def test_unusable_encoders_and_backgrounds_leave_no_file(
    folder: Path, tmp_path: Path, encoder: str, photos: str, said: str
) -> None:
    bad_graphs(folder)
    refused(said, f"onnx:{folder / encoder}", folder / photos, tmp_path)


def refused(said: str, encoder: str, photos: Path, place: Path) -> None:
    """Whether wrapping gives one sentence, and leaves nothing in an empty folder."""
    words = ["backbone", "wrap", encoder, "--background", str(photos), "--out", str(place / "x.safetensors")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not list(place.iterdir())


def test_missing_and_old_runtimes_are_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    encoder = f"onnx:{folder / 'small.onnx'}"
    monkeypatch.setattr(onnxruntime, "__version__", "1.9.0")
    refused("onnxruntime 1.9.0 is too old, a wrapped encoder needs 1.18", encoder, folder / "background", tmp_path)
    found = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None if name == "onnx" else found(name, *rest))
    refused("pip install 'corel[onnx]'", encoder, folder / "background", tmp_path)


def test_too_few_photos_are_refused(folder: Path, backbone: Backbone) -> None:
    files, network = sorted((folder / "background").iterdir())[:20], backbone.network
    assert isinstance(network, Pretrained)
    with pytest.raises(ValueError, match="at least 50 different items"):
        wrapping.run(network, backbone.preparation, files)


def wrapped(folder: Path, out: Path, *more: str) -> Result:
    encoder, photos = f"onnx:{folder / 'small.onnx'}", folder / "background"
    words = ["backbone", "wrap", encoder, "--background", str(photos), "--out", str(out), *more]
    return CliRunner().invoke(app, words)


def test_a_mistyped_command_keeps_the_rows_of_an_interrupted_one(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    out, partial = tmp_path / "mine.safetensors", tmp_path / "mine.partial"
    with monkeypatch.context() as patched:
        patched.setattr(wrapping, "_check", interrupted)  # after the last photo
        assert wrapped(folder, out).exit_code == 130
    before = partial.read_bytes()
    for mistake in (["--crop", "1.5"], ["--mean", "0", "0", "0", "--deviation", "1", "0", "1"], ["--size", "32"]):
        assert wrapped(folder, out, *mistake).exit_code == 2
        assert partial.read_bytes() == before
    monkeypatch.setattr(Pretrained, "encode", interrupted_unless_few)
    assert wrapped(folder, out).exit_code == 0
    assert [each.name for each in tmp_path.iterdir()] == ["mine.safetensors"]


def interrupted_unless_few(self: Pretrained, items: Any, *arguments: Any, **options: Any) -> Any:
    """Encode the few items that weights are compared by, and no more."""
    assert len(items) <= wrapping.COMPARED, "the rows of the interrupted run were not used"
    return self.embed(items, *arguments, **options).latents


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"my notes\n", "mine.partial is a text file, and a binary file would replace it; name another file"),
        (bytes(range(256)), "mine.partial holds no rows of an interrupted wrap; delete it, or name another --out"),
    ],
)
def test_a_file_with_the_name_of_the_rows_is_never_replaced(
    folder: Path, tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "mine.partial").write_bytes(content)
    result = wrapped(folder, tmp_path / "mine.safetensors")
    assert result.exit_code == 2
    assert said in result.stderr
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"mine.partial": content}


def test_the_rows_cannot_go_into_the_result_itself(folder: Path, tmp_path: Path) -> None:
    assert "name another file" in wrapped(folder, tmp_path / "mine.partial").stderr
    assert not list(tmp_path.iterdir())
