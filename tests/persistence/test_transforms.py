"""compile, export, func and vmap pass through the operators."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from corel import ConnectivityLoss, connectivity_loss, death_times, merge_edges
from tests.persistence.clouds import gaussian

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch", "ignore::UserWarning:torch")


@pytest.mark.parametrize("shape", [(5, 3), (2, 5, 3), (0, 5, 3), (2, 1, 3)])
def test_the_operators_are_well_formed(shape: tuple[int, ...]) -> None:
    torch.library.opcheck(torch.ops.corel.merge_edges.default, (gaussian(*shape), 1.0))
    distances = torch.cdist(gaussian(*shape), gaussian(*shape), p=1)
    torch.library.opcheck(torch.ops.corel.merge_edges_of_distances.default, (distances,))


def test_a_training_step_compiles_without_a_break() -> None:
    model, loss = nn.Linear(5, 8), ConnectivityLoss(branches=2)
    images = gaussian(12, 5, dtype=torch.float32)

    def step(images: Tensor) -> Tensor:
        z: Tensor = model(images)
        total: Tensor = z.square().mean() + loss(z)
        return total

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(images), step(images))
    expected = torch.autograd.grad(step(images), [*model.parameters()])
    torch.testing.assert_close(torch.autograd.grad(compiled(images), [*model.parameters()]), expected)


def test_export_with_a_dynamic_batch() -> None:
    class Model(nn.Module):
        def forward(self, z: Tensor) -> Tensor:
            return death_times(z)

    example = gaussian(3, 6, 2)
    dynamic = {"z": {0: torch.export.Dim("clouds"), 1: torch.export.Dim("points", min=3)}}
    exported = torch.export.export(Model(), (example,), dynamic_shapes=dynamic).module()
    for shape in [(3, 6, 2), (5, 9, 2)]:
        points = gaussian(*shape, seed=1)
        torch.testing.assert_close(exported(points), death_times(points))


def test_the_loss_exports_with_a_dynamic_batch() -> None:
    """From three points on: a tensor of one would be of another kind to the exporter."""
    dynamic = {"latents": {0: torch.export.Dim("points", min=3)}}
    loss = ConnectivityLoss(branches=2)
    exported = torch.export.export(loss, (gaussian(12, 8),), dynamic_shapes=dynamic).module()
    for b in (12, 3, 40):
        latents = gaussian(b, 8, seed=b)
        torch.testing.assert_close(exported(latents), loss(latents))


def test_func_grad_and_vmap() -> None:
    points = gaussian(4, 9, 3)
    expected = torch.autograd.grad(connectivity_loss(points.requires_grad_(), branch_reduction="sum"), points)[0]
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(connectivity_loss))(points), expected)
    torch.testing.assert_close(torch.func.grad(connectivity_loss)(points[0]), expected[0])
    assert torch.equal(torch.func.vmap(merge_edges, in_dims=1)(points.movedim(0, 1)), merge_edges(points))
    distances = torch.cdist(points, points, p=1)
    by_vmap = torch.func.vmap(lambda d: merge_edges(distances=d))(distances)
    assert torch.equal(by_vmap, merge_edges(distances=distances))
