"""Batch norms folded into the convolutions before them: the same map with a third less memory traffic."""

from __future__ import annotations

import copy
from itertools import chain

from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from corel._compute.torch_internals import change_count
from corel.encoders.base import channels_last


def fold_batch_norms(module: nn.Module) -> nn.Module:
    """Copy a module in eval mode, with each pair of a convolution and a batch norm as one convolution."""
    return channels_last(_folded(copy.deepcopy(module)))


def _folded(module: nn.Module) -> nn.Module:
    match list(module.children()):
        case [nn.Conv2d() as convolution, nn.BatchNorm2d() as norm] if isinstance(module, nn.Sequential):
            return fuse_conv_bn_eval(convolution, norm)
    for name, child in module.named_children():
        setattr(module, name, _folded(child))
    return module


class Folding:
    """Keeps the folded copy of a module until one of its weights is another tensor or was changed in place."""

    def __init__(self) -> None:
        self._seen: list[tuple[Tensor, object]] = []
        self._kept: nn.Module | None = None

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
