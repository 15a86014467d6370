"""Tables of docs/scale.md: the arithmetic of the plan, and what stands where nothing was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.render import scaling


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(scaling, "BENCHMARKS", tmp_path)
    return tmp_path


def test_a_table_without_its_record_names_the_command(folder: Path) -> None:
    assert scaling.engines() == "Not run yet: `python -m benchmarks.scale`."
    assert scaling.growth() == "Not run yet: `python -m benchmarks.many_classes`."
    (folder / "scale.json").write_text("{}")
    assert scaling.billion() == "Not run yet: `python -m benchmarks.many_classes`."


def test_the_plan_for_a_billion_images_is_right(folder: Path) -> None:
    photo = {"decode": 4.0, "encode, lite0": 27.52}
    scale = {"core milliseconds a photograph": photo, "core milliseconds an image": {"encode": 2.52}}
    sizes = {"1000": {"ms an image": 5.0, "memory, MB": 640.4}}
    (folder / "scale.json").write_text(json.dumps({"results": scale}))
    (folder / "many_classes.json").write_text(json.dumps({"results": {"sizes": sizes, "slopes": {"dimensions": 1}}}))
    rows = {line.split(" | ")[0][2:]: line.rstrip(" |").split(" | ")[1:] for line in scaling.billion().splitlines()}
    # 4 + 2.52 + 5 = 11.52 ms are 3,200 core-hours: one hour on 3,200 cores, in which a machine reads 10⁷ photos.
    # Lite0 has 10/3 times as many features: 4 + 27.52 + 16.67 = 48.19 ms are 13,385 core-hours.
    assert rows["core-hours"] == ["3,200", "13,385"]
    assert rows["hours on 100 machines with 32 cores"] == ["1.0", "4.2"]
    assert rows["read, by each machine"] == ["278 MB/s", "66 MB/s"]
    assert rows["a worker's memory for the gallery"] == ["640 MB", "2,135 MB"]
