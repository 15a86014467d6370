"""A latent does not depend on what is encoded beside it: the same bits in every batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from corel.backbone import Backbone, shipped
from corel.encoders import Autoencoder, FeatureHead
from corel.encoders.base import Embedding

IMAGES = np.random.default_rng(0).integers(0, 256, (256, 32, 32, 3), dtype=np.uint8)


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    """Sets the number of torch's threads, and restores it."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("name", [name for name in shipped() if name.startswith("tiny")])
def test_shipped_encoders_give_the_same_bits_in_batches_of_any_size(
    name: str, count: int, threads: Callable[[int], None]
) -> None:
    threads(count)
    backbone = Backbone.load(name)
    whole = backbone.encode(IMAGES)
    few = {1: range(0, 256, 37), 2: range(0, 256, 62), 7: range(3, 249, 60), 16: [5, 200], 57: [11], 72: [100]}
    for size, starts in few.items():
        for start in starts:
            chosen = slice(start, start + size)
            assert np.array_equal(backbone.encode(IMAGES[chosen]), whole[chosen]), (size, start)
    shuffled = np.random.default_rng(1).permutation(64)
    assert np.array_equal(backbone.encode(IMAGES[:64][shuffled]), whole[:64][shuffled])


def test_shipped_encoders_give_the_same_bits_with_any_number_of_threads(threads: Callable[[int], None]) -> None:
    backbone, found = Backbone.load(), []
    for count in (1, 2, 5):
        threads(count)
        found.append(backbone.embed(IMAGES[:75]))
    for each in found[1:]:
        assert np.array_equal(each.latents, found[0].latents)
        assert np.array_equal(each.features, found[0].features)


def test_blocks_run_with_one_thread_each(threads: Callable[[int], None], monkeypatch: pytest.MonkeyPatch) -> None:
    threads(3)
    backbone, seen = Backbone.load(), list[tuple[int, bool]]()
    embed_batch = backbone.network.embed_batch

    def watched(prepared: torch.Tensor) -> Embedding:
        seen.append((torch.get_num_threads(), torch.is_grad_enabled()))
        return embed_batch(prepared)

    monkeypatch.setattr(backbone.network, "embed_batch", watched)
    backbone.encode(IMAGES[:75])
    assert seen == [(1, False)] * 4
    assert torch.get_num_threads() == 3


@pytest.mark.parametrize(("items", "calls"), [(1, [8]), (16, [8, 8]), (32, [32]), (34, [8, 32])])
def test_the_last_items_of_a_batch_are_hardly_padded(
    items: int, calls: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    backbone, seen = Backbone.load("tiny-imagenet-contrastive-16x10"), list[int]()
    embed_batch = backbone.network.embed_batch

    def watched(prepared: torch.Tensor) -> Embedding:
        seen.append(len(prepared))
        return embed_batch(prepared)

    monkeypatch.setattr(backbone.network, "embed_batch", watched)
    backbone.encode(IMAGES[:items])
    assert sorted(seen) == calls


def test_no_more_than_a_block_of_images_is_prepared_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    backbone, seen = Backbone.load("tiny-imagenet-16x10"), list[int]()
    prepare = backbone.network.prepare

    def watched(items: np.ndarray) -> torch.Tensor:
        seen.append(len(items))
        return prepare(items)

    monkeypatch.setattr(backbone.network, "prepare", watched)
    backbone.encode(IMAGES[:100])
    assert seen[0] == 1  # the first one is only checked
    assert sorted(seen[1:]) == [4, 32, 32, 32]


@pytest.mark.parametrize("size", [1, 2, 7, 31, 33])
def test_latents_of_features_do_not_depend_on_the_batch(size: int) -> None:
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
