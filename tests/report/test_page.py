"""What the page says, against what was measured; what is missing; what must never get into it."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from html import escape, unescape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from PIL import Image

from corel.evaluation import remark
from corel.report import _scores, _theory, _topology, _training, write_report
from corel.report._content import Material
from corel.training import TrainConfig
from tests.report.conftest import NAMES, TITLE, Case

SECTIONS = 10


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_the_page_has_every_section_and_loads_nothing_else(page: Path) -> None:
    html = text_of(page)
    assert html.count("<section ") == SECTIONS
    assert "Left out" not in html
    assert page.stat().st_size < 5_000_000
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.findall(r"<(script|link rel=.stylesheet|iframe)", html)
    assert {kind.split(":")[0] for kind in re.findall(r'src="([^"]{5})', html)} == {"data"}


def test_names_are_text_and_never_markup(page: Path) -> None:
    html = text_of(page)
    assert escape(TITLE) in html
    for bad in (*NAMES[:2], TITLE, "the <same> again"):
        assert bad not in html
    assert "alert(" in unescape(html)


def test_ids_are_unique_and_every_reference_has_its_target(page: Path) -> None:
    html = text_of(page)
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="#|url\(#)([\w-]+)', html)) <= set(ids)


def test_the_table_holds_the_evaluations_numbers_and_marks_the_highest(page: Path, case: Case) -> None:
    html = unescape(text_of(page))
    for row in case.evaluation.summary():
        assert re.search(rf"{re.escape(row.method)}</th><td>{row.exemplars}</td><td>{row.mean:.4f}", html)
    best = max((row for row in case.evaluation.summary() if row.exemplars == 20), key=lambda row: row.mean)
    strong = re.findall(r'<tr class="strong"><th scope="row">([^<]*)</th><td>(\d+)', html)
    assert strong == [(best.method, "20")]


def test_the_remark_below_the_table_is_about_the_highest_mean(page: Path, case: Case) -> None:
    assert f'<p class="remark">{remark(case.evaluation)}</p>' in unescape(text_of(page))


def test_captions_name_the_encoder_reported_on(page: Path) -> None:
    assert "Measured on the latents that are called “trained” above." in text_of(page)
    assert "Thin gray lines are the single classes behind the mean of “trained”" in text_of(page)


def test_branches_count_from_0_and_epochs_are_whole(case: Case) -> None:
    material = Material({"it": case.backbone}, case.enrolled)
    deaths, losses = _topology.deaths(material, _topology.clouds(material, case.enrolled)), _training.losses(material)
    assert deaths is not None
    assert losses is not None
    for panel in deaths.panels:
        assert [tick.get_text() for tick in panel.figure.axes[0].get_yticklabels()] == ["0", "1"]
    for panel in losses.panels:
        assert all(tick % 1 == 0 for tick in panel.figure.axes[0].get_xticks())


def test_the_axis_holds_the_distribution_of_every_branch() -> None:
    values = np.random.default_rng(0).lognormal(0, 0.3, (32, 2000)).astype(np.float32)
    values[3] *= 50
    values[4, :5] = 0
    low, high = _topology._limits([values[:16], values[16:]], eta=1.0)
    inside = (low < values) & (values < high) | (values == 0)
    assert inside.mean(1).min() > 0.99
    assert _topology._limits([np.zeros((2, 9), np.float32)], eta=1.0) == (0.4, 2.5)


def test_figures_lie_beside_the_page_as_files(page: Path) -> None:
    folder = page.with_name("all_files")
    drawings = sorted(folder.glob("*.svg"))
    assert len(drawings) == text_of(page).count("<svg ") > 0
    for drawing in drawings:
        assert ElementTree.parse(drawing).getroot().tag.endswith("svg")
        assert "var(--" not in drawing.read_text(encoding="utf-8")
        with Image.open(drawing.with_suffix(".png")) as picture:
            assert picture.width > 500


def test_missing_sections_are_left_out_and_named(case: Case, tmp_path: Path) -> None:
    bare = replace(case.backbone, metadata={})
    html = text_of(write_report(tmp_path / "deep" / "bare.html", bare, progress=False))
    (line,) = re.findall(r"Left out for want of data: ([^.]*)\.", html)
    assert line.split(", ") == [
        "loss curves", "reconstructions", "AUC per class", "ROC curves", "best and worst images",
    ]  # fmt: skip
    assert html.count("<section ") == SECTIONS - 5
    assert "before training" not in html


def test_the_caller_can_leave_sections_out(case: Case, tmp_path: Path) -> None:
    html = text_of(write_report(tmp_path, case.backbone, leave_out=["barcodes", "reconstructions"], progress=False))
    assert "barcode" not in html
    assert "reconstructions" not in html
    with pytest.raises(ValueError, match="knows no section 'bars'; take some of what was trained, "):
        write_report(tmp_path, case.backbone, leave_out=["bars"], progress=False)


def test_a_training_alone_gives_a_page_and_a_folder_stands_for_its_report(case: Case, tmp_path: Path) -> None:
    page = write_report(tmp_path, case.backbone, images=case.enrolled, progress=False)
    assert page == tmp_path / "report.html"
    assert "AUC per class, ROC curves, best and worst images." in text_of(page)
    assert "before training" in text_of(page)


def test_fewer_images_than_a_batch_leave_the_topology_out(case: Case, tmp_path: Path) -> None:
    few = case.enrolled.take(range(10))
    html = text_of(write_report(tmp_path / "few.html", case.backbone, images=few, progress=False))
    assert "death times, barcodes" in html


@pytest.mark.parametrize("config", [{"setting of a later version": 1}, {"epochs": -1}, "text"])
def test_an_unknown_configuration_has_no_first_latents(case: Case, config: object) -> None:
    foreign = replace(case.backbone, metadata={"config": config})
    assert [cloud.name for cloud in _topology.clouds(Material({"it": foreign}), case.enrolled)] == ["after training"]


def test_scores_drawn_are_the_evaluations_first_draw(case: Case) -> None:
    material = Material({"it": case.backbone}, None, case.evaluation, case.enrolled, case.test)
    scored = _scores.scored(material)
    assert scored is not None
    np.testing.assert_allclose(scored.auc(), case.evaluation.auc("contrast", 20)[0])


def test_first_latents_are_those_that_training_began_with(case: Case) -> None:
    before, after = _topology.clouds(Material({"it": case.backbone}), case.enrolled)
    assert (before.name, after.name) == ("before training", "after training")
    kept = case.backbone.encode(case.enrolled).reshape(-1, 2, 3).transpose(1, 0, 2)
    np.testing.assert_array_equal(after.points.numpy(), kept)
    assert before.points.std() < after.points.std()


def test_first_latents_of_a_batch_norm_do_not_depend_on_the_batch(case: Case) -> None:
    config = TrainConfig.preset("contrastive", branches=2, branch_dim=3, width=4, batch_size=20, cloud_size=10)
    contrastive = replace(case.backbone, metadata={"config": asdict(config)})
    all_of_them, half = (
        _topology.clouds(Material({"it": contrastive}), sample)[0]
        for sample in (case.enrolled, case.enrolled.take(range(50)))
    )
    assert all_of_them.name == half.name == "before training"
    torch.testing.assert_close(all_of_them.points[:, :50], half.points)


def test_neighbors_are_counted_as_a_slow_loop_counts_them(case: Case) -> None:
    cloud = _topology.clouds(Material({"it": case.backbone}), case.enrolled)[-1]
    beta = np.array([0.5, 1.5])
    counts = _theory._counts(_theory._within(cloud, beta), 30)
    points = cloud.points[:, :30].numpy()
    for branch, reach in enumerate(beta):
        for i, point in enumerate(points[branch]):
            distances = [np.abs(point - other).sum() for j, other in enumerate(points[branch]) if j != i]
            assert counts[branch, i] == sum(distance <= reach for distance in distances)


@pytest.mark.parametrize("classes", [3, 45])
def test_many_classes_keep_the_figure_readable(case: Case, classes: int) -> None:
    records = [
        replace(record, label=f"{record.label} {k}") for k in range(classes) for record in case.evaluation.records
    ]
    ordered = sorted(records, key=lambda record: (record.method, record.exemplars, record.draw))
    many = replace(case.evaluation, records=tuple(ordered), config={**case.evaluation.config, "classes": 4 * classes})
    section = _scores.auc(Material({"it": case.backbone}, evaluation=many))
    assert section is not None
    (ticks,) = [axes.get_yticks() for axes in section.panels[0].figure.axes]
    assert len(ticks) == min(4 * classes, _scores.CLASSES)
