"""The result of an enrollment, and its warnings."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from corel._terminal import counted
from corel.gallery._store import Store
from corel.images import Skipped

if TYPE_CHECKING:
    from corel.backbone import Backbone


@dataclass(frozen=True)
class Enrollment:
    """What an enrollment did.

    Attributes:
        added: new exemplars per class.
        duplicates: how many images the class already held.
        skipped: what could not be read.
        elsewhere: per other class, how many of these images it holds as well.

    """

    added: dict[str, int]
    duplicates: int
    skipped: tuple[Skipped, ...] = ()
    elsewhere: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, store: Store, classes: Sequence[str], hashes: Sequence[str], added: Sequence[bool],
        skipped: Sequence[Skipped],
    ) -> Enrollment:  # fmt: skip
        """Count what an enrollment of items with these classes and hashes did; `added` are those that were new."""
        counts = dict.fromkeys(classes, 0)
        for each, new in zip(classes, added, strict=True):
            counts[each] += new
        return cls(counts, len(added) - sum(added), tuple(skipped), held_elsewhere(store, hashes, classes))


def warn_of_background(backbone: Backbone, hashes: Sequence[str]) -> None:
    """Warn about exemplars that are also in the backbone's background."""
    if count := len(backbone.background_rows(hashes)):
        warnings.warn(
            f"{counted(count, 'exemplar')} also gave the backbone its center, whitening and radius, so p-values are "
            "not quite exact; wrap the encoder with other images as its background",
            stacklevel=3,
        )


def held_elsewhere(store: Store, hashes: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """Count the images that a class other than their own holds too."""
    pairs = list(dict.fromkeys(zip(hashes, names, strict=True)))
    held = zip(store.holders([digest for digest, _ in pairs]), (own for _, own in pairs), strict=True)
    return dict(sorted(Counter(each for classes, own in held for each in classes if each != own).items()))
