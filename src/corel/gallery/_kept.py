"""All classes ready to score, kept in memory and brought up to date by what changed in the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from corel.gallery._store import Key, Snapshot, Store, Version

if TYPE_CHECKING:
    from corel.oneclass import Calibration, ClassBank, Split

Row = tuple[NDArray[np.float32], NDArray[np.float32] | None]  # an exemplar's latent and features
Rows = dict[Key, Row]


@dataclass(frozen=True, eq=False)
class Kept:
    """The classes of a gallery as of one version of its file."""

    version: Version
    names: tuple[str, ...]
    bank: ClassBank
    calibration: Calibration
    rows: Rows
    splits: dict[int, Split] = field(default_factory=dict)

    def split(self, calibrating: int) -> Split:
        """Give the split in which so many exemplars calibrate, made once."""
        from corel.oneclass import Split

        if calibrating not in self.splits:
            self.splits[calibrating] = Split.of(self.bank, [digest for _, digest in self.rows], calibrating)
        return self.splits[calibrating]


def brought_up_to_date(kept: Kept | None, store: Store, make_bank: Callable[[Rows, list[int]], ClassBank]) -> Kept:
    """Give what is kept if the file is unchanged; else read what is new in it, and nothing that is known."""
    from corel.oneclass import Calibration

    if kept is not None and kept.version == store.version():
        return kept
    found = store.changes(kept.rows if kept is not None else {})
    if not found.keys:
        raise ValueError(f"nothing is enrolled in {store.path}; enroll a class first")
    rows = _rows(kept, found)
    bank = make_bank(rows, [len(each) for each in found.keys.values()])
    return Kept(found.version, tuple(found.keys), bank, Calibration.of(bank), rows)


def _rows(kept: Kept | None, found: Snapshot) -> Rows:
    known = kept.rows if kept is not None else {}
    return {key: known.get(key) or found.new[key] for each in found.keys.values() for key in each}
