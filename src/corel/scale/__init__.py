"""Beyond one machine: the scorer for Ray Data, and runs over any number of images that continue after a kill.

The names are listed in ``__init__.pyi`` and load on first use: `Scorer` needs no Ray, `score` and `encoding_on_ray` do.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
