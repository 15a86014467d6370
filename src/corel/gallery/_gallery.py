"""The gallery as users meet it: enroll, forget, list, score, classify, explain."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from corel import images as sources
from corel._errors import ArgumentError, renamed
from corel.gallery import _backbone_lookup
from corel.gallery._audit import Audit, Ranked, audit_classes, ranked
from corel.gallery._blanks import BlankTest
from corel.gallery._enrollment import Enrollment, warn_of_background
from corel.gallery._exemplar import Exemplar, Version
from corel.gallery._exemplar_lookup import Chosen, chosen_hashes
from corel.gallery._explaining import explained
from corel.gallery._explanation import Explanation
from corel.gallery._items import class_names, encoded
from corel.gallery._kept import Compared, Kept, brought_up_to_date
from corel.gallery._names import check_name, unknown_class
from corel.gallery._scores import Scores
from corel.gallery._scoring import Embedded, embedded, scored, warn_of_skipped, warn_of_too_few
from corel.gallery._selection import Selection
from corel.gallery._spool import Spool
from corel.gallery._store import Store
from corel.gallery._tuning import Tuning
from corel.gallery._verdicts import Verdict

if TYPE_CHECKING:
    from corel.backbone import Backbone
    from corel.oneclass import Split


class _ChangedError(ValueError):
    """Exemplars were forgotten or renamed between two readings of the file."""


class Gallery:
    """Classes that are recognized from a few images each, on one backbone, in one SQLite file.

    Each change is one transaction: a crash, a kill or a full disk leaves the file as it was before or as it
    is after. Several processes may use a gallery at once, and several threads one `Gallery`.

    Example:
        >>> import corel
        >>> digits = corel.images.open("digits")
        >>> with corel.Gallery.open("digits.gallery", create=True) as gallery:
        ...     for digit in ("0", "1"):
        ...         chosen = digits.labels == digits.classes.index(digit)
        ...         enrollment = gallery.enroll(digit, digits.take(chosen))
        ...     sets = gallery.classify(corel.images.open("digits", "test"), rate=0.05)
        >>> len(sets)
        898

    """

    def __init__(self, store: Store, given: _backbone_lookup.BackboneLike | None, views: str | None = None) -> None:
        self._store = store
        self._given = given
        self._asked = None if views is None else sources.check_views(views)
        self._kept: Kept | None = None
        self._blanks: tuple[Version, BlankTest] | None = None  # the test at a version of the file
        self._lock = threading.RLock()
        self._loaded: tuple[Backbone, str] | None = None
        if given is not None:
            # Refuse the wrong backbone now, not after an hour of encoding.
            _ = self._backbone
        _ = self.views

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        backbone: _backbone_lookup.BackboneLike | None = None,
        *,
        create: bool = False,
        views: str | None = None,
    ) -> Gallery:
        """Open a gallery; `create` allows one that is not there yet, which appears with its first enrollment.

        Args:
            path: the file.
            backbone: for a new gallery (default: the best on photographs), and for one whose backbone was moved
                (default: the one it was made with).
            create: whether the file may be missing.
            views: for a new gallery: "whole" images, "mirror" or "crops", as in `Backbone.embed`. It is stored, since
                exemplars and new images must be seen alike.

        """
        store = Store(Path(path).expanduser(), create=create)
        try:
            return cls(store, backbone, views)
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

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self._store.path} is open in this gallery, which cannot be copied or sent to another process; open the "
            "file there with corel.Gallery.open"
        )

    @property
    def backbone(self) -> Backbone:
        """The backbone that all exemplars were encoded by."""
        return self._backbone[0]

    @property
    def _backbone(self) -> tuple[Backbone, str]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _backbone_lookup.load(self._store.path, self._store.reference, self._given)
            return self._loaded

    @property
    def settings(self) -> dict[str, Any]:
        """What `configure` stored in the file."""
        return self._store.settings()

    def configure(self, *, method: str | None = None, views: str | None = None) -> None:
        """Store in the file which score decides from now on.

        `views` must be those of the gallery: its exemplars were encoded with them.
        """
        if views is not None:
            self._check_same_views(views)
        if method is not None:
            self._check_method(method)
            self._store.configure({"method": method})

    def _check_same_views(self, views: str) -> None:
        if sources.check_views(views) != self.views:
            raise ArgumentError(
                "views",
                f"must stay {self.views}, as the exemplars in {self._store.path} were encoded; enroll again in a new "
                f"gallery that is opened with views={views!r}",
            )

    def _check_method(self, method: str) -> None:
        from corel.oneclass import METHODS, backbone_settings

        if method not in METHODS:
            raise ArgumentError("method", f"must be one of {', '.join(METHODS)}, got {method!r}")
        backbone_settings(self.backbone, method)  # refuses cosine where the background has no features

    @property
    def method(self) -> str:
        """The score that decides: the one the gallery was made with; contrast where none is stored."""
        from corel.oneclass import METHODS

        stored = self._store.settings().get("method", "contrast")
        if stored not in METHODS:
            raise ValueError(f"{self._store.path} needs the score {stored!r}, unknown to this corel; upgrade corel")
        return str(stored)

    @property
    def views(self) -> str:
        """How each image is seen: as the gallery was made; "whole" where nothing is stored."""
        settings = self._store.settings()
        made = bool(settings) or self._store.reference is not None
        stored = str(settings.get("views", sources.WHOLE)) if made else self._asked or sources.WHOLE
        if self._asked not in (None, stored):
            raise ArgumentError("views", f"must be {stored} for {self._store.path}, got {self._asked!r}")
        return sources.check_views(stored)

    def classes(self) -> dict[str, int]:
        """Give each class's number of exemplars, in alphabetical order."""
        return self._store.counts()

    def hashes(self) -> dict[str, list[str]]:
        """Give the hashes of each class's exemplars in the order of their enrollment, without reading the exemplars."""
        return self._store.hashes()

    @property
    def different(self) -> int:
        """How many different images are enrolled; one in several classes counts once."""
        return len({each for hashes in self.hashes().values() for each in hashes})

    def exemplars(self, name: str, hashes: Iterable[str] | None = None) -> list[Exemplar]:
        """Give a class's exemplars in the order of their enrollment, or those with these hashes, in their order."""
        found = self._store.exemplars(name, hashes)
        if not found and (hashes is None or name not in self.classes()):
            raise unknown_class(name, self.classes())
        return found

    def compared(self, name: str) -> NDArray[np.float32]:
        """Give a class's exemplars as rows ``[m, d]`` that the gallery's score compares: latents or features."""
        return self._compared.stacked(self.exemplars(name))

    def enroll(
        self,
        name: str | None,
        images: Any,
        *,
        strict: bool = False,
        progress: bool = False,
        pictures: Mapping[str, bytes] | None = None,
    ) -> Enrollment:
        """Add images to a class, all or none; those it already holds are counted and skipped.

        Args:
            name: the class, new or not; None takes each class of a labeled source under its own name.
            images: anything that `corel.images.open` takes; for a backbone on vectors rows ``[n, features]``, or an
                .npy or .npz file of them.
            strict: an image that cannot be read is an error, rather than skipped and listed.
            progress: show a bar on a terminal.
            pictures: thumbnails as `corel.gallery.thumbnail` makes them, by the images' hashes, for an encoder that
                sees less of an image than a person wants to; default: what is encoded.

        """
        from corel.oneclass import backbone_settings, preferred_method

        if name is not None:
            check_name(name)
        backbone_settings(self.backbone)  # refuses, before anything is encoded, what could never be scored
        first = {"method": preferred_method(self.backbone), "views": self.views}
        classes: list[str] = []
        hashes: list[str] = []
        skipped: list[sources.Skipped] = []
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")  # one time for the audit
        with Spool(self._store.path) as spool:
            for batch in self._stream(images, "enrolling", strict=strict, progress=progress):
                skipped += batch.skipped
                names = class_names(batch, name)
                embedding = self.backbone.embed(batch.values, views=self.views)
                for exemplar in encoded(batch, names, now, *embedding, pictures or {}):
                    spool.add(exemplar)
                    hashes.append(exemplar.hash)
                classes += names
            if not classes:
                raise ArgumentError("images", "must hold at least one image or vector to enroll")
            added = self._store.add(_backbone_lookup.refer(*self._backbone, self._store.reference), spool, first)
        warn_of_background(self.backbone, hashes)
        return Enrollment.of(self._store, classes, hashes, added, skipped)

    def forget(self, name: str, which: Chosen | Iterable[Chosen] | None = None) -> int:
        """Remove a class, or some of its exemplars; gives how many were removed.

        `which` is one or several names of files, beginnings of hashes, or positions in the audit as it is now, of which
        1 fits worst.
        What is forgotten is overwritten in the file, not merely unlinked.
        """
        exemplars = self.exemplars(name)
        if which is None:
            return self._store.remove(name)
        return self._store.remove(name, chosen_hashes(which, exemplars, lambda: self.ranked(name)))

    def audit(self, name: str | None = None) -> Audit:
        """List the exemplars of a class (default: of every class) with how badly they fit, the worst first.

        It also finds near-duplicates and tests later enrollments against earlier ones.
        """
        if name is not None:
            self.exemplars(name)  # raises if there is no such class
        kept, exemplars = self._bank_with_exemplars()
        chosen = [c for c, each in enumerate(kept.names) if name in (None, each)]
        return audit_classes(kept, exemplars, chosen)

    def ranked(self, name: str) -> list[Ranked]:
        """Give a class's exemplars in the order of its audit, the worst first; no other class is read for it."""
        exemplars = self.exemplars(name)
        return ranked(exemplars, self._compared.alone(exemplars).leave_one_out())

    def restore(self, exemplars: Sequence[Exemplar]) -> int:
        """Put back exemplars that were forgotten, all or none; gives how many were added."""
        reference = _backbone_lookup.refer(*self._backbone, self._store.reference)
        return sum(self._store.add(reference, exemplars))

    def rename(self, name: str, new: str) -> int:
        """Give a class another name; gives how many exemplars it holds."""
        check_name(new, "new")
        if name == new:
            return len(self.exemplars(name))
        return self._store.rename(name, new) or len(self.exemplars(name))  # raises if there is no such class

    def score(
        self, images: Any, *, held_out: int = 0, photographs: bool = True, strict: bool = False, progress: bool = False
    ) -> Scores:
        """Score images, or vectors, in whatever form `enroll` takes them; the options are those of `score_batches`."""
        options = {"photographs": photographs, "strict": strict, "progress": progress}
        return Scores.joined(list(self.score_batches(images, held_out=held_out, **options)))

    def score_batches(
        self, images: Any, *, held_out: int = 0, photographs: bool = True, strict: bool = False, progress: bool = False
    ) -> Iterator[Scores]:
        """Score any number of images batch by batch; while one batch is scored, the next ones are read and encoded.

        All batches are scored against the classes as they are when the first one is.

        Args:
            images: whatever `enroll` takes.
            held_out: how many exemplars only calibrate; a confidence and `select` need some.
            photographs: look for blank, flat and noise frames, as far as the exemplars differ from them.
            strict: an image that cannot be read is an error, rather than skipped and listed.
            progress: show a bar on a terminal.

        """
        kept = self._bank()
        # Where blocks have a thread each, a batch is encoded in halves, so that no thread waits for the last block.
        halves = self.backbone.network.apart
        size = sources.BATCH // 2 if halves else None
        batches = self._stream(images, "scoring", size=size, strict=strict, progress=progress)
        for batch in sources.in_turn(self._embedding(photographs=photographs), batches, pairs=halves):
            yield scored(kept, batch, self._store.holders(batch.hashes), held_out)

    def score_encoded(self, rows: NDArray[np.float32], names: Sequence[str]) -> Scores:
        """Score items that were encoded before: rows ``[n, d]`` of what `compared` gives, and a name for each."""
        return scored(self._bank(), Embedded(names, (), rows, (), None, {}), ())

    def split(self, calibrating: int | None = None) -> Split:
        """Split the exemplars by their hashes: `calibrating` of them calibrate (default: half), the others score."""
        return self._bank().split(self._half if calibrating is None else calibrating)

    @property
    def _half(self) -> int:
        return max(1, self.different // 2)

    @property
    def plain(self) -> int:
        """How many exemplars, of at most 400, are blank, flat or noise frames by the limits: such are let pass."""
        return self._blank_test().plain

    def _photographic(self, values: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Tell images from frames without a subject; None for vectors."""
        return self._blank_test().photographic(values) if values.ndim == 4 else None

    def _blank_test(self) -> BlankTest:
        version = self._store.version()
        if self._blanks is None or self._blanks[0] != version:
            self._blanks = version, BlankTest.of(self._store.thumbnails(BlankTest.SAMPLE))
        return self._blanks[1]

    def recognize(
        self, images: Any, rate: float = 0.05, confidence: float | None = None, *, strict: bool = False
    ) -> list[Verdict]:
        """Decide for each image: it is of one class, several classes are possible, or it is a stranger.

        At most the share `rate` of images of the enrolled classes is called stranger, averaged over enrollments. With
        a `confidence`, the bound holds for this very gallery with that probability; fewer strangers are then stopped.
        An image that cannot be read has no verdict, which brings a warning; with `strict` it is an error.
        """
        held_out = 0 if confidence is None else self.calibrating(rate, confidence)
        found = self.score(images, held_out=held_out, strict=strict)
        warn_of_skipped(found.skipped)
        if confidence is None:
            warn_of_too_few(self.different, rate)
        return found.decide(rate, confidence)

    def calibrating(self, rate: float, confidence: float) -> int:
        """How many exemplars to hold out for a confidence: half of them, or as many as it needs."""
        from corel.oneclass import calibrating_size

        return calibrating_size(self.different, rate, confidence)

    def select(self, images: Any, fdr: float = 0.1, *, strict: bool = False, progress: bool = False) -> Selection:
        """Select the strangers among many images: at most the share `fdr` of those selected is wrong, on average.

        Benjamini and Hochberg's rule on p-values of a split, in which half of the exemplars calibrate.
        """
        options = {"photographs": False, "strict": strict, "progress": progress}
        return self.score(images, held_out=self._half, **options).select(fdr)

    def tune(self, members: Any, strangers: Any, *, strict: bool = False, progress: bool = False) -> Tuning:
        """Show what each rate would do to images of the enrolled classes and to strangers; nothing is changed."""
        options = {"photographs": False, "strict": strict, "progress": progress}
        with renamed(images="members"):
            known = self.score(members, held_out=self._half, **options)
        with renamed(images="strangers"):
            return Tuning.of(known, self.score(strangers, held_out=self._half, **options))

    def classify(self, images: Any, rate: float = 0.05) -> list[tuple[str, ...]]:
        """Give each image's conformal prediction set: the classes that do not reject it, the likeliest first.

        An image of an enrolled class has that class in its set with probability at least 1 − `rate`. An empty
        set says: none of them. An image that cannot be read has no set, which brings a warning.
        """
        from corel.oneclass import check_support, supporting_sizes

        check_support(rate, supporting_sizes(rate, self.classes().values()))
        found = self.score(images)
        warn_of_skipped(found.skipped)
        return found.prediction_sets(rate)

    def explain(self, image: Any, name: str | None = None, rate: float = 0.05) -> Explanation:
        """Show what the exemplars of a class (default: the verdict's first) add to its score for an image.

        Beside it stands the likeliest other class. `rate` is that of the verdict.
        """
        if name is not None:
            self.exemplars(name)  # refuses an unknown name before anything is read
        batches = [batch for batch in self._stream(image, "reading", called="image") if len(batch)]
        count = sum(map(len, batches))
        if count != 1:
            raise ArgumentError("image", f"must be one image or vector, got {count}")
        (batch,), kept = batches, self._bank()
        asked = self._embedding(photographs=True)(batch)
        scores = scored(kept, asked, self._store.holders(asked.hashes))
        return explained(kept, scores, batch.values[0], asked, name, rate, self._exemplars_of)

    def _exemplars_of(self, kept: Kept, index: int) -> list[Exemplar]:
        """Read the exemplars behind a class that is kept, and none that were enrolled since."""
        found = self._store.exemplars(kept.names[index], [digest for _, digest in kept.keys[index]])
        if len(found) != kept.bank.sizes[index]:
            raise _ChangedError(f"the class {kept.names[index]!r} was changed meanwhile; ask again")
        return found

    def _bank_with_exemplars(self) -> tuple[Kept, list[list[Exemplar]]]:
        """Read the exemplars behind all classes; once more if another thread or process forgets some meanwhile."""
        with contextlib.suppress(_ChangedError):
            return self._read_with_exemplars()
        return self._read_with_exemplars()

    def _read_with_exemplars(self) -> tuple[Kept, list[list[Exemplar]]]:
        kept = self._bank()
        return kept, [self._exemplars_of(kept, c) for c in range(len(kept.names))]

    def _stream(
        self, images: Any, description: str, *, size: int | None = None, called: str = "images", **options: Any
    ) -> Iterator[sources.Batch]:
        how = self.backbone.preparation
        with renamed(source=called):
            yield from sources.stream(images, how, batch_size=size, description=description, **options)

    def _embedding(self, *, photographs: bool) -> Callable[[sources.Batch], Embedded]:
        """Give the function that encodes a batch, and keeps nothing of its images."""
        shown = self._photographic if photographs else None
        return partial(embedded, self.backbone, self.method, self.views, shown)

    def _bank(self) -> Kept:
        """Give all classes ready to score, kept until this or another process changes the file."""
        with self._lock:
            self._kept = brought_up_to_date(self._kept, self._compared)
            return self._kept

    @property
    def _compared(self) -> Compared:
        return Compared(self._store, self.backbone, self.method)
