"""The studio: one gallery behind an HTTP API, and the page that uses it.

The names load on first use: they need the extra ``corel[serve]``.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
