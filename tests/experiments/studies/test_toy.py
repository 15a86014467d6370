"""The toy experiment, small: it runs, measures what it says and writes its record and its figure."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from corel.theory import connectivity_interval
from experiments._lib.record import read
from experiments.studies import toy

SMALL = toy.Toy(points=60, batch_sizes=(10, 60), epochs=(1, 2), measured_batches=3)


def test_the_study_prints_a_table_and_writes_a_record_and_a_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy.run(SMALL, tmp_path, tmp_path / "figures")
    document = read("toy", tmp_path)
    assert [row["epoch"] for row in document["results"]] == [None, 0, 1, 2] * 2
    assert document["config"]["points"] == 60
    *printed, wrote = capsys.readouterr().out.splitlines()
    for written in wrote.removeprefix("wrote ").split(", "):
        assert Path(written).is_file()
    assert len(printed) == 1 + len(document["results"])
    for line, row in zip(printed[1:], document["results"], strict=True):
        assert line.endswith(f"{row['alpha']:6.2f} {row['epsilon']:6.2f} {row['beta']:6.2f}")
    assert "</svg>" in (tmp_path / "figures" / "toy.svg").read_text()


def test_a_batch_of_all_points_measures_the_whole_cloud() -> None:
    for shot in toy.snapshots(SMALL):
        if shot.batch_size == SMALL.points:
            assert (shot.deaths[0], shot.deaths[2]) == pytest.approx(connectivity_interval(shot.points))


def test_the_seed_decides() -> None:
    first, again = (toy.train(toy.three_gaussians(60, 0), 10, SMALL) for _ in range(2))
    assert all(torch.equal(one, other) for (_, one), (_, other) in zip(first, again, strict=True))
    assert not torch.equal(toy.three_gaussians(60, 0), toy.three_gaussians(60, 1))


def test_training_brings_the_average_death_time_toward_eta() -> None:
    """The homogenization of Figure 2, on fewer points."""
    settings = toy.Toy(points=300, batch_sizes=(30,), epochs=(60,), measured_batches=100)
    _, untrained, trained = toy.snapshots(settings)
    assert abs(trained.deaths[1] - settings.eta) < 0.5 * abs(untrained.deaths[1] - settings.eta)
