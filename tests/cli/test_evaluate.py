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
    said = corel(*asked, *asked_files).stdout.splitlines()
    lines = said[said.index("") + 1 :]
    assert said[0] == "3 classes, 5 exemplars each; score contrast, rate 0.05"
    assert lines[0] == "one-vs-all AUC, 3 classes, mean of 2 draws"
    assert len(lines) == 2 + len(expected.summary())
    for line, row in zip(lines[2:], expected.summary(), strict=True):
        assert line.startswith(row.method)
        assert f"{row.exemplars:5}  {row.mean:6.4f}" in line
    saved = json.loads((tmp_path / "found.json").read_text())
    assert saved.pop("recognition")["known"] == 65
    assert saved == expected.document()
    assert "What becomes of new images?" in (tmp_path / "page.html").read_text()
    assert "</html>" in (tmp_path / "page.html").read_text()
    only = json.loads(corel(*asked, "--score", "count", "--no-controls", "--json").stdout)
    assert {row["method"] for row in only["summary"]} == {"count"}
    no_folder = photos / "broken.png" / "page.html"
    failed = corel(*asked, "--score", "count", "--no-controls", "--report", no_folder, exits=2)
    assert "one-vs-all AUC" in failed.stdout  # what was measured is not lost with the page


def test_one_draw_has_no_interval(corel: Corel, backbone_file: Path, photos: Path, tmp_path: Path) -> None:
    asked = ("evaluate", photos / "classes", "--backbone", backbone_file, "-m", 2, "--draws", 1, "--no-controls")
    lines = corel(*asked, "--report", tmp_path / "page.html").stdout.splitlines()
    lines = lines[lines.index("") + 1 :]
    assert lines[0] == "one-vs-all AUC, 3 classes, mean of 1 draw"
    assert all(line.endswith("        –  –") for line in lines[2:])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Exemplars were drawn once, which gives no interval." in page
    assert "<td>–</td>" in page
    assert "lines are 95 % intervals" not in page
    rows = json.loads(corel(*asked, "--json").stdout)["summary"]
    assert all((row["spread"], row["low"], row["high"]) == (None, None, None) for row in rows)


def test_evaluate_refuses_what_it_cannot_measure(corel: Corel, backbone_file: Path, photos: Path) -> None:
    asked = ("evaluate", "--backbone", backbone_file)
    assert "needed" in corel(*asked, photos / "classes", "-m", 5000, exits=2).stderr
    assert "must have labels" in corel(*asked, photos / "classes" / "red", exits=2).stderr


def test_a_folder_without_a_test_split_is_split(corel: Corel, backbone_file: Path, photos: Path) -> None:
    asked = ("evaluate", photos / "classes", "--backbone", backbone_file, "--no-controls", "--draws", 1)
    found = json.loads(corel(*asked, "--json").stdout)
    assert found == json.loads(corel(*asked, "--json").stdout)  # seeded
    recognition = found["recognition"]
    assert recognition["enrolled"] == {"blue": 4, "green": 21, "red": 21}  # 30% of each class are tested
    assert recognition["known"] == 1 + 9 + 9
    assert recognition["in_turn"]
    assert sum(recognition["set_sizes"].values()) == recognition["known"]
    assert sum(sum(row.values()) for row in recognition["confusion"].values()) == recognition["known"]
    assert found["config"]["exemplars"] == [4]  # the largest number that all classes have
    assert "true class (rows) taken for (columns)" in corel(*asked).stdout


def test_test_classes_without_train_images_are_strangers_by_kind(
    corel: Corel, backbone_file: Path, photos: Path, tmp_path: Path
) -> None:
    """Only good parts are enrolled; what else is in test is a stranger of its kind."""
    for name, source in {"train/good": "red", "test/good": "red", "test/crack": "blue", "test/dent": "green"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(photos / "classes" / source)
    asked = ("evaluate", tmp_path, "--backbone", backbone_file)
    said = corel(*asked, "--report", tmp_path / "page.html", "--strict").stdout
    assert "skipped" not in said
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "classes that are not enrolled" in page
    assert "(AUC)" in page
    assert "Classes in the set: " in page
    assert "called a stranger or not a photograph: crack: " in page
    assert "35 strangers (classes that are not enrolled)\n  stranger or not a photograph " in said
    assert "one-vs-all" not in said
    found = json.loads(corel(*asked, "--json").stdout)["recognition"]
    assert found["enrolled"] == {"good": 30}
    assert {kind: count for kind, (count, _) in found["strangers"].items()} == {"crack": 5, "dent": 30}
    assert found["strangers"]["crack"][1] == 1.0
    assert found["auc"] > 0.9
