"""The private names of torch that corel uses, and what happens in a torch that lacks them.

`is_plain_eager` asks four of them, `change_count` the fifth.

The fast path for L1 (`persistence.direct_l1`, and the connectivity loss on top of it) computes in numpy, which torch
cannot trace. So it must not be taken while something traces or transforms torch's operators. torch.compile has a
public function that tells. The others have none:

| private name                               | tells whether                                  | without it          |
|--------------------------------------------|------------------------------------------------|---------------------|
| torch._C._are_functorch_transforms_active  | torch.func is at work (vmap, grad, jvp)        | counts as active    |
| torch._C._len_torch_dispatch_stack         | a TorchDispatchMode is active (fake tensors)   | counts as active    |
| torch._C._is_tracing                       | torch.jit.trace records                        | counts as active    |
| torch.autograd.forward_ad._current_level   | forward-mode derivatives are taken (-1: none)  | counts as active    |
| torch.Tensor._version                      | how often a tensor was changed in place        | counts as changed   |

"Counts as active" means that the general path runs: results stay the same, a training step takes longer. "Counts as
changed" means that batch norms are folded anew for each batch. A test removes each name in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad


def _absent() -> bool:
    return True


_transforms_active: Callable[[], Any] = getattr(torch._C, "_are_functorch_transforms_active", _absent)
_modes_active: Callable[[], Any] = getattr(torch._C, "_len_torch_dispatch_stack", _absent)
_tracing: Callable[[], Any] = getattr(torch._C, "_is_tracing", _absent)


def is_plain_eager() -> bool:
    """Whether operators run eagerly and nothing traces them: no compile, export, trace, func, mode or forward mode."""
    return (
        getattr(forward_ad, "_current_level", 0) < 0
        and not torch.compiler.is_compiling()
        and not _tracing()
        and not _transforms_active()
        and not _modes_active()
    )


def change_count(tensor: Tensor) -> object:
    """Give a value that differs once the tensor was changed in place; where nobody counts, it differs each time."""
    try:
        return tensor._version
    except (AttributeError, RuntimeError):  # tensors made in inference mode have no count
        return object()
