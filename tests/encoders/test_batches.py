"""A latent does not depend on what is encoded beside it: the same bits in every batch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from corel.backbone import Backbone, shipped
from corel.encoders import Autoencoder, FeatureHead
from corel.encoders.base import Embedding

IMAGES = np.random.default_rng(0).integers(0, 256, (256, 32, 32, 3), dtype=np.uint8)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", [name for name in shipped() if name.startswith("tiny")])
def test_shipped_encoders_give_the_same_bits_in_batches_of_any_size(name: str, threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    backbone = Backbone.load(name)
    whole = backbone.encode(IMAGES)
    few = {1: range(0, 256, 37), 2: range(0, 256, 62), 7: range(3, 249, 60), 16: [5, 200], 57: [11], 72: [100]}
    for size, starts in few.items():
        for start in starts:
            chosen = slice(start, start + size)
            assert np.array_equal(backbone.encode(IMAGES[chosen]), whole[chosen]), (size, start)
    shuffled = np.random.default_rng(1).permutation(64)
    assert np.array_equal(backbone.encode(IMAGES[:64][shuffled]), whole[:64][shuffled])
    torch.set_num_threads(before)


@pytest.mark.parametrize(("items", "calls"), [(1, [8]), (16, [8, 8]), (64, [64]), (66, [64, 8])])
def test_what_is_left_of_a_batch_is_hardly_padded(
    items: int, calls: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    backbone, seen = Backbone.load("tiny-imagenet-contrastive-16x10"), list[int]()
    embed_batch = backbone.network.embed_batch

    def watched(prepared: torch.Tensor) -> Embedding:
        seen.append(len(prepared))
        return embed_batch(prepared)

    monkeypatch.setattr(backbone.network, "embed_batch", watched)
    backbone.encode(IMAGES[:items])
    assert seen == calls


@pytest.mark.parametrize("size", [1, 2, 7, 31, 33])
def test_rows_of_features_too(size: int) -> None:
    torch.manual_seed(0)
    head = FeatureHead(branches=4, branch_dim=3, width=32, features=7)
    rows = np.random.default_rng(0).normal(size=(256, 7)).astype(np.float32)
    parts = [head.encode(rows[start : start + size]) for start in range(0, 256, size)]
    assert torch.equal(torch.cat(parts), head.encode(rows))


def test_the_layer_for_inference_is_the_layer_that_is_trained() -> None:
    torch.manual_seed(0)
    network = Autoencoder(branches=4, branch_dim=3, width=8, image_size=16)
    pixels = IMAGES[:5, :16, :16]
    trained = network.encoder(network.prepare(pixels)).detach()
    torch.testing.assert_close(network.encode(pixels), trained, rtol=1e-5, atol=1e-5)


def test_no_items_give_no_latents() -> None:
    assert Autoencoder(branches=4, branch_dim=3).encode(IMAGES[:0]).shape == (0, 12)
