"""Heads on features take their shape from the features' rank, and keep good embeddings."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_iris, load_wine

from corel.encoders import FeatureHead
from corel.evaluation import one_vs_all_auc
from corel.objectives._rank import by_rank, effective_rank
from corel.oneclass import ClassBank, backbone_settings
from corel.persistence import death_times
from corel.training import TrainConfig, train

pytestmark = pytest.mark.usefixtures("one_thread")
PRESET = TrainConfig.preset("features")


def noise(rows: int, dims: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(rows, dims, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_rank_counts_the_dimensions_that_are_filled() -> None:
    assert effective_rank(noise(3000, 20)) == 20
    assert effective_rank(noise(3000, 5) @ noise(5, 200, 1)) <= 5
    assert effective_rank(noise(3000, 20) * torch.logspace(-3, 3, 20)) == 20  # units do not matter
    assert effective_rank(torch.ones(50, 4)) == 1


def test_tables_keep_a_small_head() -> None:
    for load in (load_iris, load_wine):
        found = by_rank(PRESET, torch.from_numpy(load().data))
        assert (found.branches, found.branch_dim, found.width, found.rows) == (4, 4, 128, "measurements")


def test_embeddings_get_as_many_dimensions_as_they_fill() -> None:
    found = by_rank(PRESET, noise(3000, 60))
    assert (found.branches, found.branch_dim, found.rows) == (16, 4, "embeddings")
    assert by_rank(PRESET, noise(3000, 400)).branch_dim == 10  # 160 in all at most
    asked = TrainConfig.preset("features", branches=8, rows="measurements")
    assert by_rank(asked, noise(3000, 60)).branch_dim == 8
    assert by_rank(asked, noise(3000, 60)).rows == "measurements"


def test_zero_branches_are_allowed_for_features_only() -> None:
    with pytest.raises(ValueError, match="branches must be at least 1, got 0"):
        TrainConfig(branches=0)


def test_maps_of_embeddings_begin_with_principal_components() -> None:
    rows = noise(400, 24).float() @ torch.diag(torch.logspace(0, -1, 24))
    head = FeatureHead(4, 6, 0, 24, embeddings=1)
    head.scale.fit(rows)
    head.begin_with_principal_components(rows, eta=2.0, batch=50)
    latents = head.encoder(rows)
    torch.testing.assert_close(head.decoder(latents), head.scaled(rows), atol=1e-3, rtol=1e-3)  # nothing is lost
    deaths = death_times(latents[:50].reshape(50, 4, 6).transpose(0, 1).contiguous())
    torch.testing.assert_close(deaths.mean(dim=1), torch.full((4,), 2.0), atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(head.scaled(rows).norm(dim=1), torch.ones(400))


def test_defaults_keep_what_embeddings_tell() -> None:
    """Forty directions with noise around them, on vectors of any length: the earlier 4 × 4 head loses most of it."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(40, 96))
    labels = np.repeat(np.arange(10), 40)
    lengths = rng.uniform(0.5, 2, (400, 1))
    known, asked = (
        (lengths * (centers[labels] + 1.4 * rng.normal(size=(400, 96)))).astype(np.float32) for _ in range(2)
    )
    others = (centers[rng.integers(0, 40, 1500)] + 1.4 * rng.normal(size=(1500, 96))).astype(np.float32)

    def auc(**changes: object) -> float:
        backbone = train(others, TrainConfig.preset("features", epochs=10, **changes), progress=False)
        rows = backbone.encode(known)
        bank = ClassBank.of([rows[labels == c] for c in range(10)], **backbone_settings(backbone, "contrast"))
        return float(one_vs_all_auc(labels, bank.scores(backbone.encode(asked))).mean())

    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (known, asked)]
    near = [np.sort(unit[1] @ unit[0][labels == c].T, axis=1)[:, -5:].mean(axis=1) for c in range(10)]
    nearest = float(one_vs_all_auc(labels, np.stack(near, axis=1)).mean())
    assert auc() > nearest - 0.02
    assert auc(branches=4, branch_dim=4, width=128, rows="measurements") < nearest - 0.05
