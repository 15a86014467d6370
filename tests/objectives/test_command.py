"""The two objectives from the command line."""

from pathlib import Path

import numpy as np
import pytest
import typer
from numpy.typing import NDArray
from typer.testing import CliRunner, Result

from corel.backbone import Backbone
from corel.cli import _backbones, _train
from corel.training import TrainConfig, train

pytestmark = pytest.mark.usefixtures("one_thread")


def corel_train(*arguments: str) -> Result:
    app = typer.Typer(pretty_exceptions_enable=False)
    _train.register(app)
    _backbones.register(app)
    return CliRunner().invoke(app, ["train", *arguments], catch_exceptions=False)


@pytest.fixture
def rows() -> NDArray[np.float64]:
    return np.random.default_rng(0).normal(size=(100, 5))


@pytest.mark.parametrize("labeled", [True, False])
def test_features_of_a_file_become_a_backbone(tmp_path: Path, rows: NDArray[np.float64], labeled: bool) -> None:
    file, out = tmp_path / "table.npz", tmp_path / "table.safetensors"
    if labeled:
        np.savez(file, labels=np.arange(100), features=rows)
    else:
        np.savez(file, anything=rows)
    result = corel_train("--features", str(file), "--out", str(out), "--epochs=1", "--branches=2")
    assert result.exit_code == 0, result.output
    written = Backbone.load(out)
    assert written.digest == train(rows, TrainConfig.preset("features", epochs=1, branches=2)).digest
    assert written.metadata["data"]["source"] == str(file)
    assert "objective features" in result.output


def test_views_are_learned_with_the_preset(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (16, 8, 8, 3), np.uint8)
    np.save(tmp_path / "noise.npy", pixels)
    small = ["--size=8", "--width=4", "--batch-size=8", "--cloud-size=4", "--epochs=1", "--precision=float32"]
    out = tmp_path / "b.safetensors"
    result = corel_train(str(tmp_path / "noise.npy"), "--preset=contrastive", f"--out={out}", *small)
    assert result.exit_code == 0, result.output
    assert Backbone.load(out).objective == "contrastive"


def test_mistakes_are_clear_errors(tmp_path: Path, rows: NDArray[np.float64]) -> None:
    out = f"--out={tmp_path / 'b.safetensors'}"
    with pytest.raises(ValueError, match="Give either SOURCE"):
        corel_train(out)
    with pytest.raises(ValueError, match="Give either SOURCE"):
        corel_train("digits", "--features", "table.npy", out)
    np.savez(tmp_path / "two.npz", first=rows, second=rows)
    with pytest.raises(ValueError, match="holds first, second; name the array of features 'features'"):
        corel_train("--features", str(tmp_path / "two.npz"), out)
    np.save(tmp_path / "objects.npy", np.array([{}, None]), allow_pickle=True)
    with pytest.raises(ValueError, match="needs a pickle, which is not read"):
        corel_train("--features", str(tmp_path / "objects.npy"), out)
