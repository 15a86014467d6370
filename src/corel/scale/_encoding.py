"""Encoding on the workers of a Ray cluster, for functions that spend their time in a network."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from corel.encoders.base import Embedding, Network
from corel.scale._cluster import cluster, workers_for
from corel.scale._scorer import use_threads

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = 256  # items at most that a worker encodes at a time: pixels of a few megabytes


class Encoder:
    """What a worker does: it keeps the network and encodes what it is sent."""

    def __init__(self, network: Network, threads: int) -> None:
        use_threads(threads)
        self._network = network

    def embed(self, items: Any, normalize: Callable[..., Any]) -> tuple[Any, ...]:
        """Give latents and features as arrays."""
        found = self._network.embed(items, normalize=normalize)
        return tuple(part.numpy() for part in found)


@contextmanager
def encoding_on_ray(
    network: Network, *, address: str | None = None, workers: int | None = None, threads: int = 1
) -> Iterator[int]:
    """Let the workers of a cluster do `network.embed` while the block runs; gives the number of workers.

    Latents equal those of this process, to the last bit on equal CPUs and threads.
    """
    with cluster(address, cpus=None if workers is None else workers * threads) as ray:
        count = workers or workers_for(ray, threads)
        remote = ray.remote(num_cpus=threads, max_restarts=-1, max_task_retries=-1)(Encoder)
        held = ray.put(network)
        pool = [remote.remote(held, threads) for _ in range(count)]
        network.embed = _embedder(ray, pool, network)  # type: ignore[method-assign]
        try:
            yield count
        finally:
            del network.embed


def _embedder(ray: Any, pool: list[Any], network: Network) -> Callable[..., Embedding]:
    own = network.embed

    def embed(items: Any, batch_size: int = 512, *, progress: bool = False, normalize: Any = _unchanged) -> Embedding:
        values = items.numpy() if isinstance(items, torch.Tensor) else np.asarray(items)
        if len(values) <= CHUNK and len(pool) == 1:
            return own(items, batch_size, progress=progress, normalize=normalize)
        network.prepare(values[:1])  # says what is wrong, if anything, before anything is sent
        size = max(1, min(CHUNK, math.ceil(len(values) / len(pool))))  # few items go to all workers too
        chunks = [values[start : start + size] for start in range(0, max(1, len(values)), size)]
        sent = [pool[i % len(pool)].embed.remote(chunk, normalize) for i, chunk in enumerate(chunks)]
        parts = ray.get(sent)
        return Embedding(*(torch.from_numpy(np.concatenate(column)) for column in zip(*parts, strict=True)))

    return embed


def _unchanged(prepared: Any) -> Any:
    return prepared
