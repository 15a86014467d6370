"""What every trained network has in common: items go in, latents ``[n, B·D]`` in float32 come out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, ClassVar, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from corel._compute.memory import keep_freed_memory
from corel._compute.threads import run_side_by_side
from corel._errors import ArgumentError
from corel._terminal import track

BACKGROUND = 4000  # latents of unlabeled items that a backbone keeps, to compare with

Module = TypeVar("Module", bound=nn.Module)


class Embedding(NamedTuple):
    """What one pass of an encoder gives.

    Attributes:
        latents: the paper's latents ``[n, branches·branch_dim]``.
        features: what the encoder knows before it makes latents, ``[n, F]``; the latents where it offers no more.

    """

    latents: Any
    features: Any


class Network(nn.Module, ABC):
    """A network with an `encoder`; a `Backbone` keeps one, an objective trains it.

    Attributes:
        architecture: the keyword arguments that build this network again.
        encoder: maps what `prepare` returns to latents ``[n, branches·branch_dim]``.
        input_shape: the shape of one prepared item, without the batch.
        half_weights: whether a backbone keeps matrices and kernels in half precision.
        own_features: whether its features differ from its latents.
        sizes: how many items an encoder call may have, ascending. Kernels choose their order of summation by the size
            of a batch; with few sizes a latent does not depend on its batch. 32 is as fast as any on a CPU, and 8
            keeps a single image cheap.
        apart: whether a CPU runs several calls at a time, with one thread each. That takes more memory, and then a
            latent does not depend on the number of threads either.

    """

    half_weights: ClassVar[bool] = False
    own_features: ClassVar[bool] = False
    sizes: ClassVar[tuple[int, ...]] = (8, 32)
    apart: ClassVar[bool] = True

    architecture: dict[str, int]
    encoder: nn.Module
    input_shape: tuple[int, ...]

    @abstractmethod
    def prepare(self, items: Any) -> Tensor:
        """Turn a batch as users hold it into the encoder's float32 input, or say what is wrong with it."""

    def stored_state(self) -> dict[str, Tensor]:
        """Give the weights and buffers as a file keeps them; vectors, so norms and statistics, are never rounded."""
        return {
            name: tensor.half() if self.half_weights and tensor.ndim > 1 else tensor
            for name, tensor in self.state_dict().items()
        }

    @property
    def feature_count(self) -> int:
        """The number F of features of an item."""
        return self.architecture["branches"] * self.architecture["branch_dim"]

    def embed_batch(self, prepared: Tensor) -> Embedding:
        """Run one batch, which `prepare` returned, through the encoder."""
        latents = self.encoder(prepared)
        return Embedding(latents, latents)

    def encode(self, items: Any, batch_size: int = 512, **options: Any) -> Tensor:
        """Give the latents ``[n, B·D]`` of any number of items, as `embed` does."""
        latents: Tensor = self.embed(items, batch_size, **options).latents
        return latents

    @torch.no_grad()
    def embed(
        self,
        items: Any,
        batch_size: int = 512,
        *,
        progress: bool = False,
        normalize: Callable[[Tensor], Tensor] = lambda prepared: prepared,
    ) -> Embedding:
        """Embed any number of items in batches, in float32 whatever the training used; the result is on the CPU.

        On one machine a latent is the same to the last bit, whatever is encoded beside it. Where blocks run `apart`,
        that holds for any number of threads. `normalize` is applied to what `prepare` gives.
        """
        if batch_size < 1:
            raise ArgumentError("batch_size", f"must be at least 1, got {batch_size}")
        device = next(chain(self.parameters(), self.buffers())).device
        if device.type == "cpu":
            keep_freed_memory()
        self.prepare(items[:1])  # says what is wrong, if anything, before the first batch
        width = self.architecture["branches"] * self.architecture["branch_dim"]
        each_of: Callable[..., Iterable[Embedding]] = run_side_by_side if self.apart and device.type == "cpu" else map
        parts = [Embedding(torch.empty(0, width), torch.empty(0, self.feature_count))]

        def embed_block(block: Any) -> Embedding:  # prepared by itself: a batch of large images takes gigabytes
            return self._embed_padded(normalize(self.prepare(block)).to(device))

        for start in track(range(0, len(items), batch_size), "encoding", quiet=not progress):
            parts += each_of(embed_block, self._blocks(items[start : start + batch_size]))
        return Embedding(*(torch.cat(column) for column in zip(*parts, strict=True)))

    def _blocks(self, items: Any) -> Iterator[Any]:
        """Cut a batch into blocks of the largest size, and what is left into the smallest: less of it is padding."""
        smallest, largest = self.sizes[0], self.sizes[-1]
        whole = len(items) - len(items) % largest
        yield from (items[start : start + largest] for start in range(0, whole, largest))
        yield from (items[start : start + smallest] for start in range(whole, len(items), smallest))

    @torch.no_grad()  # which holds for one thread
    def _embed_padded(self, block: Tensor) -> Embedding:
        """Run a batch at the next of the fixed `sizes`; what pads it is dropped."""
        size = next(size for size in self.sizes if size >= len(block))
        rows = torch.arange(size, device=block.device).clamp_(max=len(block) - 1)
        padded = block if len(block) == size else block[rows]
        if padded.ndim == 4:  # one layout too, or another kernel may run
            padded = padded.contiguous(memory_format=torch.channels_last)
        return Embedding(*(part[: len(block)].float().cpu() for part in self.embed_batch(padded)))


def channels_last(module: Module) -> Module:
    """Lay the convolutions' weights out as their kernels want them; other weights stay as they are."""
    return module.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]
