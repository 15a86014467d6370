"""What the experiments compute themselves, against closed forms and slow oracles."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

import corel
from corel.backbone import Backbone
from corel.baselines import DSEBM
from corel.encoders import Autoencoder
from corel.objectives import _views
from corel.objectives import contrastive as objectives
from corel.training import TrainConfig
from experiments._lib import pretexts
from experiments._lib.encoded import Encoded, one_vs_all
from experiments._lib.names import NEIGHBORS, SCORES
from experiments._lib.trainings import FULL, trained
from experiments._lib.variants import untrained_connectivity
from experiments.studies import benefit, contrastive, overlap
from experiments.studies.control import in_batch_distances, matched_radii, matched_radius
from experiments.studies.density import neighbors
from experiments.studies.lifetimes import measure
from experiments.studies.parameters import fitted
from experiments.studies.table1 import enough
from experiments.studies.variability import over_subsets, pairwise_aucs, subset_auc

pytestmark = pytest.mark.usefixtures("one_thread")
NOWHERE = Path("nowhere")


def test_distances_are_those_within_batches() -> None:
    latents = np.array([[0.0, 0.0], [1.0, 10.0], [5.0, 5.0], [7.0, 6.0], [100.0, 100.0]], np.float32)
    assert in_batch_distances(latents, branches=2, batch_size=2).tolist() == [[1.0, 2.0], [10.0, 1.0]]


def test_the_matched_radius_of_a_scaled_copy_is_scaled() -> None:
    """Points 0 … 9 on a line: within 3 lie the distances 1, 2 and 3, so that a copy three times as large needs 9."""
    line = np.arange(10, dtype=np.float32)[:, None]
    latents = np.concatenate([line, line], axis=1)
    scaled = latents * np.array([3.0, 0.5], np.float32)
    assert matched_radii(latents, scaled, 2, 3.4, 10).tolist() == [9.0, 1.5]


def test_matched_radii_hold_the_same_share() -> None:
    rng = np.random.default_rng(0)
    shaped, free = rng.uniform(size=(200, 6)).astype(np.float32), rng.normal(size=(200, 6)).astype(np.float32)
    shares = (in_batch_distances(shaped, 3, 50) <= 0.7).mean(1)
    distances = in_batch_distances(free, 3, 50)
    found = (distances <= matched_radii(shaped, free, 3, 0.7, 50)[:, None]).mean(1)
    assert found == pytest.approx(shares, abs=1e-12)
    pooled = (distances <= matched_radius(shaped, free, 3, 0.7, 50)).mean()
    assert pooled == pytest.approx(shares.mean(), abs=1e-12)


@pytest.mark.parametrize("subset", [[0, 1], [2, 0, 3], [0, 1, 2, 3]])
def test_a_subset_has_the_auc_of_its_images_alone(subset: list[int]) -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2, 3], [5, 9, 4, 7])
    scores = rng.integers(0, 6, (len(labels), 4)).astype(float)  # with many ties
    inside = np.isin(labels, subset)
    oracle = np.mean([roc_auc_score(labels[inside] == c, scores[inside, c]) for c in subset])
    found = subset_auc(pairwise_aucs(scores, labels), np.bincount(labels), np.array(subset))
    assert found == pytest.approx(oracle)


def test_the_mean_over_subsets_does_not_depend_on_their_size() -> None:
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(5), 6)
    pairwise, sizes = pairwise_aucs(rng.normal(size=(30, 5)), labels), np.bincount(labels)
    means = [
        np.mean([subset_auc(pairwise, sizes, np.array(subset)) for subset in combinations(range(5), count)])
        for count in (2, 3, 4, 5)
    ]
    assert means == pytest.approx([means[0]] * 4)
    assert over_subsets(pairwise, sizes, 5)["spread"] == pytest.approx(0, abs=1e-12)


def test_neighbors_on_a_line() -> None:
    line = np.arange(5, dtype=np.float32)[:, None]
    found = neighbors(np.concatenate([line, line], 1), np.array([1.5, 2.0]))
    assert found.tolist() == [[1, 2, 2, 2, 1], [2, 3, 4, 3, 2]]


def test_parameters_are_those_of_the_layers() -> None:
    convolutions = sum(9 * i * o + o for i, o in [(3, 32), (32, 64), (64, 128)])
    encoder = convolutions + 16 * (128 * 10) + 160
    assert encoder == 113_888
    assert sum(p.numel() for p in Autoencoder().encoder.parameters()) == encoder
    blocks = sum(9 * i * o + o + 2 * o for i, o in [(3, 64), (64, 128), (128, 256)])  # with batch normalization
    assert fitted(DSEBM()).parameters == blocks + 4096 * 256 + 256 + 3 * 32 * 32


def test_auc_is_that_of_the_library() -> None:
    backbone, images = Backbone.load(), [corel.images.open("digits", split) for split in ("train", "test")]
    rows = corel.evaluate(backbone, *images, exemplars=[10], scores=SCORES, controls=False).summary()
    encoded = Encoded.of(backbone, "digits", NOWHERE)
    assert [encoded.auc(10, row.method) for row in rows] == pytest.approx([row.mean for row in rows])


def test_one_threshold_for_all_classes_is_harmed_by_a_class_of_its_own_scale() -> None:
    truth = np.repeat([0, 1], 4)
    scores = np.where(truth[:, None] == [0, 1], 1.0, 0.0)
    assert benefit.pooled(scores, truth) == 1
    assert benefit.pooled(scores + np.array([0, 10]), truth) == pytest.approx(0.75)


def test_every_way_to_score_is_measured_and_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benefit, "EXEMPLARS", (10,))
    monkeypatch.setattr(benefit, "DECIDED", 30)
    backbone = Backbone.load("tiny-imagenet-16x10")
    found = benefit.measure(backbone, {"η": 2.0, "tiny": 1e-3}, ("digits",), NOWHERE)
    aucs = {way: by["10"]["each class"] for way, by in found["auc"]["digits"].items()}
    expected = Encoded.of(backbone, "digits", NOWHERE)
    scores = [one_vs_all(expected.scores(10, draw), expected.truth) for draw in range(benefit.DRAWS)]
    assert aucs["count, η"] == pytest.approx(np.mean(scores))
    assert aucs["count, tiny"] == pytest.approx(0.5, abs=0.01)  # nothing is so near
    assert aucs[NEIGHBORS] > 0.9
    assert found["decisions"]["count, η"]["inside"] < 0.1
    assert found["decisions"]["count, tiny"] == {"inside": 0.0, "outside": 0.0}


def test_the_losses_of_the_variants_at_their_extremes_are_known() -> None:
    """Views that agree, and all of them orthogonal; temperature one."""
    same = torch.eye(4).repeat(2, 1)
    assert pretexts.decoupled(same, 1.0).item() == pytest.approx(math.log(6) - 1)
    apart = 16 * torch.arange(3.0)[:, None].repeat(2, 1)  # of three images on a line, and both views of each alike
    ends, middle = (math.log(1 + sum(2 * math.exp(-gap) for gap in gaps)) for gaps in ((1, 2), (1, 1)))
    together = torch.tensor([[1.0, 1], [2, 2], [3, 3]]).repeat(2, 1)  # two dimensions that say the same
    assert (pretexts.decorrelated(together, 1.0) - objectives.nt_xent(together, 1.0)).item() == pytest.approx(0.1)
    assert pretexts.by_distance(apart, 1.0).item() == pytest.approx((2 * ends + middle) / 3)
    spread = torch.tensor([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]).repeat(2, 1)
    agreement = 3 / 4  # of a coordinate with itself, whose variance is taken over three of four
    assert pretexts.barlow_twins(spread, 1.0).item() == pytest.approx(2 * (1 - agreement) ** 2 / 10, abs=1e-4)


def test_a_variant_is_in_force_for_its_training_alone() -> None:
    usual = objectives.GROWING, _views.HUE, objectives.nt_xent
    with contrastive.Variant(constants={"GROWING": (0.5, 1.0), "HUE": 0.0}, loss="decoupled").in_force():
        assert (objectives.GROWING, _views.HUE, objectives.nt_xent) == ((0.5, 1.0), 0.0, pretexts.decoupled)
    assert (objectives.GROWING, _views.HUE, objectives.nt_xent) == usual


@pytest.mark.parametrize("pretext", ["several crops", "momentum", "three layers", "decorrelated"])
def test_other_ways_to_learn_from_views_give_a_loss_and_one_views_latents(pretext: str) -> None:
    hidden = 8 if pretext == "three layers" else 0
    config = TrainConfig.preset("contrastive", branches=2, branch_dim=3, width=4, view_size=16, projection=hidden)
    items = torch.randint(0, 256, (8, 32, 32, 3), dtype=torch.uint8)
    with contrastive.Variant(loss=pretext).in_force():
        objective = objectives.Contrastive(config, (32, 32, 3))
        loss, latents = objective(items, torch.Generator())
    assert latents.shape == (8, 6)
    loss.backward()
    assert all(parameter.grad is not None for parameter in objective.parameters())


def test_small_crops_do_not_change_the_statistics_of_batch_norm() -> None:
    items = torch.randint(0, 256, (8, 32, 32, 3), dtype=torch.uint8)
    remembered = []
    for pretext in (None, "several crops"):
        torch.manual_seed(0)
        objective = objectives.Contrastive(TrainConfig.preset("contrastive", width=4), (32, 32, 3))
        with contrastive.Variant(loss=pretext).in_force():
            objective(items, torch.Generator().manual_seed(0))
        remembered.append(dict(objective.named_buffers()))
    for name, statistic in remembered[0].items():
        if "num_batches" not in name:
            torch.testing.assert_close(remembered[1][name], statistic)


def test_the_slow_copy_follows_and_is_not_trained() -> None:
    objective = objectives.Contrastive(TrainConfig.preset("contrastive", width=4), (32, 32, 3))
    names = set(objective.state_dict())
    first = next(pretexts._slow_copy(objective).parameters()).clone()
    with torch.no_grad():
        next(objective.network.encoder.parameters()).add_(1)
    torch.testing.assert_close(next(pretexts._slow_copy(objective).parameters()), first + 1 - pretexts.KEPT)
    assert set(objective.state_dict()) == names


def test_variants_that_are_trained_alike_share_a_file(tmp_path: Path) -> None:
    files = {name: variant.file(tmp_path) for name, variant in contrastive.VARIANTS.items()}
    mirrored = [name for name, variant in contrastive.VARIANTS.items() if variant.mirrored]
    assert all(files[name] == next(iter(files.values())) for name in mirrored)
    assert len(set(files.values())) == len(files) - len(mirrored)


def test_death_times_of_a_dataset_are_ordered() -> None:
    low, mean, high = np.array(measure(Backbone.load(), "digits", ("train", "test"), NOWHERE)).T
    assert len(low) == 16
    assert (low < mean).all()
    assert (mean < high).all()


def test_a_shipped_encoder_is_not_trained_again(tmp_path: Path) -> None:
    found = trained("tiny-imagenet", TrainConfig(epochs=FULL), NOWHERE, tmp_path)
    assert found.digest == Backbone.load("tiny-imagenet-16x10").digest
    found = trained("tiny-imagenet", TrainConfig.preset("contrastive"), NOWHERE, tmp_path)
    assert found.digest == Backbone.load("tiny-imagenet-contrastive-16x10").digest
    with pytest.raises(FileNotFoundError, match="tiny-imagenet is not in"):
        trained("tiny-imagenet", TrainConfig(epochs=FULL, weight=1.0), NOWHERE, tmp_path)


def test_a_training_is_kept(tmp_path: Path) -> None:
    config = TrainConfig(epochs=1, width=4, weight=1.0)
    first = trained("digits", config, NOWHERE, tmp_path)
    (file,) = tmp_path.glob("*.safetensors")
    written = file.stat().st_mtime_ns
    assert trained("digits", config, NOWHERE, tmp_path).digest == first.digest
    assert file.stat().st_mtime_ns == written


def test_untrained_connectivity_is_that_of_the_first_weights() -> None:
    """A batch that collapses to nearly a point has b − 1 bars near zero, each η away from η."""
    config, images = TrainConfig(width=4), corel.images.open("digits")
    assert 0.5 * 99 * config.eta < untrained_connectivity(config, images) < 99 * config.eta


def test_exemplars_are_left_out_where_a_class_is_too_small() -> None:
    images = corel.images.open("digits")
    assert int(np.bincount(np.asarray(images.labels)).min()) < 120
    assert enough(images, (80, 120)) == [80]


def test_copies_are_found_mirrored_brighter_and_among_others() -> None:
    rng = np.random.default_rng(0)
    auxiliary = rng.integers(0, 128, (20, 32, 32, 3), np.uint8)
    test = np.stack(
        [auxiliary[3], auxiliary[5][:, ::-1], auxiliary[7] + 60, rng.integers(0, 128, (32, 32, 3), np.uint8)]
    )
    found = overlap.closest(test, auxiliary)
    assert found[:3] == pytest.approx(1, abs=1e-5)
    assert found[3] < 0.5
    assert overlap.exact(test, auxiliary) == 1


def test_a_flat_image_is_no_copy() -> None:
    flat = np.full((1, 32, 32, 3), 7, np.uint8)
    assert overlap.closest(flat, flat) == pytest.approx(0)
