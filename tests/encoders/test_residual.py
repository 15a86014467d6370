"""One pass gives the latents and the pooled features."""

from __future__ import annotations

import numpy as np
import torch

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


def test_other_encoders_offer_their_latents() -> None:
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
