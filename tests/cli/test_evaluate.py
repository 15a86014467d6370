"""Commands that measure."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from corel.backbone import Backbone
from corel.evaluation import evaluate
from corel.images import open as open_images
from corel.theory import diagnose

from .conftest import Corel


def test_diagnose_measures_the_background_or_images(corel: Corel, backbone_file: Path, photos: Path) -> None:
    backbone = Backbone.load(backbone_file)
    expected = diagnose(backbone.background, backbone.eta, 4, 100, batches=20, seed=1)
    asked = ("diagnose", "--backbone", backbone_file, "--batches", 20, "--seed", 1)
    assert corel(*asked).stdout == f"{expected}\n"
    found = json.loads(corel(*asked, "--json").stdout)
    np.testing.assert_allclose(found["mean"], expected.mean)
    np.testing.assert_allclose(found["near_eta"], expected.near_eta)
    too_few = corel(*asked, "--images", photos / "classes", exits=2)
    assert "65" in too_few.stderr
    digits = json.loads(corel(*asked, "--images", "digits", "--json").stdout)
    assert digits["mean"] != found["mean"]


def test_evaluate_prints_and_saves_what_the_library_measures(
    corel: Corel, backbone_file: Path, photos: Path, tmp_path: Path
) -> None:
    for split in ("train", "test"):
        (tmp_path / split).symlink_to(photos / "classes")
    asked = ("evaluate", tmp_path, "--backbone", backbone_file, "-m", 2, "-m", 5, "--draws", 2, "--seed", 3)
    images = [open_images(tmp_path, split, size=8) for split in ("train", "test")]
    expected = evaluate(Backbone.load(backbone_file), *images, exemplars=[2, 5], draws=2, seed=3)
    asked_files = ("--out", tmp_path / "found.json", "--report", tmp_path / "page.html")
    lines = corel(*asked, *asked_files).stdout.splitlines()
    assert lines[0] == "one-vs-all AUC, 3 classes, mean of 2 draws"
    assert len(lines) == 2 + len(expected.summary())
    for line, row in zip(lines[2:], expected.summary(), strict=True):
        assert line.startswith(row.method)
        assert f"{row.exemplars:5}  {row.mean:6.4f}" in line
    assert json.loads((tmp_path / "found.json").read_text()) == expected.document()
    assert "</html>" in (tmp_path / "page.html").read_text()
    only = json.loads(corel(*asked, "--score", "count", "--no-controls", "--json").stdout)
    assert {row["method"] for row in only["summary"]} == {"count"}
    no_folder = photos / "broken.png" / "page.html"
    failed = corel(*asked, "--score", "count", "--no-controls", "--report", no_folder, exits=2)
    assert failed.stdout.startswith("one-vs-all AUC")  # what was measured is not lost with the page


def test_one_draw_has_no_interval(corel: Corel, backbone_file: Path, tmp_path: Path) -> None:
    asked = ("evaluate", "digits", "--backbone", backbone_file, "-m", 5, "--draws", 1, "--no-controls")
    lines = corel(*asked, "--report", tmp_path / "page.html").stdout.splitlines()
    assert lines[0] == "one-vs-all AUC, 10 classes, mean of 1 draw"
    assert all(line.endswith("        –  –") for line in lines[2:])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Exemplars were drawn once, which gives no interval." in page
    assert "<td>–</td>" in page
    assert "lines are 95 % intervals" not in page
    rows = json.loads(corel(*asked, "--json").stdout)["summary"]
    assert all((row["spread"], row["low"], row["high"]) == (None, None, None) for row in rows)


def test_evaluate_refuses_what_it_cannot_measure(corel: Corel, backbone_file: Path, photos: Path) -> None:
    asked = ("evaluate", "--backbone", backbone_file)
    assert "needed" in corel(*asked, "digits", "-m", 5000, exits=2).stderr
    assert "no test split" in corel(*asked, photos / "classes", exits=2).stderr
