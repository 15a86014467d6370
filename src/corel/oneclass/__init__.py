"""Recognize a class from a handful of latents: scores, decisions with a guarantee, explanations, forgetting.

The names are listed in ``__init__.pyi`` and load on first use: only `OneClass` needs scikit-learn.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
