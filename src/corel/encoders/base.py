"""What every trained network has in common: items go in, latents ``[n, B·D]`` in float32 come out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import chain
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn

from corel._terminal import track

Module = TypeVar("Module", bound=nn.Module)


class Network(nn.Module, ABC):
    """A network with an `encoder`; a `Backbone` keeps one, an objective trains it.

    Attributes:
        architecture: the keyword arguments that build this network again.
        encoder: maps what `prepare` returns to latents ``[n, branches·branch_dim]``.
        input_shape: the shape of one prepared item, without the batch.
        half_weights: whether a backbone keeps matrices and kernels in half precision.
        sizes: how many items an encoder call may have, ascending. Kernels choose their order of summation by the size
            of a batch; with few sizes a latent does not depend on its batch. 32 is as fast as any on a CPU, and 8
            keeps a single image cheap.

    """

    half_weights: ClassVar[bool] = False
    sizes: ClassVar[tuple[int, ...]] = (8, 32)

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

    @torch.no_grad()
    def encode(
        self,
        items: Any,
        batch_size: int = 500,
        *,
        progress: bool = False,
        normalize: Callable[[Tensor], Tensor] = lambda prepared: prepared,
    ) -> Tensor:
        """Encode any number of items in batches, in float32 whatever the training used: ``[n, B·D]`` on the CPU.

        On one machine and number of threads a latent is the same to the last bit, whatever is encoded beside it.
        `normalize` is applied to what `prepare` gives.
        """
        device = next(chain(self.parameters(), self.buffers())).device
        self.prepare(items[:1])  # says what is wrong, if anything, before the first batch
        parts = [
            self.run(self.encoder, normalize(self.prepare(items[start : start + batch_size])).to(device))
            for start in track(range(0, len(items), batch_size), "encoding", quiet=not progress)
        ]
        width = self.architecture["branches"] * self.architecture["branch_dim"]
        return torch.cat(parts).float().cpu() if parts else torch.empty(0, width)

    def run(self, encoder: Callable[[Tensor], Tensor], prepared: Tensor) -> Tensor:
        """Call an encoder on prepared items in calls of fixed `sizes`; what pads the last one is dropped."""
        parts = []
        for block in prepared.split(self.sizes[-1]):  # type: ignore[no-untyped-call]
            size = next(size for size in self.sizes if size >= len(block))
            rows = torch.arange(size, device=block.device).clamp_(max=len(block) - 1)
            padded = block if len(block) == size else block[rows]
            if padded.ndim == 4:  # one layout too, or another kernel may run
                padded = padded.contiguous(memory_format=torch.channels_last)
            parts.append(encoder(padded)[: len(block)])
        return torch.cat(parts)


def channels_last(module: Module) -> Module:
    """Lay the convolutions' weights out as their kernels want them; other weights stay as they are."""
    return module.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]
