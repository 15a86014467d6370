"""What inference spares: batch norms, and laying out the weights of convolutions at each call. The map is the same."""

from __future__ import annotations

import copy
from itertools import chain, pairwise
from typing import Any

from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from corel._compute.torch_internals import change_count, convolve, lay_out, lays_out
from corel.encoders.base import channels_last


def fold_batch_norms(module: nn.Module) -> nn.Module:
    """Copy a module in eval mode, with each pair of a convolution and a batch norm as one convolution."""
    return _laid_out(channels_last(_folded(copy.deepcopy(module))))


def _folded(module: nn.Module) -> nn.Module:
    match list(module.children()):
        case [nn.Conv2d() as convolution, nn.BatchNorm2d() as norm] if isinstance(module, nn.Sequential):
            return fuse_conv_bn_eval(convolution, norm)
    for name, child in module.named_children():
        setattr(module, name, _folded(child))
    return module


def _laid_out(module: nn.Module) -> nn.Module:
    """Replace convolutions, and where one stands before a ReLU in a sequence, both."""
    for name, child in module.named_children():
        setattr(module, name, LaidOut(child) if lays_out(child) else _laid_out(child))
    if isinstance(module, nn.Sequential):
        for place, (layer, after) in enumerate(pairwise(module.children())):
            if isinstance(layer, LaidOut) and isinstance(after, nn.ReLU):
                layer.then, module[place + 1] = "relu", nn.Identity()
    return module


class LaidOut(nn.Module):
    """A convolution whose weights are laid out once as oneDNN's kernels want them, and what follows it.

    Torch's own call does that each time: for a block of small images it takes an eighth of the time. The kernels are
    the same, so the bits are.
    """

    def __init__(self, convolution: nn.Conv2d) -> None:
        super().__init__()
        self.then = "none"
        self._convolution = convolution
        self._weight: Any = None

    def forward(self, x: Tensor) -> Tensor:
        """Map what the convolution maps."""
        if self._weight is None:
            self._weight = lay_out(self._convolution, x)
        return convolve(self._convolution, x, self._weight, self.then)


class Folding:
    """Keeps the folded copy of a module until one of its weights is another tensor or was changed in place.

    Torch does not count changes through ``tensor.data`` or a numpy view. They are seen after `forget` only, which
    ``train()`` and ``eval()`` of a `ResidualNetwork` call.
    """

    def __init__(self) -> None:
        self._seen: list[tuple[Tensor, object]] = []
        self._kept: nn.Module | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the copy out where a network is copied or sent to a worker: laid out weights cannot be."""
        return Folding, ()

    def forget(self) -> None:
        """Drop the copy; the next call folds anew."""
        self._seen, self._kept = [], None

    def of(self, module: nn.Module) -> nn.Module:
        """Give the folded copy."""
        tensors = list(chain(module.parameters(), module.buffers()))
        same = len(tensors) == len(self._seen) and all(
            tensor is seen and change_count(tensor) == version
            for tensor, (seen, version) in zip(tensors, self._seen, strict=True)
        )
        if self._kept is None or not same:
            self._kept = fold_batch_norms(module)
            self._seen = [(tensor, change_count(tensor)) for tensor in tensors]
        return self._kept
