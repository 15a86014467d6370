"""Batches in, rows out: what one actor of a Ray cluster does, by the same code as `corel score`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corel._io.rows import UNREADABLE, Row, arrow_table
from corel.gallery import Gallery, Packed, rows_of
from corel.scale import _items

if TYPE_CHECKING:
    from corel.gallery import Scores

ERROR = "error"


class Scorer:
    """Scores batches against a gallery: a callable class for `ray.data.Dataset.map_batches`, and for any loop.

    A batch is a mapping of columns (Ray's default), an Arrow table or a DataFrame. It has one of these columns:

    ========  ======================================================================================
    bytes     images as their files' bytes
    image     the same, or the structs of bytes and path that Hugging Face writes
    path      files, by paths or addresses (``s3://``, ``gs://``), which are read here
    vector    rows for a gallery on vectors
    latent    what `Gallery.compared` compares: rows that were encoded before
    ========  ======================================================================================

    A column `name` names the items; without it `path` does. The result is an Arrow table with the columns of
    `corel score --format parquet` and `error`: whatever cannot be read is a row with the verdict `unreadable` and the
    reason.

    Args:
        gallery: a gallery's file, a `Packed` gallery, or Ray's reference to one, which each actor fetches once.
        backbone: for a gallery's file whose backbone was moved.
        rate: the share of known images that may be called a stranger.
        every: a row for every class, not only for the likeliest.
        photographs: call blank, flat and noise frames "not a photograph".
        threads: of torch and of decoding; default: as they are. Ray gives an actor as many as it has CPUs.
        folder: where relative paths begin; default: the current folder.

    Example:
        >>> import corel
        >>> digits = corel.images.open("digits")
        >>> with corel.Gallery.open("digits.gallery", create=True) as gallery:
        ...     done = gallery.enroll("zero", digits.take(digits.labels == 0))
        >>> table = Scorer("digits.gallery")({"path": ["missing.jpg"]})
        >>> table.column("error").to_pylist()
        ['cannot be read: No such file or directory']

    """

    def __init__(
        self,
        gallery: Any,
        *,
        backbone: str | None = None,
        rate: float = 0.05,
        every: bool = False,
        photographs: bool = True,
        threads: int | None = None,
        folder: str | None = None,
    ) -> None:
        self.rate, self.every, self.photographs = rate, every, photographs
        self.folder = folder or os.fspath(Path.cwd())
        if threads is not None:
            use_threads(threads)
        found, place = _fetched(gallery), tempfile.mkdtemp()
        self._gallery = found.unpacked(place) if isinstance(found, Packed) else Gallery.open(found, backbone)
        weakref.finalize(self, _close, self._gallery, place)

    @property
    def rows_each(self) -> int:
        """How many rows an image has."""
        return len(self._gallery.classes()) if self.every else 1

    def __call__(self, batch: Any) -> Any:
        """Score a batch; the rows have the order of its items."""
        columns = _items.columns_of(batch)
        names = _items.names_of(columns)
        rows: list[list[tuple[Any, ...]]] = [[] for _ in names]
        for place, found in self._results(columns):
            rows[place].append(
                (*found._replace(image=names[place]), found.note if found.verdict == UNREADABLE else None)
            )
        return arrow_table([row for item in rows for row in item], ERROR)

    def _results(self, columns: dict[str, Sequence[Any]]) -> Iterator[tuple[int, Row]]:
        """Give rows without their names, and each item's place in the batch."""
        if _items.LATENT in columns or _items.VECTOR in columns:
            places: Sequence[int] | None
            places, broken, parts = self._rows(columns)
            yield from ((place, Row.unreadable("", reason)) for place, reason in broken.items())
        else:
            places, parts = None, self._images(columns)
        for scores in parts:
            for row in rows_of(scores, scores.decide(self.rate), self.rate, every=self.every):
                number = int(row.image.rpartition(" ")[2])
                yield (number if places is None else places[number]), row

    def _images(self, columns: dict[str, Sequence[Any]]) -> Iterator[Scores]:
        listing = _items.encoded(columns, self.folder)
        return self._gallery.score_batches(listing, photographs=self.photographs)

    def _rows(self, columns: dict[str, Sequence[Any]]) -> tuple[Sequence[int], dict[int, str], Iterator[Scores]]:
        vectors = _items.VECTOR in columns
        name = next(iter(self._gallery.classes()))
        width = self._gallery.backbone.network.input_shape[0] if vectors else self._gallery.compared(name).shape[1]
        rows = _items.rows_in(columns[_items.VECTOR if vectors else _items.LATENT], width)
        if not len(rows.values):
            return rows.places, rows.broken, iter(())
        numbers = list(map(str, range(len(rows.values))))
        parts = self._gallery.score_batches(rows.values) if vectors else self._encoded(rows.values, numbers)
        return rows.places, rows.broken, parts

    def _encoded(self, values: Any, numbers: list[str]) -> Iterator[Scores]:
        yield self._gallery.score_encoded(values, numbers)


def _fetched(gallery: Any) -> Any:
    """Get a gallery from Ray's object store, if it is there; Ray Data hands references over as they are."""
    if "ray" not in sys.modules:
        return gallery
    import ray

    return ray.get(gallery) if isinstance(gallery, ray.ObjectRef) else gallery


def _close(gallery: Gallery, place: str) -> None:
    gallery.close()
    shutil.rmtree(place, ignore_errors=True)


def use_threads(count: int) -> None:
    """Let torch and decoding take so many threads."""
    import torch

    os.environ["OMP_NUM_THREADS"] = str(count)
    torch.set_num_threads(count)
