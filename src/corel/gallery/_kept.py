"""All classes ready to score, kept in memory and brought up to date by what changed in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corel.gallery._exemplar import Exemplar, Key, Version
from corel.gallery._store import Store

if TYPE_CHECKING:
    from corel.backbone import Backbone
    from corel.oneclass import Calibration, ClassBank, Split

Row = tuple[NDArray[np.float32], NDArray[np.float32] | None]  # an exemplar's latent and features


@dataclass(frozen=True, eq=False)
class Kept:
    """The classes of a gallery as of one version of its file: their names, exemplars and what these are scored by."""

    version: Version
    names: tuple[str, ...]
    keys: tuple[tuple[Key, ...], ...]
    rows: dict[Key, Row]
    bank: ClassBank
    splits: dict[int, Split] = field(default_factory=dict)

    @cached_property
    def calibration(self) -> Calibration:
        """How the exemplars fit among themselves; computed on first use, because an audit does not need it."""
        from corel.oneclass import Calibration

        return Calibration.of(self.bank)

    def split(self, calibrating: int) -> Split:
        """Give the split in which so many exemplars calibrate, made once."""
        from corel.oneclass import Split

        if calibrating not in self.splits:
            hashes = [digest for each in self.keys for _, digest in each]
            self.splits[calibrating] = Split.of(self.bank, hashes, calibrating)
        return self.splits[calibrating]


class Compared(NamedTuple):
    """Which rows of a gallery's exemplars are compared, and with which background."""

    store: Store
    backbone: Backbone
    method: str

    def row(self, latent: NDArray[np.float32], features: NDArray[np.float32] | None) -> NDArray[np.float32]:
        """Give an exemplar's row to compare; features that equal the latent are not stored beside it."""
        if self.method != "cosine" or (features is None and not self.backbone.network.own_features):
            return latent
        if features is None:
            raise ValueError(f"{self.store.path} lacks the features that its score compares; enroll its images anew")
        return features

    def stacked(self, exemplars: Sequence[Exemplar]) -> NDArray[np.float32]:
        """Give the exemplars' rows to compare ``[m, d]``."""
        return np.stack([self.row(each.latent, each.features) for each in exemplars])

    def alone(self, exemplars: Sequence[Exemplar]) -> ClassBank:
        """Make the bank of one class; its background lacks whatever any class holds, as in the bank of all."""
        from corel.oneclass import ClassBank, backbone_settings

        enrolled = (digest for hashes in self.store.hashes().values() for digest in hashes)
        omitted = [*self.backbone.background_rows(enrolled).values()]
        settings = backbone_settings(self.backbone, self.method)
        return ClassBank.of([self.stacked(exemplars)], **settings, omitted=omitted)

    def bank(self, keys: Sequence[tuple[Key, ...]], rows: dict[Key, Row], kept: Kept | None) -> ClassBank:
        """Make the bank of these classes; those that `kept` has already are not prepared anew."""
        from corel.oneclass import ClassBank, backbone_settings

        same = kept is not None and kept.bank.method == self.method
        known = {each: c for c, each in enumerate(kept.keys)} if kept is not None and same else {}
        classes = [known[each] if each in known else np.stack([self.row(*rows[key]) for key in each]) for each in keys]
        omitted = [*self.backbone.background_rows(digest for _, digest in rows).values()]
        if kept is not None and known:
            return kept.bank.updated(classes, omitted)
        return ClassBank.of(classes, **backbone_settings(self.backbone, self.method), omitted=omitted)


def brought_up_to_date(kept: Kept | None, compared: Compared) -> Kept:
    """Give what is kept if the file is unchanged; else read what is new in it, and prepare the classes that changed."""
    if kept is not None and kept.version == compared.store.version():
        return kept
    known = kept.rows if kept is not None else {}
    found = compared.store.changes(known)
    if not found.keys:
        raise ValueError(f"nothing is enrolled in {compared.store.path}; enroll a class first")
    keys = tuple(map(tuple, found.keys.values()))
    rows = {key: known.get(key) or found.new[key] for each in keys for key in each}
    return Kept(found.version, tuple(found.keys), keys, rows, compared.bank(keys, rows, kept))
