from __future__ import annotations

import json
import math
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

import corel.objectives
from corel.backbone import Backbone
from corel.images import ImageSet
from corel.objectives.autoencoder import ImageReconstruction
from corel.training import TrainConfig, train

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = TrainConfig(branches=2, branch_dim=3, width=4, batch_size=10, epochs=2, precision="float32")


def images(count: int = 40, seed: int = 0) -> ImageSet:
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (count, 8, 8, 3), np.uint8)
    names = [f"photos/{i}.png" for i in range(count)]
    return ImageSet(pixels, rng.integers(0, 2, count), ("cat", "dog"), names, "noise")


def read_metrics(run: Path) -> list[dict[str, float]]:
    lines = (run / "metrics.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in lines]


def saved_step(run: Path) -> int:
    content = (run / "checkpoint.safetensors").read_bytes()  # at once: it may be replaced while it is read
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    step: int = json.loads(header["__metadata__"]["document"])["state"]["step"]
    return step


def test_the_first_step_minimizes_equation_four(tmp_path: Path) -> None:
    """With one step in an epoch the metrics are those of the first weights, computed here by scipy."""
    data = images(10)
    train(data, replace(SMALL, epochs=1), run_dir=tmp_path)
    torch.manual_seed(SMALL.seed)
    objective = corel.objectives.find("autoencoder")(SMALL, (8, 8, 3))
    x = torch.from_numpy(data.pixels).permute(0, 3, 1, 2) / 255
    latents, reconstructed = (tensor.detach().double().numpy() for tensor in objective.network(x))
    deaths = [minimum_spanning_tree(cdist(branch, branch, "cityblock")).data for branch in np.split(latents, 2, axis=1)]
    (metrics,) = read_metrics(tmp_path)
    assert metrics["reconstruction"] == pytest.approx(np.abs(x.numpy() - reconstructed).sum() / 10, rel=1e-5)
    assert metrics["connectivity"] == pytest.approx(np.mean([np.abs(d - 2).sum() for d in deaths]), rel=1e-5)
    for name, reduce in (("alpha", np.min), ("epsilon", np.mean), ("beta", np.max)):
        assert metrics[name] == pytest.approx(np.mean([reduce(d) for d in deaths]), rel=1e-4)


def test_training_learns_both_parts(tmp_path: Path) -> None:
    squares = np.kron(images(200).pixels[:, :2, :2], np.ones((4, 4, 1), np.uint8))
    config = replace(SMALL, epochs=8, learning_rate=1e-2)
    backbone, unshaped = train(squares, config, run_dir=tmp_path), train(squares, replace(config, weight=0.0))
    first, *_, last = read_metrics(tmp_path)
    assert last["reconstruction"] < 0.7 * first["reconstruction"]
    alpha, epsilon, beta = backbone.deaths.mean(axis=0)
    assert alpha < epsilon < beta
    assert abs(epsilon - 2) < 0.5 < 1 < abs(unshaped.deaths[:, 1].mean() - 2)
    assert backbone.background.shape == (200, 6)


def test_the_backbone_records_where_it_comes_from() -> None:
    config = replace(SMALL, epochs=1)
    backbone = train(images(), config)
    assert backbone.metadata["config"] == asdict(config)
    assert backbone.metadata["data"]["source"] == "noise"
    assert backbone.metadata["data"]["items"] == 40
    assert (backbone.eta, backbone.p, backbone.batch_size) == (2.0, 1.0, 10)


def test_the_same_seed_gives_the_same_weights_and_another_does_not() -> None:
    assert train(images(), SMALL).digest == train(images(), SMALL).digest
    assert train(images(), SMALL).digest != train(images(), replace(SMALL, seed=1)).digest


def test_training_leaves_the_callers_randomness_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(images(), SMALL)
    torch.testing.assert_close(torch.rand(3), expected, rtol=0, atol=0)


def test_labels_are_never_touched() -> None:
    data = images()
    assert data.labels is not None
    shuffled = replace(data, labels=np.random.default_rng(1).permutation(data.labels))
    expected = train(data, SMALL).digest
    assert train(shuffled, SMALL).digest == expected
    assert train(replace(data, labels=None), SMALL).digest == expected
    assert train(data.pixels, SMALL).digest == expected


def test_presets() -> None:
    assert TrainConfig.preset("authors") == TrainConfig()
    paper = TrainConfig.preset("paper", epochs=3)
    assert (paper.branch_reduction, paper.zero_bars, paper.epochs) == ("sum", "keep", 3)
    with pytest.raises(ValueError, match=r"preset must be one of authors, paper, .* got 'ours'"):
        TrainConfig.preset("ours")


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch_size": 1}, {"eta": 0.0}, {"epochs": 0}, {"weight": -1.0}, {"p": 0.5}, {"precision": "half"},
        {"temperature": 0.0}, {"view_area": 0.0}, {"view_area": 1.1}, {"view_size": 4}, {"projection": -1},
    ],
)  # fmt: skip
def test_impossible_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TrainConfig(**wrong)


def test_numbers_of_numpy_become_pythons(tmp_path: Path) -> None:
    """Else the digest of a backbone would change, or its file could not be written, at the end of a training."""
    numbers: dict[str, Any] = {"eta": np.float64(2), "weight": np.float32(0.5), "cloud_size": np.int64(5)}
    backbone = train(images(), replace(SMALL, **numbers), run_dir=tmp_path)
    backbone.save(tmp_path / "numpy.safetensors")
    assert Backbone.load(tmp_path / "numpy.safetensors").digest == backbone.digest
    expected = {name: number.item() for name, number in numbers.items()}
    assert train(images(), replace(SMALL, **expected)).digest == backbone.digest


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"epochs": 1.5}, "epochs must be a whole number, got 1.5"),
        ({"cloud_size": 5.0}, "cloud_size must be a whole number, got 5.0"),
        ({"eta": "large"}, "eta must be a number, got 'large'"),
        ({"batch_size": None}, "batch_size must be a whole number, got None"),
    ],
)
def test_what_is_no_number_is_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        TrainConfig(**wrong)


@pytest.mark.parametrize(
    ("shape", "sentence"), [((20, 8, 8), "images must be square"), ((20, 12, 12, 3), "multiple of 8")]
)
def test_other_arrays_than_images_are_refused(shape: tuple[int, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        train(np.zeros(shape, np.uint8), SMALL)


def test_too_few_images_are_refused() -> None:
    with pytest.raises(ValueError, match="batch_size is 10 but there are 9 items; lower it"):
        train(images(9), SMALL)


# --- Stopping and going on


def test_more_epochs_continue_as_if_asked_for_at_once(tmp_path: Path) -> None:
    train(images(), SMALL, run_dir=tmp_path / "a")
    longer = train(images(), replace(SMALL, epochs=4), run_dir=tmp_path / "a")
    assert longer.digest == train(images(), replace(SMALL, epochs=4), run_dir=tmp_path / "b").digest
    assert read_metrics(tmp_path / "a") == read_metrics(tmp_path / "b")


@pytest.mark.parametrize(
    ("change", "count", "sentence"),
    [
        ({"eta": 3.0}, 40, "eta was 2.0 and is now 3.0"),
        ({"epochs": 1}, 40, "epochs was 2 and is now 1"),
        ({}, 41, "data items was 40 and is now 41"),
    ],
)
def test_another_training_does_not_continue_this_one(
    tmp_path: Path, change: dict[str, Any], count: int, sentence: str
) -> None:
    train(images(), SMALL, run_dir=tmp_path)
    before = (tmp_path / "checkpoint.safetensors").read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another training: {sentence}"):
        train(images(count), replace(SMALL, **change), run_dir=tmp_path)
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before


def _edit_checkpoint(path: Path, **state: object) -> None:
    """Change the state in a checkpoint, and take its checksum away, as somebody with an editor might."""
    with safetensors.safe_open(path, "pt") as file:
        header, tensors = file.metadata(), {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    del header["sha256"]
    document = json.loads(header["document"])
    if "weight" in state:
        tensors[sorted(tensors)[0]].view(-1)[0] = state.pop("weight")
    if "drop" in state:
        del tensors[str(state.pop("drop"))]
    document["state"] |= state
    path.write_bytes(safetensors.torch.save(tensors, {**header, "document": json.dumps(document)}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"step": -5}, "step -5 does not fit to 2 epochs of 4 steps"),
        ({"step": 10**9}, "step 1000000000 does not fit"),
        ({"step": "8"}, "step 8 does not fit"),
        ({"history": []}, "step 8 does not fit to 0 epochs"),
        ({"history": [{"epoch": math.nan}, {}]}, "metrics are not finite"),
        ({"sums": {"a": 1.0}, "counts": {"a": 0}}, "sums do not fit"),
        ({"seconds": None}, "metrics are not finite"),
        ({"unknown": 1}, "unexpected keyword"),
        ({"weight": math.nan}, "is not finite"),
        ({"drop": "optimizer.0.exp_avg"}, "a moment of Adam is missing"),
    ],
)
def test_an_impossible_checkpoint_is_refused(tmp_path: Path, change: dict[str, object], sentence: str) -> None:
    train(images(), SMALL, run_dir=tmp_path)
    _edit_checkpoint(tmp_path / "checkpoint.safetensors", **change)
    with pytest.raises(ValueError, match=rf"checkpoint\.safetensors is damaged or was edited: .*{sentence}.*--run DIR"):
        train(images(), replace(SMALL, epochs=3), run_dir=tmp_path)


def test_one_flipped_bit_in_a_checkpoint_is_noticed(tmp_path: Path) -> None:
    train(images(), SMALL, run_dir=tmp_path)
    checkpoint = tmp_path / "checkpoint.safetensors"
    content = bytearray(checkpoint.read_bytes())
    content[-50] ^= 4
    checkpoint.write_bytes(content)
    with pytest.raises(ValueError, match="its checksum does not match"):
        train(images(), replace(SMALL, epochs=3), run_dir=tmp_path)


def test_a_checkpoint_without_checksums_continues(tmp_path: Path) -> None:
    for name in ("a", "b"):
        train(images(), SMALL, run_dir=tmp_path / name)
    _edit_checkpoint(tmp_path / "a" / "checkpoint.safetensors")
    longer = [train(images(), replace(SMALL, epochs=3), run_dir=tmp_path / name).digest for name in ("a", "b")]
    assert longer[0] == longer[1]


def test_other_pixels_do_not_continue_this_training(tmp_path: Path) -> None:
    train(images(), SMALL, run_dir=tmp_path)
    with pytest.raises(ValueError, match="data sha256 was"):
        train(images(seed=1), SMALL, run_dir=tmp_path)


LONG = replace(SMALL, epochs=60)
ENDLESS = """
import sys

import torch
from tests.training.test_training import LONG, images
from corel.training import train
torch.set_num_threads(1)
train(images(), LONG, run_dir=sys.argv[1], checkpoint_minutes=0)
"""


def start_and_signal(run: Path, number: signal.Signals, *, after_step: int) -> tuple[int, str]:
    """Start a training in another process and send it a signal at a random moment."""
    process = subprocess.Popen([sys.executable, "-c", ENDLESS, str(run)], stderr=subprocess.PIPE, text=True)
    while not (run / "checkpoint.safetensors").exists() or saved_step(run) < after_step:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.005)
    process.send_signal(number)
    return process.wait(), process.communicate()[1]


def test_a_killed_training_continues_to_the_same_weights(tmp_path: Path) -> None:
    for after_step in (1, 30):
        code, _ = start_and_signal(tmp_path / "killed", signal.SIGKILL, after_step=after_step)
        assert code == -signal.SIGKILL
    assert saved_step(tmp_path / "killed") < 240
    continued = train(images(), LONG, run_dir=tmp_path / "killed")
    whole = train(images(), LONG, run_dir=tmp_path / "whole")
    assert continued.digest == whole.digest
    assert read_metrics(tmp_path / "killed") == read_metrics(tmp_path / "whole")


def test_an_interrupted_training_says_how_to_resume(tmp_path: Path) -> None:
    code, said = start_and_signal(tmp_path, signal.SIGINT, after_step=5)
    assert code != 0
    assert f"saved in {tmp_path}/checkpoint.safetensors; run the same command again to continue" in said
    assert train(images(), LONG, run_dir=tmp_path).digest == train(images(), LONG).digest


def test_a_loss_that_is_not_finite_stops_with_the_step_the_batch_and_the_checkpoint(tmp_path: Path) -> None:
    data = images()
    config = replace(SMALL, learning_rate=1e30)
    with pytest.raises(FloatingPointError, match=r"the loss is .* at step 2; there is no checkpoint") as caught:
        train(data, config, run_dir=tmp_path)
    listed = str(caught.value).split("batch: ")[1].split(", ")
    assert len(set(listed)) == 10
    assert set(listed) <= set(data.names)
    assert not (tmp_path / "checkpoint.safetensors").exists()


@pytest.mark.parametrize(
    ("latents", "message"),
    [
        ([-3e38, 3e38], r"not finite \(.*the distances of cloud 0 overflow.*\)"),
        ([0.0, 1e38], "inf"),
        ([0.0, 1.0], "nan"),
    ],
)
def test_a_part_of_the_loss_that_is_not_finite_stops_likewise(
    latents: list[float], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Distances that overflow, their sum that does, and a pretext that is no number."""
    pretext = torch.tensor(math.nan if message == "nan" else 1.0, requires_grad=True)
    spread = torch.tensor(latents).repeat(5)[:, None].expand(10, 6)
    monkeypatch.setattr(ImageReconstruction, "forward", lambda *_: (pretext, spread))
    with pytest.raises(FloatingPointError, match=rf"the loss is {message} at step 1; .* the batch: \S+"):
        train(images(), SMALL, run_dir=tmp_path)


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_the_previous_checkpoint_whole(tmp_path: Path) -> None:
    train(images(), replace(SMALL, epochs=1), run_dir=tmp_path)
    checkpoint = tmp_path / "checkpoint.safetensors"
    before = checkpoint.read_bytes()
    with files_no_larger_than(len(before) // 2), pytest.raises(OSError, match="what was there before is unchanged"):
        train(images(), SMALL, run_dir=tmp_path)
    assert checkpoint.read_bytes() == before
    assert not list(tmp_path.glob("*.tmp"))
    assert not list(tmp_path.glob(".*"))
    assert train(images(), SMALL, run_dir=tmp_path).digest == train(images(), SMALL).digest


def test_nothing_in_a_run_is_pickled(tmp_path: Path) -> None:
    train(images(), SMALL, run_dir=tmp_path)
    with safetensors.safe_open(tmp_path / "checkpoint.safetensors", "pt") as file:
        keys = set(file.keys())
    moments = {key.rsplit(".", 1)[1] for key in keys if key.startswith("optimizer.")}
    assert moments == {"step", "exp_avg", "exp_avg_sq"}
    others = {path.name for path in tmp_path.iterdir() if not path.name.startswith("events.out.tfevents")}
    assert others == {"checkpoint.safetensors", "metrics.jsonl"}


def test_tensorboard_shows_the_same_metrics(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train(images(), SMALL, run_dir=tmp_path)
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    for name in ("reconstruction", "connectivity", "epsilon"):
        shown = {event.step: event.value for event in events.Scalars(name)}
        assert shown == pytest.approx({m["epoch"]: m[name] for m in read_metrics(tmp_path)})


def test_a_moved_folder_continues(tmp_path: Path) -> None:
    train(replace(images(), source="here"), SMALL, run_dir=tmp_path)
    train(replace(images(), source="there"), replace(SMALL, epochs=3), run_dir=tmp_path)
    assert [epoch["epoch"] for epoch in read_metrics(tmp_path)] == [1, 2, 3]
