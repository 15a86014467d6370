"""A remark on classes that are too small for a rate, by every command that decides."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from corel._terminal import console

if TYPE_CHECKING:
    from corel.gallery import Gallery


def warn_of_small_classes(gallery: Gallery, rate: float, *, quiet: bool, failing: bool = False) -> bool:
    """Say, and return, whether classes have too few exemplars to be ruled out.

    The smallest p-value of m exemplars is 1/(m + 1). If nothing can be a stranger, exit code 0 means nothing: users
    who wait for it (`failing`) are told despite `quiet`.
    """
    from corel.oneclass import allowed_rejections, supporting_sizes

    counts = gallery.classes()
    supports = zip(counts, supporting_sizes(rate, counts.values()), strict=True)
    small = [name for name, count in supports if not allowed_rejections(rate, count)]
    blind = failing and not allowed_rejections(rate, sum(counts.values()))
    if small and (blind or not quiet):
        shown = ", ".join(small[:3]) + (f" and {len(small) - 3} more" if len(small) > 3 else "")
        needed, pooled = math.ceil(1 / rate) - 1, " in these classes together" if len(small) > 1 else ""
        console().print(
            f"{shown}: too few exemplars to be ruled out at a rate of {rate:g}; {needed:,} are needed{pooled}",
            markup=False,
        )
    return bool(small)
