"""Training one encoder without labels: an objective plus λ times the connectivity loss.

The names are listed in ``__init__.pyi`` and load on first use: `TrainConfig` needs no torch.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
