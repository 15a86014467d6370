"""The private names of torch that corel uses, and what happens in a torch that lacks them.

`is_plain_eager` asks four of them, `change_count` the fifth; `lay_out` and `convolve` call the last two.

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

| private operator of torch.ops.mkldnn       | what it does                                   | without it          |
|--------------------------------------------|------------------------------------------------|---------------------|
| _reorder_convolution_weight                | lays weights out as oneDNN's kernels want them | once in each call   |
| _convolution_pointwise                     | runs a convolution on such weights             | once in each call   |

"Counts as active" means that the general path runs: results stay the same, a training step takes longer. "Counts as
changed" means that batch norms are folded anew for each batch. A test removes each name in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

import torch
from torch import Tensor, nn
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


def lays_out(module: nn.Module) -> TypeGuard[nn.Conv2d]:
    """Whether a module is a convolution that oneDNN runs on this CPU, on weights that are laid out before."""
    return (
        isinstance(module, nn.Conv2d)
        and (module.weight.device.type, module.weight.dtype) == ("cpu", torch.float32)
        and torch.backends.cpu.get_cpu_capability().startswith("AVX")
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and all(hasattr(torch.ops.mkldnn, name) for name in _OPERATORS)
    )


_OPERATORS = ["_reorder_convolution_weight", "_convolution_pointwise"]


def lay_out(convolution: nn.Conv2d, x: Tensor) -> Any:
    """Give a convolution's weights as the kernels for inputs like `x` want them; no other operator takes them."""
    return torch.ops.mkldnn._reorder_convolution_weight(convolution.weight, *_geometry(convolution), list(x.shape))


def convolve(convolution: nn.Conv2d, x: Tensor, weight: Any, then: str) -> Tensor:
    """Run a convolution on weights that `lay_out` gave, and `then` nothing ("none") or "relu"."""
    geometry = _geometry(convolution)
    found: Tensor = torch.ops.mkldnn._convolution_pointwise(x, weight, convolution.bias, *geometry, then, [], "")
    return found


def _geometry(convolution: nn.Conv2d) -> tuple[Any, ...]:
    return convolution.padding, convolution.stride, convolution.dilation, convolution.groups
