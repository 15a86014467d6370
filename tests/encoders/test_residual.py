"""One pass gives the latents and the pooled features."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch

from corel._compute import torch_internals
from corel.backbone import Backbone
from corel.encoders import Autoencoder, FeatureHead, ResidualNetwork

PIXELS = np.random.default_rng(0).integers(0, 256, (7, 32, 32, 3), np.uint8)


def test_features_are_the_means_of_the_second_and_third_stage() -> None:
    network = ResidualNetwork(width=8).eval()
    found = network.embed(PIXELS, batch_size=3)
    seen: list[torch.Tensor] = []
    for index in (3, 4):
        network.encoder[index].register_forward_hook(  # type: ignore[index]
            lambda *arguments: seen.append(arguments[-1].mean(dim=(2, 3)))
        )
    with torch.no_grad():
        latents = network.encoder(network.prepare(PIXELS))
    torch.testing.assert_close(found.latents, latents)
    torch.testing.assert_close(found.features, torch.cat(seen, dim=1))
    assert found.features.shape == (7, network.feature_count) == (7, 32 + 64)


def test_the_features_of_other_encoders_are_their_latents() -> None:
    for network, items in (
        (Autoencoder(2, 3, 4, 3, 32).eval(), PIXELS),
        (FeatureHead(2, 3, 4, 5).eval(), np.ones((4, 5))),
    ):
        found = network.embed(items)
        torch.testing.assert_close(found.latents, found.features, rtol=0, atol=0)
        torch.testing.assert_close(found.latents, network.encode(items), rtol=0, atol=0)
        assert network.embed(items[:0]).features.shape == (0, network.feature_count)


def test_a_backbone_gives_both_as_arrays() -> None:
    backbone = Backbone.load()
    found = backbone.embed(PIXELS)
    assert found.latents.shape == (7, 160)
    assert found.features.shape == (7, 384)
    np.testing.assert_array_equal(found.latents, backbone.encode(PIXELS))


def trained(network: ResidualNetwork) -> ResidualNetwork:
    """A network with batch norms that change their input."""
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if tensor.is_floating_point() and tensor.ndim == 1:
                tensor.uniform_(0.5, 1.5) if "var" in name or "weight" in name else tensor.normal_()
    return network.eval()


def test_batch_norms_are_folded_into_the_convolutions() -> None:
    network = trained(ResidualNetwork(width=8))
    names = list(network.state_dict())
    with torch.no_grad():
        expected = network.encoder(network.prepare(PIXELS))
    torch.testing.assert_close(network.encode(PIXELS), expected, rtol=1e-5, atol=1e-5)
    folded = network._folding.of(network.encoder)
    assert not [layer for layer in folded.modules() if isinstance(layer, torch.nn.BatchNorm2d)]
    assert network._folding.of(network.encoder) is folded
    assert list(network.state_dict()) == names


def test_changed_weights_are_folded_anew() -> None:
    network = trained(ResidualNetwork(width=8))
    before = network.encode(PIXELS)
    with torch.no_grad():
        next(network.encoder.parameters()).mul_(2)
    changed = network.encode(PIXELS)
    assert (changed - before).abs().max() > 1e-3
    network.load_state_dict(ResidualNetwork(width=8).state_dict(), assign=True)
    with torch.no_grad():
        expected = network.encoder(network.prepare(PIXELS))
    torch.testing.assert_close(network.encode(PIXELS), expected, rtol=1e-5, atol=1e-5)
    network.train().encode(PIXELS)
    assert network.encoder[0][1].num_batches_tracked > 0  # type: ignore[index]


@pytest.mark.parametrize("forgotten_by", ["eval", "train", "parent"])
def test_weights_changed_through_data_are_folded_anew_after_a_change_of_mode(forgotten_by: str) -> None:
    network = trained(ResidualNetwork(width=8))
    before = network.encode(PIXELS)
    next(network.encoder.parameters()).data.mul_(2)
    {"eval": network.eval, "train": lambda: network.train().eval(), "parent": torch.nn.Sequential(network).eval}[
        forgotten_by
    ]()
    assert torch.equal(network.encode(PIXELS), copy.deepcopy(network).encode(PIXELS))
    assert (network.encode(PIXELS) - before).abs().max() > 1e-3


def test_weights_that_are_laid_out_once_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    network = trained(ResidualNetwork(width=8))
    found = network.embed(PIXELS)
    monkeypatch.setattr(torch_internals, "_OPERATORS", ["in_no_torch"])
    for other in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        expected = other.embed(PIXELS)
        assert any(isinstance(layer, torch.nn.ReLU) for layer in other._folding.of(other.encoder).modules())
        assert torch.equal(found.latents, expected.latents)
        assert torch.equal(found.features, expected.features)
