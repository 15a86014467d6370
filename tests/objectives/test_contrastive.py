from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from corel.backbone import Backbone
from corel.encoders.residual import ResidualNetwork
from corel.losses import ConnectivityLoss
from corel.objectives import contrastive
from corel.objectives._views import _crop, _turn, random_views
from corel.objectives.contrastive import Contrastive, nt_xent
from corel.training import TrainConfig, TrainingInterrupted, train
from corel.training._schedule import step_size

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = TrainConfig.preset(
    "contrastive", branches=2, branch_dim=3, width=4, batch_size=16, cloud_size=8, weight=1 / 7, epochs=2,
    precision="float32",
)  # fmt: skip


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def squares(count: int = 64) -> NDArray[np.uint8]:
    """Images of four colored squares each: something that survives cropping."""
    corners = np.random.default_rng(0).integers(0, 256, (count, 2, 2, 3), np.uint8)
    return np.kron(corners, np.ones((1, 8, 8, 1), np.uint8))


# --- Views


def test_views_follow_the_generator_and_differ_from_one_another() -> None:
    images = torch.rand(6, 3, 16, 16, generator=seeded(9))
    views = random_views(torch.cat([images, images]), images.shape[-1], 0.2, seeded())
    torch.testing.assert_close(
        random_views(torch.cat([images, images]), images.shape[-1], 0.2, seeded()), views, rtol=0, atol=0
    )
    assert not torch.equal(random_views(torch.cat([images, images]), images.shape[-1], 0.2, seeded(1)), views)
    assert (views[:6] - views[6:]).abs().amax(dim=(1, 2, 3)).min() > 0.01
    assert views.shape == (12, 3, 16, 16)
    assert 0 <= views.min() <= views.max() <= 1


def test_each_view_has_its_own_random_draws() -> None:
    """The same image many times: a view knows nothing of its neighbors, and a fifth of the views are gray."""
    image = torch.rand(1, 3, 16, 16, generator=seeded(9))
    views = random_views(image.expand(2000, -1, -1, -1), image.shape[-1], 0.2, seeded())
    gray = (views.amax(dim=1) - views.amin(dim=1)).amax(dim=(1, 2)) < 1e-6
    assert 0.16 < gray.float().mean() < 0.24
    assert len(np.unique(views.flatten(1).numpy(), axis=0)) == 2000


def test_a_crop_shows_a_rectangle_of_the_image_and_half_are_mirrored() -> None:
    """On a ramp every crop is a ramp whose slope is the crop's width, negative when mirrored."""
    ramp = torch.linspace(0.3, 0.6, 16).expand(500, 3, 16, 16).clone()
    views = random_views(ramp, ramp.shape[-1], 0.2, seeded())
    rows = views.mean(dim=1)
    torch.testing.assert_close(rows[:, :1].expand_as(rows), rows)  # no row differs: columns stay columns
    falling = rows[:, 0, -1] < rows[:, 0, 0]
    assert 0.44 < falling.float().mean() < 0.56


@pytest.mark.parametrize("least", [0.02, 0.3, 0.6])
def test_crops_begin_at_the_area_that_was_asked_for(least: float) -> None:
    """Of ramps both ways: how much a view rises is the share of the side that it shows."""
    ramp = torch.linspace(0.4, 0.6, 16)
    across, down = ramp.expand(400, 1, 16, 16).clone(), ramp[:, None].expand(400, 1, 16, 16).clone()
    rises = [_crop(images, 16, least, seeded()).flatten(1) for images in (across, down)]
    width, height = ((rise.amax(1) - rise.amin(1)) / 0.2 for rise in rises)
    shown = width * height
    assert least * 0.7 < shown.min() < least * 1.3
    assert shown.max() <= 1 + 1e-5


def test_views_have_the_size_that_is_asked_for() -> None:
    assert random_views(torch.rand(2, 3, 16, 16), 12, 0.2, seeded()).shape == (2, 3, 12, 12)
    assert random_views(torch.rand(2, 1, 16, 16), 8, 0.2, seeded()).shape == (2, 1, 8, 8)


def test_rotating_the_hue_keeps_the_mean_and_a_third_of_the_circle_permutes_the_channels() -> None:
    images = torch.rand(2, 3, 4, 4, generator=seeded(9))
    turned = _turn(images, torch.tensor([2 * math.pi / 3, 1.0]))
    torch.testing.assert_close(turned.mean(dim=1), images.mean(dim=1))
    torch.testing.assert_close(turned[0], images[0].roll(1, dims=0))


@pytest.mark.parametrize(("start", "steps"), [(0.0, (15, 15, 10)), (0.5, (25, 5, 10))])
def test_views_grow_to_the_size_of_the_images(
    start: float, steps: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contrastive, "GROWING", (start, 0.75))
    objective = Contrastive(replace(SMALL, view_size=8), (16, 16, 3))
    sizes = []
    for step in range(40):
        objective.progress = step / 40
        sizes.append(objective.view_size())
    assert sizes == [8] * steps[0] + [12] * steps[1] + [16] * steps[2]


def test_views_without_a_size_are_as_large_as_images() -> None:
    assert Contrastive(replace(SMALL, view_size=None), (16, 16, 3)).view_size() == 16
    objective = Contrastive(replace(SMALL, view_size=9), (16, 16, 3))  # not a whole number of steps away
    objective.progress = 0.75
    assert objective.view_size() == 16


def test_views_of_larger_images_are_as_large_as_the_encoder_s_input() -> None:
    large = np.kron(squares(), np.ones((1, 2, 2, 1), np.uint8))  # 32 pixels
    backbone = train(large, replace(SMALL, image_size=16, epochs=1))
    assert backbone.network.input_shape == (3, 16, 16)
    # Each block of four equal pixels becomes one: the background is that of the images at the encoder's size.
    objective = Contrastive(replace(SMALL, image_size=16), large.shape[1:])
    np.testing.assert_array_equal(
        objective.inputs(torch.from_numpy(large)).numpy()[:, 2:6, 2:6], squares()[:, 2:6, 2:6]
    )


def test_an_encoder_larger_than_the_images_is_refused() -> None:
    with pytest.raises(ValueError, match="more than the 16 pixels"):
        Contrastive(replace(SMALL, image_size=32), (16, 16, 3))


def test_views_are_the_same_under_autocast() -> None:
    images = torch.rand(4, 3, 16, 16, generator=seeded(9))
    with torch.autocast("cpu", torch.bfloat16):
        rounded = random_views(images, images.shape[-1], 0.2, seeded())
    torch.testing.assert_close(rounded, random_views(images, images.shape[-1], 0.2, seeded()), rtol=0, atol=0)


# --- The loss


def nt_xent_by_loops(projected: Tensor, temperature: float) -> float:
    rows = [row / np.linalg.norm(row) for row in projected.double().numpy()]
    count = len(rows)
    total = 0.0
    for i, row in enumerate(rows):
        partner = (i + count // 2) % count
        others = sum(math.exp(row @ rows[k] / temperature) for k in range(count) if k != i)
        total -= math.log(math.exp(row @ rows[partner] / temperature) / others)
    return total / count


@pytest.mark.parametrize("temperature", [0.2, 1.0])
def test_nt_xent_is_its_definition(temperature: float) -> None:
    projected = torch.randn(14, 5, generator=seeded())
    assert nt_xent(projected, temperature).item() == pytest.approx(nt_xent_by_loops(projected, temperature), rel=1e-5)


def test_nt_xent_has_its_closed_form_at_the_extremes() -> None:
    """Views that agree on b orthogonal directions: log(1 + (2b - 2)·exp(-1/τ)); all the same: log(2b - 1)."""
    agreeing = torch.eye(6).repeat(2, 1)
    assert nt_xent(agreeing, 0.5).item() == pytest.approx(math.log(1 + 10 * math.exp(-2)), rel=1e-5)
    assert nt_xent(torch.ones(12, 4), 0.5).item() == pytest.approx(math.log(11), rel=1e-5)


def test_connectivity_reaches_every_weight_of_the_encoder_and_none_of_the_projection() -> None:
    torch.manual_seed(0)
    objective = Contrastive(replace(SMALL, projection=8), (16, 16, 3))
    loss, latents = objective(torch.from_numpy(squares(16)), seeded())
    assert loss.ndim == 0
    assert latents.shape == (16, 6)
    torch.autograd.backward(ConnectivityLoss(2.0, 2)(latents[:8]))
    *gradients, of_last_bias = [p.grad for p in objective.network.parameters()]
    assert all(gradient is not None and gradient.abs().sum() > 0 for gradient in gradients)
    assert of_last_bias is not None
    assert of_last_bias.abs().max() < 1e-4  # it moves all latents alike
    assert [p.grad for p in objective.projection.parameters()] == [None] * 4


def test_without_a_projection_the_latents_are_compared() -> None:
    torch.manual_seed(0)
    objective = Contrastive(replace(SMALL, projection=0, temperature=0.7), (16, 16, 3))
    compared: list[Tensor] = []
    objective.network.encoder.register_forward_hook(lambda *call: compared.append(call[-1]))
    loss, _ = objective(torch.from_numpy(squares(16)), seeded())
    assert loss.item() == pytest.approx(nt_xent_by_loops(compared[0].detach(), 0.7), rel=1e-5)


# --- Training


def test_training_lowers_both_losses() -> None:
    """The pretext goes below log(2b - 1), which an encoder gets that cannot tell one image from another."""
    first, *_, last = train(squares(), replace(SMALL, epochs=20, width=8, view_area=0.5)).metadata["history"]
    assert last["nt_xent"] < min(first["nt_xent"], math.log(31)) - 0.1
    assert last["connectivity"] < 0.5 * first["connectivity"]


def test_a_stopped_training_continues_to_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batch norm's statistics, step size and view size go on where they were, in the middle of an epoch too."""
    config = replace(SMALL, view_size=8)
    whole = train(squares(), config)
    stop_at(3, monkeypatch)
    with pytest.raises(TrainingInterrupted, match="after step 3"):
        train(squares(), config, run_dir=tmp_path)
    monkeypatch.undo()
    assert train(squares(), config, run_dir=tmp_path).digest == whole.digest


def stop_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask a training to stop after this step, as Ctrl-C does."""
    from corel.training import _loop

    asked = iter([*[False] * (step - 1), True])
    monkeypatch.setattr(_loop, "_any_process", lambda *_: next(asked))


@pytest.mark.parametrize("changes", [{"schedule": "one-cycle", "view_size": None}, {"schedule": "constant"}])
def test_more_epochs_are_another_training_where_step_or_view_size_depend_on_them(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    config = replace(SMALL, **changes)
    train(squares(), replace(config, epochs=1), run_dir=tmp_path)
    with pytest.raises(ValueError, match="epochs was 1 and is now 2"):
        train(squares(), config, run_dir=tmp_path)


def test_one_cycle_is_torch_s() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, SMALL.learning_rate, total_steps=57, cycle_momentum=False)
    for step in range(57):
        assert step_size(SMALL, step, 57) == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-9)
        optimizer.step()
        schedule.step()
    assert step_size(replace(SMALL, schedule="constant"), 5, 57) == SMALL.learning_rate


def test_a_backbones_batch_size_is_the_cloud_size() -> None:
    assert train(squares(), replace(SMALL, epochs=1)).batch_size == 8
    with pytest.raises(ValueError, match="cloud_size must be from 2 to the batch size, which is 16, got 17; give both"):
        replace(SMALL, cloud_size=17)


# --- The backbone


def test_the_file_gives_the_same_latents_and_statistics(tmp_path: Path) -> None:
    backbone = train(squares(), SMALL)
    backbone.save(tmp_path / "b.safetensors")
    again = Backbone.load(tmp_path / "b.safetensors")
    assert again.digest == backbone.digest
    np.testing.assert_array_equal(again.encode(squares()), backbone.encode(squares()))
    counts = [value for name, value in again.network.state_dict().items() if name.endswith("num_batches_tracked")]
    assert {(value.dtype, int(value)) for value in counts} == {(torch.int64, 8)}  # two epochs of four steps
    assert backbone.background == pytest.approx(backbone.encode(squares())[order_of(backbone)], abs=2e-3)


def order_of(backbone: Backbone) -> Tensor:
    from corel.training._loop import _order

    return _order(SMALL.seed, SMALL.epochs, len(squares()))


def test_an_image_s_latent_does_not_depend_on_its_batch() -> None:
    """Encoding uses the statistics that training gathered, not those of the images at hand."""
    backbone = train(squares(), SMALL)
    together, alone = backbone.encode(squares(8)), backbone.encode(squares(8), batch_size=1)
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_the_shipped_size_is_under_six_megabytes() -> None:
    network = ResidualNetwork()
    held = sum(tensor.nbytes for tensor in network.stored_state().values()) + 4000 * 160 * 2
    assert held < 6e6
    assert sum(parameter.numel() for parameter in network.parameters()) == 1_980_096


def test_other_shapes_are_refused_with_what_is_needed() -> None:
    with pytest.raises(ValueError, match="images must be square"):
        train(np.zeros((20, 5), np.float32), SMALL)
    with pytest.raises(ValueError, match="images must have 3 channels and 32×32 pixels"):
        ResidualNetwork().encode(squares(2))
