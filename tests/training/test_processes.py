"""Training in two processes on the CPU, started as a user would with torchrun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import corel.objectives
from corel.losses import ConnectivityLoss
from corel.training import TrainConfig

CONFIG = TrainConfig(branches=2, branch_dim=3, width=4, batch_size=10, epochs=2, precision="float32")

# Image i is all pixels i, so that a process can write down which images it saw.
WORKER = """
import json, os, sys
import torch
from corel.objectives.autoencoder import ImageReconstruction
from corel.training import train
from tests.training.test_processes import CONFIG, numbered_images

torch.set_num_threads(1)
seen, losses, forward = [], [], ImageReconstruction.forward

def noting(self, items, generator):
    seen.append(items[:, 0, 0, 0].tolist())
    pretext, latents = forward(self, items, generator)
    losses.append(pretext.item())
    return pretext, latents

ImageReconstruction.forward = noting
backbone = train(numbered_images(), CONFIG, run_dir=sys.argv[1] + "/run")
rank = os.environ["RANK"]
noted = {"seen": seen, "losses": losses, "digest": backbone.digest, "processes": backbone.metadata["processes"]}
with open(f"{sys.argv[1]}/{rank}.json", "w") as file:
    json.dump(noted, file)
"""


def numbered_images() -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.broadcast_to(np.arange(45, dtype=np.uint8)[:, None, None, None], (45, 8, 8, 3)).copy()


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("two")
    (folder / "worker.py").write_text(WORKER)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    alone = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(Path(__file__).parents[2])}
    result = subprocess.run(
        [*torchrun, str(folder / "worker.py"), str(folder)],
        capture_output=True, text=True, check=False, env={**os.environ, **alone},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert (folder / "run" / "metrics.jsonl").read_text().count("\n") == 2
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


def test_processes_see_disjoint_batches_of_the_full_size(ranks: list[dict[str, Any]]) -> None:
    for epoch in (slice(0, 2), slice(2, 4)):
        seen = np.array([rank["seen"][epoch] for rank in ranks])
        assert seen.shape == (2, 2, 10)
        assert len(set(seen.flat)) == 40
    assert ranks[0]["seen"][:2] != ranks[0]["seen"][2:]


def test_parameters_stay_equal(ranks: list[dict[str, Any]]) -> None:
    assert ranks[0]["digest"] == ranks[1]["digest"]
    assert ranks[0]["processes"] == 2


def test_each_loss_is_of_the_processs_own_batch(ranks: list[dict[str, Any]]) -> None:
    """Two processes are one that averages the gradients of two separate batches, each with its own connectivity."""
    torch.manual_seed(CONFIG.seed)
    objective = corel.objectives.find("autoencoder")(CONFIG, (8, 8, 3))
    optimizer = torch.optim.Adam(objective.parameters(), lr=CONFIG.learning_rate)
    connectivity = ConnectivityLoss(CONFIG.eta, CONFIG.branches, CONFIG.p, "mean", "drop")
    pixels = torch.from_numpy(numbered_images())
    for step in range(4):
        optimizer.zero_grad()
        for rank in ranks:
            pretext, latents = objective(pixels[rank["seen"][step]], torch.Generator())
            ((pretext + CONFIG.weight * connectivity(latents)) / 2).backward()
            assert rank["losses"][step] == pytest.approx(pretext.item(), rel=1e-4)
        optimizer.step()
