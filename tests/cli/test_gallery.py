"""Commands on a gallery."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pyarrow import parquet
from sklearn.datasets import load_sample_image

from corel.backbone import Backbone
from corel.training import TrainConfig, train

from .conftest import Corel, hue


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_enroll_counts_new_images_and_duplicates(
    corel: Corel, tmp_path: Path, photos: Path, backbone_file: Path
) -> None:
    red = photos / "classes" / "red"
    first = corel("enroll", tmp_path / "g", "red", red / "0?.png", "--backbone", backbone_file)
    assert first.stdout == "red: 10 new\n"
    assert corel("enroll", tmp_path / "g", "red", red).stdout == "red: 20 new\n10 already there, skipped\n"
    assert corel("enroll", tmp_path / "g", "red", red, "--quiet").output == ""
    as_json = corel("enroll", tmp_path / "g", "crimson", red, red / "00.png", "--json").stdout
    assert json.loads(as_json) == {"added": {"crimson": 30}, "duplicates": 1, "skipped": [], "elsewhere": {"red": 30}}


def test_a_folder_enrolled_under_two_names_is_reported(
    corel: Corel, tmp_path: Path, photos: Path, backbone_file: Path
) -> None:
    classes = photos / "classes"
    corel("enroll", tmp_path / "g", "red", classes / "red", "--backbone", backbone_file)
    assert "enrolled as" not in corel("enroll", tmp_path / "g", "green", classes / "green").stderr
    said = corel("enroll", tmp_path / "g", "crimson", classes / "red" / "0?.png").stderr
    assert "enrolled as red too: 10 images" in said
    said = corel("enroll", tmp_path / "g", "green", classes / "red" / "00.png").stderr
    assert "enrolled as red too: 1 image;" in said


def test_enroll_reads_names_from_standard_input(
    corel: Corel, tmp_path: Path, photos: Path, backbone_file: Path
) -> None:
    names = "\n".join(str(each) for each in (photos / "classes" / "blue").iterdir())
    result = corel("enroll", tmp_path / "g", "blue", "-", "--backbone", backbone_file, stdin=names)
    assert result.stdout == "blue: 5 new\n"


def test_enroll_by_folder(corel: Corel, tmp_path: Path, photos: Path, backbone_file: Path) -> None:
    result = corel("enroll", tmp_path / "g", photos / "classes", "--by-folder", "--backbone", backbone_file)
    assert result.stdout == "blue: 5 new\ngreen: 30 new\nred: 30 new\n"
    assert corel("classes", tmp_path / "g").stdout == "       5  blue\n      30  green\n      30  red\n"


def test_a_folder_before_a_known_dataset_of_the_same_name(
    corel: Corel, tmp_path: Path, photos: Path, backbone_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "digits").symlink_to(photos / "classes")
    monkeypatch.chdir(tmp_path)
    assert "red: 30 new" in corel("enroll", "g", "digits", "--by-folder", "--backbone", backbone_file).stdout


def test_an_unreadable_image_is_skipped_and_reported_or_an_error_if_strict(
    corel: Corel, gallery: Path, photos: Path
) -> None:
    before = gallery.read_bytes()
    images = [photos / "classes" / "blue", photos / "broken.png"]
    strict = corel("enroll", gallery, "blue", *images, "--strict", exits=2)
    assert "broken.png" in strict.stderr
    assert gallery.read_bytes() == before
    skipped = corel("enroll", gallery, "blue", *images)
    assert skipped.stdout == "blue: 5 new\n"
    assert skipped.stderr.startswith("skipped: ")
    assert "broken.png" in skipped.stderr
    assert "broken.png" in corel("score", gallery, *images, "--strict", exits=2).stderr
    scored = corel("score", gallery, *images, "--format", "csv")
    assert len(rows(scored.stdout)) == 6
    assert "broken.png" in scored.stderr


@pytest.mark.parametrize("style", ["csv", "jsonl", "parquet", "table"])
@pytest.mark.parametrize("every", [[], ["--all"]])
def test_an_unreadable_image_has_a_row_with_the_reason(
    corel: Corel,
    gallery: Path,
    photos: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    style: str,
    every: list[str],
) -> None:
    monkeypatch.setattr("corel.images._stream.BATCH", 1)  # the first batch holds no image that can be read
    out, broken = tmp_path / f"rows.{style}", photos / "broken.png"
    corel("score", gallery, broken, photos / "classes" / "red", "--format", style, *every, "--out", out)
    if style == "table":
        assert out.read_text().count("verdict") == 1
        (line,) = [each for each in out.read_text().splitlines() if each.startswith(str(broken))]
        assert line.split()[1:4] == ["unreadable", "is", "no"]
        return
    (row,) = [each for each in read_back(out) if each["image"] == str(broken)]
    assert row["verdict"] == "unreadable"
    assert row["note"].startswith("is no ")
    assert not any(row[name] for name in ("classes", "class", "p_value", "class_p_value", "score"))


def read_back(out: Path) -> list[dict[str, Any]]:
    if out.suffix == ".parquet":
        return list(parquet.read_table(out).to_pylist())
    text = out.read_text()
    return rows(text) if out.suffix == ".csv" else [json.loads(line) for line in text.splitlines()]


def test_where_no_image_can_be_read_no_file_is_written(
    corel: Corel, gallery: Path, photos: Path, tmp_path: Path
) -> None:
    broken = photos / "broken.png"
    said = corel("score", gallery, broken, "--out", tmp_path / "rows.csv", exits=2)
    assert "broken.png" in said.stderr
    assert not list(tmp_path.glob("rows*"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["enroll", "GALLERY", "a/b", "PHOTOS/classes/red"], "NAME 'a/b' cannot be that of a class"),
        (["enroll", "GALLERY", "a" * 10_000, "PHOTOS/classes/red"], "got 10,000; shorten"),
        (["enroll", "GALLERY", "red"], "name a class and its images"),
        (["enroll", "GALLERY", "PHOTOS/classes", "--by-folder", "more"], "name one folder"),
        (["enroll", "GALLERY", "red", "PHOTOS/classes"], "--by-folder"),
        (["enroll", "GALLERY", "PHOTOS/classes/red", "--by-folder"], "NAME is needed for items without labels"),
        (["enroll", "GALLERY", "red", "PHOTOS/missing.png"], "missing.png"),
        (["enroll", "GALLERY", "red", "PHOTOS/none*.png"], "none*.png"),
        (["enroll", "GALLERY", "red", "EMPTY"], "there is no image in"),
        (["enroll", "GALLERY", "red", "PHOTOS/broken.png"], "no image could be read"),
        (["enroll", "PHOTOS/missing/g", "red", "PHOTOS/classes/red"], "no folder"),
        (["enroll", "PHOTOS/broken.png/g", "red", "PHOTOS/classes/red"], "no folder"),
        (["enroll", "GALLERY", "red", "PHOTOS/classes/red", "--backbone", "missing"], "no backbone at missing"),
        (["score", "GALLERY", "PHOTOS/missing.png"], "missing.png"),
        (["score", "GALLERY", "PHOTOS/classes/red", "--rate", "1"], "0.999999"),
        (["score", "GALLERY", "PHOTOS/broken.png", "--format", "jsonl"], "broken.png"),
        (["score", "GALLERY", "-", "--format", "jsonl"], "no image was named"),
        (["score", "PHOTOS/missing", "PHOTOS/classes/red"], "there is no gallery"),
        (["score", "PHOTOS/broken.png", "PHOTOS/classes/red"], "not a gallery"),
        (["score", "GALLERY", "PHOTOS/classes/red", "--format", "parquet"], "--out"),
        (["explain", "GALLERY", "PHOTOS/classes/red/00.png", "gren"], "did you mean 'green'?"),
        (["explain", "GALLERY", "PHOTOS/broken.png", "green"], "no image could be read"),
        (["explain", "GALLERY", "PHOTOS/classes/red/00.png", "red", "--out", "a.xyz"], "xyz"),
        (["classes", "GALLERY", "gren"], "did you mean 'green'?"),
        (["forget", "GALLERY", "gren"], "did you mean 'green'?"),
        (["forget", "GALLERY", "green", "--hash", "00000000"], "'00000000' is neither the file"),
        (["forget", "GALLERY", "green", "none.png"], "corel: WHICH 'none.png' is neither the file of an exemplar"),
        (["forget", "GALLERY", "green", "31"], "position 31"),
        (["audit", "GALLERY", "gren"], "did you mean 'green'?"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2_and_changes_nothing(
    corel: Corel, gallery: Path, photos: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    (tmp_path / "empty").mkdir()
    before = gallery.read_bytes()
    places = {"GALLERY": gallery, "PHOTOS": photos, "EMPTY": tmp_path / "empty"}
    for word, place in places.items():
        arguments = [each.replace(word, str(place)) for each in arguments]
    result = corel(*arguments, exits=2)
    assert sentence in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert gallery.read_bytes() == before


def test_the_wrong_backbone_is_refused(
    corel: Corel, gallery: Path, photos: Path, backbone_file: Path, tmp_path: Path
) -> None:
    other = Backbone.load(backbone_file)
    other.eta *= 2
    other.save(tmp_path / "other.safetensors")
    for command in (("score", gallery), ("enroll", gallery, "red")):
        result = corel(*command, photos / "classes" / "red", "--backbone", tmp_path / "other.safetensors", exits=2)
        assert "was made with" in result.stderr


def test_score_tells_known_from_strangers(corel: Corel, gallery: Path, photos: Path) -> None:
    found = rows(corel("score", gallery, photos / "classes", "--format", "csv").stdout)
    assert [Path(row["image"]).parent.name for row in found] == ["blue"] * 5 + ["green"] * 30 + ["red"] * 30
    assert [row["verdict"] for row in found[:5]] == ["stranger"] * 5
    assert {row["classes"] for row in found[:5]} == {""}
    assert {row["verdict"] for row in found[5:]} <= {"known", "unsure"}  # a copy of an exemplar is most typical
    assert np.mean([row["class"] == Path(row["image"]).parent.name for row in found[5:]]) > 0.9
    for row in found[5:]:
        assert row["verdict"] == ("known" if len(row["classes"].split("/")) == 1 else "unsure")
        assert row["note"] == f"already enrolled as {Path(row['image']).parent.name}"


def test_all_gives_a_row_for_every_class_best_first(corel: Corel, gallery: Path, photos: Path) -> None:
    found = rows(corel("score", gallery, photos / "classes" / "red" / "03.png", "--all", "--format", "csv").stdout)
    assert [row["class"] for row in found] == ["red", "green"]
    assert float(found[0]["score"]) > float(found[1]["score"])


def test_formats_agree(corel: Corel, gallery: Path, photos: Path, tmp_path: Path) -> None:
    def scored(*options: object) -> str:
        return corel("score", gallery, photos / "classes", "--all", "--quiet", *options).stdout

    numbers = ("p_value", "class_p_value", "score")
    expected = [
        {**row, **{key: float(row[key]) for key in numbers}, "classes": [c for c in row["classes"].split("/") if c]}
        for row in rows(scored("--format", "csv"))
    ]
    assert len(expected) == 65 * 2
    assert [json.loads(line) for line in scored("--format", "jsonl").splitlines()] == expected
    assert scored("--format", "parquet", "--out", tmp_path / "r.parquet") == ""
    assert parquet.read_table(tmp_path / "r.parquet").to_pylist() == expected
    heading, *lines = scored().splitlines()
    assert heading.split() == ["image", "verdict", "class", "class_p_value", "score"]
    assert [line.split()[1:3] for line in lines] == [[row["verdict"], row["class"]] for row in expected]
    lengths = {len(line) for line, row in zip(lines, expected, strict=True) if not row["note"]}
    assert len(lengths) == 1  # aligned
    scored("--format", "csv", "--out", tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_text() == scored("--format", "csv")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["hues.gallery", "r.csv", "r.parquet"]


def test_the_ending_of_the_file_decides_the_format(corel: Corel, gallery: Path, photos: Path, tmp_path: Path) -> None:
    def written(name: str, *options: object) -> bytes:
        corel("score", gallery, photos / "classes" / "red", "--quiet", "--out", tmp_path / name, *options)
        return (tmp_path / name).read_bytes()

    for style in ("csv", "jsonl", "parquet"):
        assert written(f"named.{style.upper()}") == written("other", "--format", style)
        (tmp_path / "other").unlink()
    assert written("rows.txt").split()[:2] == [b"image", b"verdict"]
    assert written("rows.csv", "--format", "table") == written("rows.txt")
    assert written("rows.json", "--format", "jsonl") == written("rows.jsonl")
    said = corel("score", gallery, photos / "broken.png", "--out", tmp_path / "rows.xlsx", exits=2).stderr
    assert "name rows.csv, or choose with --format" in " ".join(said.split())
    assert not (tmp_path / "rows.xlsx").exists()


def test_names_from_standard_input_with_odd_characters(corel: Corel, gallery: Path, tmp_path: Path) -> None:
    odd = [tmp_path / 'a, "b".png', tmp_path / "ümläut.png", tmp_path / "tab\tcolon:.png"]
    for path in odd:
        Image.fromarray(hue(0, 1, seed=5)[0]).save(path)
    names = "\n".join(map(str, odd)) + "\n\n"
    lines = corel("score", gallery, "-", "--format", "jsonl", stdin=names).stdout.splitlines()
    assert [json.loads(line)["image"] for line in lines] == [str(path) for path in odd]
    text = corel("score", gallery, "-", "--format", "csv", stdin=names).stdout
    assert len(rows(text)) == 3
    assert "\t" not in text


def test_unread_pictures_of_a_folder_beside_standard_input_are_listed(
    corel: Corel, gallery: Path, photos: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    Image.fromarray(hue(0, 1, seed=5)[0]).save(folder / "a.png")
    (folder / "drawing.svg").write_text("<svg/>")
    named = f"{next((photos / 'classes' / 'red').iterdir())}\n"
    said = corel("score", gallery, "-", folder, "--format", "jsonl", stdin=named)
    assert [json.loads(line)["verdict"] == "unreadable" for line in said.stdout.splitlines()] == [False, False, True]
    assert "drawing.svg" in said.stderr
    assert "drawing.svg" in corel("score", gallery, "-", folder, "--strict", stdin=named, exits=2).stderr


def test_many_images_are_scored_batch_by_batch_as_all_at_once(
    corel: Corel, gallery: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = corel("score", gallery, photos / "classes", "--format", "csv").stdout
    monkeypatch.setattr("corel.images._stream.BATCH", 7)
    batched = corel("score", gallery, photos / "classes", "--format", "csv").stdout
    for one, other in zip(rows(whole), rows(batched), strict=True):
        assert (one["image"], one["class"], one["p_value"]) == (other["image"], other["class"], other["p_value"])


def test_fail_on_outlier(corel: Corel, gallery: Path, photos: Path) -> None:
    red, blue = photos / "classes" / "red", photos / "classes" / "blue"
    corel("score", gallery, red, "--fail-on-outlier")
    assert len(rows(corel("score", gallery, blue, "--fail-on-outlier", "--format", "csv", exits=1).stdout)) == 5
    corel("score", gallery, red, photos / "broken.png", "--fail-on-outlier", exits=1)
    corel("score", gallery, blue, "--rate", 0.001, "--fail-on-outlier")


def test_a_rate_too_small_for_the_exemplars_is_reported(corel: Corel, gallery: Path, photos: Path) -> None:
    red = photos / "classes" / "red"
    assert corel("score", gallery, red, "--rate", 0.04).stderr == ""  # 30 + 1 ≥ 1/0.04
    said = corel("score", gallery, red, "--rate", 0.01).stderr
    few = "too few exemplars to be ruled out at a rate of 0.01; 99 are needed"
    assert " ".join(said.split()) == f"green, red: {few} in these classes together"
    assert corel("score", gallery, red, "--rate", 0.01, "--quiet").stderr == ""
    blind = corel("score", gallery, red, "--rate", 0.01, "--quiet", "--fail-on-outlier").stderr
    assert "99 are needed" in blind  # exit code 0 says nothing
    assert corel("score", gallery, red, "--quiet", "--fail-on-outlier").stderr == ""
    corel("forget", gallery, "green")
    assert " ".join(corel("score", gallery, red, "--rate", 0.01).stderr.split()) == f"red: {few}"


def test_explain_writes_a_picture(corel: Corel, gallery: Path, photos: Path, tmp_path: Path) -> None:
    image = photos / "classes" / "red" / "00.png"
    out = corel("explain", gallery, image, "red", "--out", tmp_path / "why.png")
    assert out.stdout.startswith("Known: red (already enrolled as red)\nIt is an exemplar itself")
    assert out.stdout.endswith(f"drawn in {tmp_path / 'why.png'}\n")
    with Image.open(tmp_path / "why.png") as picture:
        assert np.asarray(picture).std() > 10
    asked = ("explain", gallery, image, "--out", tmp_path / "why.svg", "--expert", "--json")
    found = json.loads(corel(*asked).stdout)  # the likeliest class, for none is named
    assert (found["verdict"], found["class"]) == ("known", "red")
    assert [each["class"] for each in found["comparisons"]] == ["red", "green"]
    assert sum(each["share"] for each in found["comparisons"][0]["voters"]) == pytest.approx(1)
    assert [len(voters) for voters in found["voters"]] == found["counts"]
    assert found["exemplars"] == 30
    assert sum(found["parts"]) == pytest.approx(found["score"])
    assert "<svg" in (tmp_path / "why.svg").read_text()[:2000]


def test_classes_and_forget(corel: Corel, gallery: Path) -> None:
    assert json.loads(corel("classes", gallery, "--json").stdout) == {"classes": {"green": 30, "red": 30}}
    listed = json.loads(corel("classes", gallery, "red", "--json").stdout)["exemplars"]
    shown = corel("classes", gallery, "red").stdout.splitlines()
    assert [line.split()[0] for line in shown] == [each["hash"][:12] for each in listed]
    assert shown[7].endswith("07.png")
    first, second = (each["hash"][:8] for each in listed[:2])
    assert corel("forget", gallery, "red", "--hash", first, "--hash", second).stdout == "red: 2 forgotten\n"
    assert json.loads(corel("forget", gallery, "red", "--json").stdout) == {"forgotten": 28}
    corel("forget", gallery, "green")
    assert corel("classes", gallery).stdout == "no classes yet\n"
    assert json.loads(corel("classes", gallery, "--json").stdout) == {"classes": {}}


def test_feature_vectors_come_in_one_file(corel: Corel, photos: Path, tmp_path: Path) -> None:
    features = np.random.default_rng(0).normal(size=(100, 5))
    np.save(tmp_path / "rows.npy", features)
    config = TrainConfig.preset("features", epochs=1, branches=2)
    train(features, config, progress=False).save(tmp_path / "b.safetensors")
    asked = ("enroll", tmp_path / "g", "all", tmp_path / "rows.npy", "--backbone", tmp_path / "b.safetensors")
    assert corel(*asked).stdout == "all: 100 new\n"
    found = rows(corel("score", tmp_path / "g", tmp_path / "rows.npy", "--format", "csv").stdout)
    assert [row["image"] for row in found] == [f"row {i}" for i in range(100)]
    for command in (("enroll", tmp_path / "g", "all"), ("score", tmp_path / "g")):
        assert "must be one .npy or .npz file" in corel(*command, photos / "classes" / "red", exits=2).stderr


def test_the_table_shows_the_whole_set(corel: Corel, gallery: Path, photos: Path) -> None:
    blue = photos / "classes" / "blue"
    heading, *lines = corel("score", gallery, blue, "--rate", 0.001).stdout.splitlines()
    assert heading.split() == ["image", "verdict", "class", "p_value"]
    shown = {tuple(line.split()[1:3]) for line in lines}
    assert shown <= {("unsure", "red/green"), ("unsure", "green/red")}  # no class is ruled out at 0.1%
    stranger = corel("score", gallery, blue / "00.png").stdout.splitlines()[1].split()
    assert stranger[1] == "stranger"
    assert stranger[2] in ("(red)", "(green)")


def test_columns_stay_aligned_after_wide_characters(corel: Corel, gallery: Path, photos: Path, tmp_path: Path) -> None:
    names = ("猫.png", "🐈🐈.png", "cat_at_home.png")
    for name in names:
        shutil.copy(photos / "classes" / "red" / "00.png", tmp_path / name)
    monitor = corel("score", gallery, *(tmp_path / name for name in names)).stdout.splitlines()
    before = [line[: line.index(word)] for line, word in zip(monitor, ["verdict", *["known"] * 3], strict=True)]
    assert len({sum(1 + (ord(letter) > 0x2000) for letter in text) for text in before}) == 1


def test_audit_names_what_does_not_belong_and_forget_takes_its_position(
    corel: Corel, gallery: Path, photos: Path, tmp_path: Path
) -> None:
    corel("enroll", gallery, "red", photos / "classes" / "blue" / "00.png")
    shown = corel("audit", gallery, "red", "-n", 3).stdout.splitlines()
    assert shown[0].endswith("more than 3 deviations below the median of the class")
    assert shown[3].split()[:2] == ["1", "red"]
    assert shown[3].endswith("blue/00.png")
    assert len(shown) == 6
    found = json.loads(corel("audit", gallery, "--json").stdout)
    assert len(found["exemplars"]) == 61
    assert (found["exemplars"][0]["position"], found["exemplars"][0]["odd"]) == (1, True)
    assert corel("forget", gallery, "red", "1").stdout == "red: 1 forgotten\n"
    assert corel("forget", gallery, "red", "00.png", "red/01.png").stdout == "red: 2 forgotten\n"
    sources = [each["source"] for each in json.loads(corel("classes", gallery, "red", "--json").stdout)["exemplars"]]
    assert [Path(each).name for each in sources] == [f"{i:02}.png" for i in range(2, 30)]


def test_a_file_name_that_is_no_text_is_escaped_in_json(
    corel: Corel, gallery: Path, photos: Path, tmp_path: Path
) -> None:
    """A lone surrogate is an escape that pandas, jq and others refuse."""
    (tmp_path / "new").mkdir()
    shutil.copy(photos / "classes" / "red" / "00.png", tmp_path / "new" / os.fsdecode(b"caf\xe9\n.png"))
    lines = [corel("score", gallery, tmp_path / "new", "--format", "jsonl").stdout]
    corel("watch", gallery, tmp_path / "new", "--out", tmp_path / "rows.jsonl", "--once", "--settle", "0")
    lines.append((tmp_path / "rows.jsonl").read_text())
    for line in lines:
        name = Path(json.loads(line)["image"]).name
        assert name.encode() == rb"caf\udce9" + b"\n.png"


def test_enrolling_a_black_frame_is_remarked_on(corel: Corel, tmp_path: Path) -> None:
    Image.fromarray(load_sample_image("china.jpg")[:400, :400]).save(tmp_path / "photo.png")
    Image.new("RGB", (64, 64)).save(tmp_path / "black.png")
    remark = "1 exemplar looks like blank or noise frames, so such images are let pass from now on"
    assert remark not in corel("enroll", tmp_path / "g", "c", tmp_path / "photo.png").stderr
    assert remark in corel("enroll", tmp_path / "g", "c", tmp_path / "black.png").stderr
