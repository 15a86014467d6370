"""A real cluster of two workers gives the rows of one process; kills lose and repeat nothing."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from typer.testing import CliRunner

from corel.backbone import Backbone
from corel.cli import app
from corel.scale import cluster, encoding_on_ray, score
from tests.cli.conftest import hue

from .conftest import BROKEN, IMAGES, local_rows, results, without_errors

pytest.importorskip("ray", reason="scoring on a cluster needs Ray: pip install 'corel[ray]'")
pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]


def test_an_address_where_nothing_listens_is_refused_at_once() -> None:  # first: later a cluster is connected
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConnectionError, match=f"no Ray cluster at {address}"), cluster(address):
            pass


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    with cluster(cpus=2) as connected:
        yield connected


@pytest.fixture(scope="module")
def many(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list that names each photo ten times: work for long enough to kill something."""
    path = tmp_path_factory.mktemp("list") / "many.txt"
    path.write_text("\n".join(str(each) for each in sorted(photos.iterdir()) * 10))
    return path


@pytest.fixture(scope="module")
def wanted(gallery: Path, photos: Path) -> list[dict[str, Any]]:
    """The rows of the list, by one process and thread."""
    torch.set_num_threads(1)
    return local_rows(gallery, [str(photos)]) * 10


def wait_for(what: Any) -> Any:
    while not (found := what()):
        time.sleep(0.01)
    return found


def parts(folder: Path) -> dict[str, int]:
    return {each.name: each.stat().st_mtime_ns for each in folder.glob("part-*.parquet")}


def test_rows_equal_those_of_one_process_to_the_bit(ray: Any, gallery: Path, photos: Path, tmp_path: Path) -> None:
    counts = score(gallery, str(photos), tmp_path / "out", part_size=16, workers=2)
    table = results(tmp_path / "out")
    assert without_errors(table) == local_rows(gallery, [str(photos)])
    (broken,) = [row for row in table.to_pylist() if row["error"] is not None]
    assert broken["image"] == str(photos / BROKEN)
    assert (broken["verdict"], broken["note"]) == ("unreadable", broken["error"])
    assert (counts.images, counts.errors) == (IMAGES, 1)
    assert counts.known + counts.unsure + counts.strangers + counts.blank == IMAGES - 1
    before = parts(tmp_path / "out")
    assert len(before) == 3
    assert score(gallery, str(photos), tmp_path / "out", part_size=16, workers=2) == counts
    assert parts(tmp_path / "out") == before  # nothing was left to do


def test_the_cluster_reports_no_usage(ray: Any) -> None:
    (server,) = [each for each in psutil.Process().children(recursive=True) if each.name().startswith("gcs_server")]
    assert server.environ()["RAY_USAGE_STATS_ENABLED"] == "0"


def test_the_scorer_maps_batches_of_a_dataset(ray: Any, gallery: Path, photos: Path) -> None:
    from corel.scale import Scorer

    data = ray.data.read_binary_files(str(photos), include_paths=True).map_batches(
        Scorer, batch_size=16, compute=ray.data.ActorPoolStrategy(size=1), num_cpus=1,
        fn_constructor_kwargs={"gallery": str(gallery)},
    )  # fmt: skip
    found = {row["image"]: row for row in data.take_all()}
    assert len(found) == IMAGES
    for row in local_rows(gallery, [str(photos)]):
        assert {**row, "error": row["note"] if row["verdict"] == "unreadable" else None} == {
            **found[row["image"]],
            "classes": list(found[row["image"]]["classes"]),
        }


def test_the_rows_of_a_killed_actor_appear_once(
    ray: Any, gallery: Path, many: Path, wanted: list[dict[str, Any]], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done: list[Any] = []
    run = threading.Thread(target=lambda: done.append(score(gallery, str(many), out, part_size=8, workers=2)))
    run.start()
    wait_for(lambda: parts(out))
    workers = [each for each in psutil.process_iter(["cmdline"]) if "MapWorker" in "".join(each.info["cmdline"] or ())]
    mine = [each for each in workers if os.getpid() in [parent.pid for parent in each.parents()]]
    mine[0].send_signal(signal.SIGKILL)
    run.join()
    assert done[0].images == 10 * IMAGES
    assert without_errors(results(out)) == wanted


def test_after_a_kill_of_the_driver_the_same_command_continues(
    ray: Any, gallery: Path, many: Path, wanted: list[dict[str, Any]], tmp_path: Path
) -> None:
    out, address = tmp_path / "out", ray.get_runtime_context().gcs_address
    command = ["score", str(gallery), str(many), "--engine", "ray", "--workers", "2", "--part-size", "8"]
    command += ["--out", str(out), "--address", address]
    driver = subprocess.Popen([sys.executable, "-m", "corel", *command], stderr=subprocess.DEVNULL)
    wait_for(lambda: parts(out) or driver.poll() is not None)
    driver.kill()
    assert driver.wait() == -signal.SIGKILL
    before = parts(out)
    assert 0 < len(before) < 50
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 0, again.output
    after = parts(out)
    assert len(after) == 50
    kept = [name for name, when in before.items() if after[name] == when]
    assert len(kept) >= len(before) - 2  # a worker may have been writing when its driver died
    assert without_errors(results(out)) == wanted
    assert again.stdout.startswith("400 images: ")
    assert again.stdout.endswith(", 10 errors\n")
    refused = CliRunner().invoke(app, [*command, "--rate", "0.1"])
    assert refused.exit_code == 2
    assert "holds results with rate = 0.05; name a new folder" in refused.output


def test_workers_encode_as_this_process_does(ray: Any, backbone_file: Path) -> None:
    backbone, items = Backbone.load(backbone_file), hue(0, 600, seed=1)
    wanted = backbone.embed(items)
    with encoding_on_ray(backbone.network, workers=2) as workers:
        found, few = backbone.embed(items), backbone.embed(items[:101])
    assert workers == 2
    np.testing.assert_array_equal(few.latents, wanted.latents[:101])
    np.testing.assert_array_equal(found.latents, wanted.latents)
    np.testing.assert_array_equal(backbone.encode(items[:5]), wanted.latents[:5])


def test_a_backbone_is_wrapped_and_evaluated_on_a_cluster(ray: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], 150)
    rows = random.normal(size=(300, 6)) + 3 * (labels == "b")[:, None]
    np.save(tmp_path / "rows.npy", rows)
    arrays = {"train_features": rows, "train_labels": labels, "test_features": rows + 0.1, "test_labels": labels}
    np.savez(tmp_path / "labeled.npz", **arrays)
    said = []
    for name, engine in (("one", []), ("two", ["--engine", "ray", "--workers", "2"])):
        file = tmp_path / f"{name}.safetensors"
        wrapped = ["backbone", "wrap", "vectors", "--background", str(tmp_path / "rows.npy"), "--out", str(file)]
        measured = ["evaluate", str(tmp_path / "labeled.npz"), "--backbone", str(file), "--no-controls", "-m", "20"]
        for command in (wrapped, [*measured, "--draws", "1", "--json"]):
            result = CliRunner().invoke(app, [*command, "--quiet", *engine])
            assert result.exit_code == 0, result.output
        said.append((Backbone.load(file).digest, result.stdout))
    assert said[0] == said[1]


def test_mistakes_are_reported_before_a_cluster_starts(gallery: Path, photos: Path, tmp_path: Path) -> None:
    for options, said in (
        (["--workers", "2"], "--workers is for --engine ray"),
        (["--engine", "ray"], "name it with --out"),
        (["--engine", "ray", "--strict"], "--strict is for --engine local"),
        (["--engine", "ray", "--format", "csv"], "writes Parquet, not csv"),
        (["--engine", "ray", "--out", str(photos)], "and no run; name a new folder"),
    ):
        result = CliRunner().invoke(app, ["score", str(gallery), str(photos), *options])
        assert result.exit_code == 2
        assert said in result.output
