"""Run a frozen encoder over unlabeled items once, and read off what scoring needs: background, radius, death times."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from corel import images
from corel._errors import ArgumentError
from corel._io.arrayfile import load_features
from corel.encoders import graph, graph_steps
from corel.encoders.base import BACKGROUND, Network
from corel.encoders.pretrained import Pretrained
from corel.encoders.resuming import resumed_rows
from corel.encoders.stock import Stock, find
from corel.encoders.stock import Wrapping as Wrapping
from corel.encoders.vectors import Vectors
from corel.encoders.whitening import Whitening
from corel.persistence import death_times

BATCH, BATCHES = 100, 200  # items in a batch whose death times are measured, as in the paper; and how many batches
FEWEST = 50  # items, for a radius to be read off
AGREEMENT = 1e-3  # the largest change of a latent's component that half-precision weights may cause
COMPARED = 32  # items by which it is measured
ENCODED = 64  # items encoded at a time

Latents = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Background:
    """What a run over unlabeled items gives.

    Attributes:
        network: the encoder, which centers and whitens now.
        latents: float32 ``[k, D]`` of a random sample of the items.
        hashes: uint8 ``[k, 32]``, of what the encoder saw of each.
        deaths: the mean over batches of the smallest, mean and largest death time, ``[1, 3]``.
        batch: how many latents were connected at a time.
        items: how many there were.
        source: where they came from, in words.

    """

    network: Network
    latents: Latents
    hashes: NDArray[np.uint8]
    deaths: NDArray[np.float32]
    batch: int
    items: int
    source: str

    @property
    def radius(self) -> float:
        """The mean death time: the paper's η, read off instead of trained."""
        return float(self.deaths[0, 1])


@dataclass(frozen=True, eq=False)
class Wrapped:
    """A network to run over its background.

    Attributes:
        kind: what a backbone's file calls it.
        network: the encoder.
        preparation: how an item becomes its input.
        source: the background's items.
        provenance: where the encoder comes from.

    """

    kind: str
    network: Pretrained | Vectors
    preparation: Any
    source: Any
    provenance: dict[str, Any]


def find_encoder(encoder: Any, source: Any, how: Wrapping) -> Wrapped:
    """Find an encoder by its name, or take a torch module, and make it a network."""
    vectors = isinstance(encoder, str) and encoder == "vectors"
    return _vectors(source, how) if vectors else _pretrained(encoder, source, how)


def _pretrained(encoder: Any, source: Any, how: Wrapping) -> Wrapped:
    """Find an encoder of images; its weights are in half precision where that changes no latent."""
    stock = find(encoder, how)
    checked = with_half_weights(stock, source)
    provenance = {**stock.provenance, "half-precision weights": checked is not stock.graph}
    return Wrapped("pretrained", Pretrained.of(checked), stock.preparation, source, provenance)


def _vectors(source: Any, how: Wrapping) -> Wrapped:
    """Take rows of embeddings as they are."""
    if given := [name for name, value in vars(how).items() if value not in (None, (), "rgb")]:
        raise ArgumentError(given[0], "does not apply to vectors, which are used as they are; leave it out")
    rows = load_features(Path(source).expanduser()) if isinstance(source, str | os.PathLike) else np.asarray(source)
    if rows.ndim != 2 or not rows.shape[1]:
        raise ArgumentError("background", f"must be rows [n, D] for vectors, got {list(rows.shape)}")
    network = Vectors(1, rows.shape[1])
    network.prepare(rows)
    provenance = {"encoder": "vectors", "source": str(source) if isinstance(source, str | os.PathLike) else "an array"}
    return Wrapped("vectors", network, images.Rows(rows.shape[1]), rows.astype(np.float32), provenance)


def run(
    network: Pretrained | Vectors,
    preparation: Any,
    source: Any,
    *,
    shrink: int | None = None,
    partial: Path | None = None,
    batch_size: int = ENCODED,
    progress: bool = False,
) -> Background:
    """Encode all items of a source; after an interruption the same call continues from the file `partial`.

    With `shrink`, photos have this side before they are prepared.
    """
    first = preparation if shrink is None else _shrinking(preparation, shrink)
    stream = images.stream(
        source, first, batch_size=batch_size, progress=progress, description="encoding the background"
    )
    identity = _identity(network, preparation)
    with resumed_rows(partial, identity, network.architecture["branch_dim"]) as rows:
        for batch in stream:
            rows.extend(network, batch.values if shrink is None else images.resize_all(batch.values, preparation))
        latents, hashes = rows.all()
    _check(latents, hashes, stream.source)
    distinct = np.unique(hashes, axis=0, return_index=True)[1]  # copies of a photo count once
    order = np.random.default_rng(0).permutation(np.sort(distinct))
    kept = order[:BACKGROUND]  # shuffled: the cosine score takes the first rows as a sample of all
    whitening = Whitening.of(latents[kept])
    deaths = _deaths(latents, order, whitening)
    # Half precision, as the file has it: a backbone is the same before and after it is saved.
    rounded = whitening(latents[kept]).astype(np.float16).astype(np.float32)
    size, count = min(BATCH, len(order)), len(latents)
    return Background(network.whitened(whitening), rounded, hashes[kept], deaths, size, count, stream.source)


def _shrinking(preparation: Any, size: int) -> images.Preparation:
    """Give the preparation of photos that lose their detail first."""
    if isinstance(preparation, images.Rows) or not 1 <= size < preparation.size:
        limit = "is for photos" if isinstance(preparation, images.Rows) else f"must be from 1 to {preparation.size - 1}"
        raise ArgumentError("shrink", f"{limit}, got {size}; leave it out, or give the side of your images in pixels")
    return images.Preparation(size, "crop", preparation.interpolation, draft=True)


def with_half_weights(stock: Stock, source: Any) -> graph.Graph:
    """Give the graph with weights in half precision if that moves no latent by more than 1e-3, else as it is."""
    rounded = graph.check_again(graph_steps.half(stock.graph.content), "the graph in half precision")
    some = next(iter(images.stream(source, stock.preparation, batch_size=COMPARED))).values
    whole, half = (Pretrained.of(each).encode(some).numpy() for each in (stock.graph, rounded))
    agree = np.isfinite(half).all() and np.abs(whole - half).max(initial=0.0) <= AGREEMENT
    return rounded if agree else stock.graph


def _identity(network: Network, preparation: Any) -> bytes:
    digest = hashlib.sha256(repr([network.architecture, preparation.document()]).encode())
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.digest()


def _check(latents: Latents, hashes: NDArray[np.uint8], source: str) -> None:
    distinct = len(np.unique(hashes, axis=0))
    if distinct < FEWEST:
        raise ArgumentError(
            "background",
            f"needs at least {FEWEST} different items, {source} has {distinct}; give more, of anything but the classes "
            "to enroll",
        )
    if np.ptp(latents, axis=0).max() == 0:
        raise ArgumentError("encoder", f"gives the same vector for all items of {source}; use another encoder")


def _deaths(latents: Latents, order: NDArray[np.int64], whitening: Whitening) -> NDArray[np.float32]:
    """Measure batches of the different items; only their latents are whitened, or all would be held several times."""
    rng = np.random.default_rng(0)
    size = min(BATCH, len(order))
    found = []
    for _ in range(BATCHES):
        chosen = order[rng.choice(len(order), size, replace=False)]
        deaths = death_times(torch.from_numpy(whitening(latents[chosen])))
        found.append([float(deaths[0]), float(deaths.mean()), float(deaths[-1])])
    means: NDArray[np.float32] = np.array(found).mean(axis=0, keepdims=True).astype(np.float32)
    return means
