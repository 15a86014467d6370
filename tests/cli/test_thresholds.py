"""`corel score --confidence`, `corel select` and `corel tune`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from PIL import Image

from corel.gallery import Gallery

from .conftest import Corel, hue


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unseen images: 40 red in `members`, 40 blue in `strangers`."""
    folder = tmp_path_factory.mktemp("new")
    for channel, name in ((0, "members"), (2, "strangers")):
        (folder / name).mkdir()
        for i, pixels in enumerate(hue(channel, 40, seed=20 + channel)):
            Image.fromarray(pixels).save(folder / name / f"{i:02}.png")
    return folder


def test_score_with_a_confidence_has_a_stricter_limit_and_says_so(corel: Corel, gallery: Path, new: Path) -> None:
    result = corel("score", gallery, new / "strangers", "--confidence", "0.95", "--format", "csv")
    found = list(csv.DictReader(io.StringIO(result.stdout)))
    said = " ".join(result.stderr.split())
    assert "59 of 60 exemplars calibrate, the others score" in said
    assert "at most 0.0167 instead of 0.05" in said
    assert [row["verdict"] == "stranger" for row in found] == [float(row["p_value"]) <= 1 / 60 for row in found]
    with Gallery.open(gallery) as opened:
        verdicts = opened.recognize(new / "strangers", 0.05, 0.95)
    assert [row["verdict"] for row in found] == [each.verdict for each in verdicts]


def test_a_confidence_that_needs_more_exemplars_is_refused(corel: Corel, gallery: Path, new: Path) -> None:
    said = corel("score", gallery, new / "members", "--rate", "0.02", "--confidence", ".95", exits=2).stderr
    assert "--confidence of 0.95 in a rate of 0.02 needs at least 149 exemplars that calibrate" in " ".join(
        said.split()
    )


def test_a_confidence_is_refused_where_no_exemplars_are_held_out(corel: Corel, gallery: Path, new: Path) -> None:
    arguments = ("score", gallery, new / "members", "--engine", "ray", "--out", "scored", "--confidence", "0.95")
    assert "--confidence holds exemplars out, which --engine ray cannot do" in corel(*arguments, exits=2).stderr


def test_select_prints_names_and_the_false_discovery_rate(corel: Corel, gallery: Path, new: Path, photos: Path) -> None:
    result = corel("select", gallery, new, "--fdr", "0.2", photos / "broken.png")
    chosen = [Path(line) for line in result.stdout.splitlines()]
    assert sum(each.parent.name == "strangers" for each in chosen) > 30
    assert f"{len(chosen)} of 80 images selected; on average at most 20.0% of a selection is wrong" in result.stderr
    assert "broken.png" in result.stderr
    found = json.loads(corel("select", gallery, new, "--fdr", "0.2", "--json").stdout)
    assert [each["image"] for each in found["selected"]] == list(map(str, chosen))
    assert (found["images"], found["calibrating"]) == (80, 30)


def test_select_says_when_nothing_can_be_selected(corel: Corel, gallery: Path, new: Path) -> None:
    result = corel("select", gallery, new / "members", new / "strangers" / "00.png", "--fdr", "0.01", "--quiet")
    assert result.stdout == ""
    said = " ".join(result.stderr.split())
    assert "1 of 41 images fits worse than all 30 exemplars that calibrate, and even all 41 would be too few" in said
    assert "exemplars, half of which calibrate" in said


def test_tune_shows_members_and_strangers_and_finds_the_rate_for_a_share(
    corel: Corel, gallery: Path, new: Path, tmp_path: Path
) -> None:
    arguments = ("tune", gallery, "--members", new / "members", "--strangers", new / "strangers", "--stop", "90%")
    before = gallery.read_bytes()
    text = corel(*arguments, "--out", tmp_path / "tune.png").stdout
    assert "40 members" in text
    assert "40 strangers" in text
    assert "To stop 90% of these strangers, use --rate" in text
    assert "changes no guarantee" in text
    assert "too few exemplars: half of them calibrate here, 30" in text
    with Image.open(tmp_path / "tune.png") as picture:
        assert picture.width > picture.height
    found = json.loads(corel(*arguments, "--json").stdout)
    rate = found["wish"]["rate"]
    with Gallery.open(gallery) as opened:
        scores = opened.score(new / "strangers", photographs=False)
    assert (scores.known <= rate).mean() >= 0.9
    assert (scores.known < rate).mean() < 0.9
    shares = {each["rate"]: each for each in found["rates"]}
    assert shares[0.05]["strangers"] == (scores.known <= 0.05).mean()
    assert shares[0.05]["with_confidence"] is None  # 30 calibrate, and it takes 59
    assert shares[0.1]["with_confidence"]["strangers"] <= 1
    assert gallery.read_bytes() == before


def test_tune_leaves_out_members_that_are_enrolled(corel: Corel, gallery: Path, new: Path, photos: Path) -> None:
    strangers = ("--strangers", new / "strangers")
    enrolled = photos / "classes" / "red"
    both = corel("tune", gallery, "--members", new / "members", "--members", enrolled, *strangers).stdout
    assert "30 members left out: already enrolled" in both
    assert "40 members" in both
    said = corel("tune", gallery, "--members", enrolled, *strangers, exits=2).stderr
    assert "--members are all enrolled already" in said


@pytest.mark.parametrize(("stop", "sentence"), [("most", "no share"), ("0", "no share"), ("900%", "no share")])
def test_an_impossible_share_to_stop_is_refused(
    corel: Corel, gallery: Path, new: Path, stop: str, sentence: str
) -> None:
    arguments = ("--members", new / "members", "--strangers", new / "strangers", "--stop", stop)
    assert sentence in corel("tune", gallery, *arguments, exits=2).stderr


def test_no_rate_stops_strangers_that_look_enrolled(corel: Corel, gallery: Path, new: Path, photos: Path) -> None:
    arguments = ("--members", new / "members", "--strangers", photos / "classes" / "red", "--stop", "100%")
    text = corel("tune", gallery, *arguments).stdout
    assert "100% of these strangers" in text
