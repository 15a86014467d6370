from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

import corel.images
from corel.backbone import Backbone, shipped
from corel.cli import _backbones, _train
from corel.training import TrainConfig, train

SMALL = [
    "--branches=2",
    "--branch-dim=3",
    "--width=4",
    "--batch-size=10",
    "--epochs=1",
    "--precision=float32",
    "--size=8",
]


def corel_(*arguments: str) -> Result:
    app = typer.Typer(pretty_exceptions_enable=False)
    _train.register(app)
    _backbones.register(app)
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "200", "NO_COLOR": "1"}, catch_exceptions=False)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    pixels = np.random.default_rng(0).integers(0, 256, (40, 8, 8, 3), np.uint8)
    np.save(tmp_path / "noise.npy", pixels)
    return tmp_path / "noise.npy"


def test_every_parameter_is_an_option_with_a_line_of_help() -> None:
    text = corel_("train", "--help").output
    for field in fields(TrainConfig):
        option = re.escape(f"--{field.name.replace('_', '-')}")
        assert re.search(rf"{option} .*\w+ \w+.*\[default: \({re.escape(str(field.default))}\)\]", text), field.name


def test_training_writes_the_backbone_that_the_library_trains(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "noise.safetensors"
    result = corel_("train", str(source), f"--out={out}", "--preset=paper", "--seed=3", "--eta=1.5", *SMALL)
    assert result.exit_code == 0, result.output
    written = Backbone.load(out)
    config = TrainConfig.preset(
        "paper", seed=3, eta=1.5, branches=2, branch_dim=3, width=4, batch_size=10, epochs=1, precision="float32"
    )
    assert written.metadata["config"] == asdict(config)
    assert written.digest == train(corel.images.open(source, size=8), config).digest
    assert written.describe() in result.output
    assert (tmp_path / "noise.run" / "metrics.jsonl").exists()


def test_a_report_is_written_on_request(source: Path, tmp_path: Path) -> None:
    result = corel_(
        "train", str(source), f"--out={tmp_path / 'b.safetensors'}", f"--report={tmp_path / 'page.html'}", *SMALL
    )
    assert result.exit_code == 0, result.output
    assert "</html>" in (tmp_path / "page.html").read_text()


def test_the_same_command_with_more_epochs_continues(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "b.safetensors"
    for epochs in (1, 2):
        assert corel_("train", str(source), f"--out={out}", *SMALL, f"--epochs={epochs}").exit_code == 0
    assert [line["epoch"] for line in Backbone.load(out).metadata["history"]] == [1, 2]


def test_importing_the_commands_imports_no_heavy_packages() -> None:
    code = "import sys, corel.cli._train; assert not {'torch', 'accelerate', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_show_prints_the_card_and_export_writes_onnx(source: Path, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    out, onnx = tmp_path / "b.safetensors", tmp_path / "b.onnx"
    corel_("train", str(source), f"--out={out}", *SMALL)
    assert "2 branches × 3 dimensions" in corel_("backbone", "show", str(out)).output
    assert corel_("backbone", "export", str(out), f"--onnx={onnx}").exit_code == 0
    (latents,) = onnxruntime.InferenceSession(onnx).run(None, {"images": np.zeros((3, 3, 8, 8), np.float32)})
    assert latents.shape == (3, 6)


def test_list_names_what_ships() -> None:
    assert [line[2:] for line in corel_("backbone", "list").output.splitlines()] == shipped()
