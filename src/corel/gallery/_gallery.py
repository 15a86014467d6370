"""The gallery as users meet it: enrol, forget, list, score, classify, explain."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corel import images as sources
from corel._terminal import printable
from corel.gallery import _backbone_lookup, _blanks
from corel.gallery._explanation import Explanation
from corel.gallery._items import Items, prepare
from corel.gallery._names import check_name, unknown_class
from corel.gallery._scores import Scores
from corel.gallery._store import Exemplar, Store
from corel.gallery._verdicts import Verdict

if TYPE_CHECKING:
    from corel.backbone import Backbone
    from corel.oneclass import Calibration, ClassBank

# A shorter beginning of a hash is too easily that of another exemplar.
SHORTEST_HASH = 6


@dataclass(frozen=True)
class Enrolment:
    """What an enrollment did.

    Attributes:
        added: new exemplars per class.
        duplicates: how many images the class already held.
        skipped: what could not be read.
        elsewhere: how many of the images other classes hold as well, per class.

    """

    added: dict[str, int]
    duplicates: int
    skipped: tuple[sources.Skipped, ...] = ()
    elsewhere: dict[str, int] = field(default_factory=dict)


class Gallery:
    """Classes that are recognised from a few images each, on one backbone, in one SQLite file.

    Each change is one transaction: a crash, a kill or a full disk leaves the file as it was before or as it
    is after. Several processes may use a gallery at once; in one process each thread opens its own.

    Example:
        >>> import corel
        >>> digits = corel.images.open("digits")
        >>> with corel.Gallery.open("digits.gallery", create=True) as gallery:
        ...     for digit in ("0", "1"):
        ...         chosen = digits.labels == digits.classes.index(digit)
        ...         enrolment = gallery.enroll(digit, digits.take(chosen))
        ...     sets = gallery.classify(corel.images.open("digits", "test"), rate=0.05)
        >>> len(sets)
        898

    """

    def __init__(self, store: Store, given: _backbone_lookup.BackboneLike | None) -> None:
        self._store = store
        self._given = given
        self._kept: tuple[tuple[int, int], tuple[str, ...], ClassBank, Calibration] | None = None
        self._told: tuple[tuple[int, int], bool] | None = None  # whether blank frames can be told, at a version
        if given is not None:
            # The wrong backbone is better known now than after an hour of encoding.
            _ = self._backbone

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        backbone: _backbone_lookup.BackboneLike | None = None,
        *,
        create: bool = False,
    ) -> Gallery:
        """Open a gallery; `create` allows one that is not there yet, which appears with its first enrolment.

        `backbone` is for a new gallery (default: the best on photographs) and for one whose backbone was moved;
        otherwise a gallery finds its backbone by itself.
        """
        store = Store(Path(path).expanduser(), create=create)
        try:
            return cls(store, backbone)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Release the file."""
        self._store.close()

    def __enter__(self) -> Gallery:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def backbone(self) -> Backbone:
        """The backbone that all exemplars were encoded by."""
        return self._backbone[0]

    @cached_property
    def _backbone(self) -> tuple[Backbone, str]:
        return _backbone_lookup.load(self._store.path, self._store.reference, self._given)

    def classes(self) -> dict[str, int]:
        """Give each class's number of exemplars, in alphabetical order."""
        return self._store.counts()

    def exemplars(self, name: str) -> list[Exemplar]:
        """Give a class's exemplars in the order of their enrolment."""
        found = self._store.exemplars(name)
        if not found:
            raise unknown_class(name, self.classes())
        return found

    def enroll(self, name: str | None, images: Any, *, strict: bool = False, progress: bool = False) -> Enrolment:
        """Add images to a class, all or none; those it already holds are counted and skipped.

        Args:
            name: the class, new or not; None takes each class of a labelled source under its own name.
            images: anything that `corel.images.open` takes; for a backbone on vectors rows ``[n, features]``, or an
                .npy or .npz file of them.
            strict: an image that cannot be read is an error, rather than skipped and listed.
            progress: show a bar on a terminal.

        """
        from corel.oneclass import backbone_settings

        if name is not None:
            check_name(name)
        backbone_settings(self.backbone)  # refuses, before anything is encoded, what could never be scored
        items = prepare(images, self.backbone, strict=strict, progress=progress)
        names = items.label_names() if name is None else [name] * len(items)
        if not len(items):
            raise ValueError("there is no image or vector to enrol; give at least one")
        exemplars = self._encode(items, names, progress=progress)
        added = self._store.add(_backbone_lookup.refer(*self._backbone, self._store.reference), exemplars)
        counts = dict.fromkeys(names, 0)
        for each, new in zip(names, added, strict=True):
            counts[each] += new
        elsewhere = self._elsewhere([each.hash for each in exemplars], names)
        return Enrolment(counts, len(added) - sum(added), items.skipped, elsewhere)

    def forget(self, name: str, hashes: Sequence[str] | None = None) -> int:
        """Remove a class, or those of its exemplars whose hashes begin so; gives how many were removed.

        What is forgotten is overwritten in the file, not merely unlinked.
        """
        exemplars = self.exemplars(name)
        if hashes is None:
            return self._store.remove(name)
        return self._store.remove(name, [_complete(each, exemplars) for each in hashes])

    def restore(self, exemplars: Sequence[Exemplar]) -> int:
        """Put back exemplars that were forgotten, all or none; gives how many were not there."""
        return sum(self._store.add(_backbone_lookup.refer(*self._backbone), exemplars))

    def rename(self, name: str, new: str) -> int:
        """Give a class another name; gives how many exemplars it holds."""
        check_name(new)
        if name == new:
            return len(self.exemplars(name))
        return self._store.rename(name, new) or len(self.exemplars(name))  # which says that there is no such class

    def score(self, images: Any, *, photographs: bool = True, strict: bool = False, progress: bool = False) -> Scores:
        """Score images, or vectors, in whatever form `enroll` takes them against every class.

        `photographs` looks for blank, flat and noise frames, unless the exemplars themselves look like that.
        """
        from corel.oneclass import joining_likeness

        items = prepare(images, self.backbone, strict=strict, progress=progress)
        names, bank, calibration = self._bank()
        latents = self.backbone.encode(items.values, progress=progress)
        found = bank.assess(latents)
        likeness = found.scores if np.ptp(bank.sizes) == 0 else bank.likeness(latents)
        joining = joining_likeness(bank, latents, likeness)
        enrolled = self._store.holders([items.digest(i) for i in range(len(items))])
        shown = self._photographic(items.values) if photographs else None
        return Scores(items.names, names, *found, likeness, joining, calibration, items.skipped, enrolled, shown)

    def _photographic(self, values: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Tell images from frames without a subject; None for vectors, and for a gallery of plain surfaces."""
        version = self._store.version()
        if self._told is None or self._told[0] != version:
            self._told = version, _blanks.applies(self._store.thumbnails(_blanks.SAMPLE))
        return sources.photographic(values) if values.ndim == 4 and self._told[1] else None

    def recognize(self, images: Any, rate: float = 0.05, *, strict: bool = False) -> list[Verdict]:
        """Say of each image which class it is, that several are possible, or that it is a stranger.

        Of images of the enrolled classes at most the share `rate` is called stranger, averaged over enrollments.
        """
        return self.score(images, strict=strict).decide(rate)

    def classify(self, images: Any, rate: float = 0.05) -> list[tuple[str, ...]]:
        """Give each image's conformal prediction set: the classes that do not reject it, the likeliest first.

        An image of an enrolled class has that class in its set with probability at least 1 − `rate`. An empty
        set says: none of them.
        """
        from corel.oneclass import check_support, supporting_sizes

        check_support(rate, supporting_sizes(rate, self.classes().values()))
        return self.score(images).prediction_sets(rate)

    def explain(self, image: Any, name: str) -> Explanation:
        """Show which exemplars of a class vote for an image, branch by branch."""
        exemplars = self.exemplars(name)
        items = prepare(image, self.backbone)
        if len(items) != 1:
            raise ValueError(f"one image or vector is explained at a time, got {len(items)}")
        latent = self.backbone.encode(items.values)
        bank = self._class_bank(np.stack([each.latent for each in exemplars]), [len(exemplars)])
        found, (votes,) = bank.assess(latent), bank.explain(latent)
        score, p_value = found.scores.item(), found.p_values.item()
        return Explanation(items.names[0], items.values[0], name, exemplars, votes, score, p_value)

    def _elsewhere(self, hashes: Sequence[str], names: Sequence[str]) -> dict[str, int]:
        """Count the images that a class other than their own holds too."""
        pairs = list(dict.fromkeys(zip(hashes, names, strict=True)))
        held = zip(self._store.holders([digest for digest, _ in pairs]), (own for _, own in pairs), strict=True)
        return dict(sorted(Counter(each for classes, own in held for each in classes if each != own).items()))

    def _bank(self) -> tuple[tuple[str, ...], ClassBank, Calibration]:
        """Give all classes ready to score, kept until this or another process changes the file."""
        from corel.oneclass import Calibration

        version = self._store.version()
        if self._kept is None or self._kept[0] != version:
            counts, latents = self._store.latents()
            if not counts:
                raise ValueError(f"nothing is enrolled in {self._store.path}; enrol a class first")
            bank = self._class_bank(latents, list(counts.values()))
            self._kept = version, tuple(counts), bank, Calibration.of(bank)
        return self._kept[1:]

    def _class_bank(self, latents: NDArray[np.float32], sizes: Sequence[int]) -> ClassBank:
        from corel.oneclass import ClassBank, backbone_settings

        return ClassBank(latents, np.cumsum([0, *sizes]), **backbone_settings(self.backbone))

    def _encode(self, items: Items, names: Sequence[str], *, progress: bool) -> list[Exemplar]:
        latents = self.backbone.encode(items.values, progress=progress)
        if bad := np.flatnonzero(~np.isfinite(latents).all(axis=1)).tolist():
            raise ValueError(
                f"the latent of {items.names[bad[0]]} is not finite; leave it out, or use another backbone"
            )
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return [
            Exemplar(name, items.digest(i), printable(items.names[i]), now, latents[i], items.thumbnail(i))
            for i, name in enumerate(names)
        ]


def _complete(beginning: str, exemplars: Sequence[Exemplar]) -> str:
    """Find the one exemplar whose hash begins so."""
    if len(beginning) < SHORTEST_HASH:
        raise ValueError(f"give at least {SHORTEST_HASH} letters of a hash, not {beginning!r}")
    found = [each.hash for each in exemplars if each.hash.startswith(beginning)]
    if len(found) != 1:
        raise ValueError(
            f"{len(found) or 'no'} exemplars have a hash that begins with {beginning!r}; "
            "`corel classes GALLERY NAME` lists them"
        )
    return found[0]
