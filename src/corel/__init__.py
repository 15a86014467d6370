"""corel: shape the topology of a learned representation, recognize a class from a handful of examples.

The public names are listed in ``__init__.pyi``; each loads its module, and torch, on first use (PEP 562).
"""

import lazy_loader as _lazy

from corel._version import __version__ as __version__

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
