"""The demo from end to end, with less of everything."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from corel import images
from corel.backbone import Backbone
from corel.cli import _demo
from corel.demo import digits as demo
from corel.gallery import Gallery
from corel.training import TrainConfig, train


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backbone of another size than the demo trains."""
    path = tmp_path_factory.mktemp("backbone") / "small.safetensors"
    train(images.open("digits", size=8), TrainConfig(epochs=2, width=4), progress=False).save(path)
    return path


def printed(table: Table) -> str:
    output = io.StringIO()
    Console(file=output, width=120).print(table)
    return output.getvalue()


def test_compare_measures_both_encoders_and_writes_the_page(tmp_path: Path) -> None:
    found = demo.compare(tmp_path, epochs=2, width=4, exemplars=5, draws=2, quiet=True)
    methods = {row.method for row in found.evaluation.summary()}
    variants = ("", ", untrained encoder", ", without the loss", ", without the loss, radius fitted")
    assert methods >= {f"{score}{variant}" for score in ("count", "contrast") for variant in variants}
    assert found.report == tmp_path / "report.html"
    assert found.report.read_text().count("<section ") == 10
    shown = printed(_demo._auc_table(found.evaluation))
    best = max(found.evaluation.summary(), key=lambda row: row.mean)
    assert f"enrolled: {best.method}." in " ".join(shown.split())
    assert all(f"{row.mean:.4f}" in shown for row in found.evaluation.summary())


def test_halves_share_no_image_and_split_every_class() -> None:
    digits = images.open("digits", "test", size=8)
    one, other = demo._halves(digits)
    assert sorted([*one.names, *other.names]) == sorted(digits.names)
    for label in range(10):
        sizes = [np.count_nonzero(half.labels == label) for half in (one, other)]
        assert abs(sizes[0] - sizes[1]) <= 1


def test_enroll_leaves_a_gallery_and_images_for_the_next_command(tmp_path: Path, pretrained: Path) -> None:
    (tmp_path / "images").mkdir()
    mine = [tmp_path / "digits.gallery", tmp_path / "images" / "0.png"]
    for file in mine:
        file.write_text("mine")
    for _ in range(2):  # a second demo replaces the first, and nothing else
        found = demo.enroll(tmp_path, backbone=pretrained, quiet=True)
    assert [file.read_text() for file in mine] == ["mine", "mine"]
    with Gallery.open(found.gallery) as gallery:
        assert list(gallery.classes()) == ["0", "1", "2", "3", "4"]
        assert gallery.backbone.digest == Backbone.load(pretrained).digest
        again = gallery.score(sorted(found.images.glob("*.png")))
    assert again.p_values.tolist() == found.scores.p_values.tolist()
    rows = [line for line in printed(_demo._score_table(found)).splitlines() if line.startswith("│")]
    assert len(rows) == 10


def test_a_file_in_the_place_of_the_folder_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(ValueError, match="is a file; name a folder"):
        _demo.demo(out=taken)
    assert taken.read_text() == "mine"


def test_the_next_command_can_be_typed_as_it_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = (tmp_path / folder / "corel" for folder in ("my programs", "others"))
    for program in (mine, other):
        program.parent.mkdir()
        program.touch(0o755)
    monkeypatch.setattr(sys, "argv", [str(mine), "demo"])
    for path, typed in ((mine.parent, "corel"), (other.parent, f"'{mine}'"), (tmp_path, f"'{mine}'")):
        monkeypatch.setenv("PATH", str(path))
        assert _demo._program() == typed
