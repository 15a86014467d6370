"""`score`: any number of images, in parts that are written whole; after a kill the same call continues."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corel._errors import ArgumentError
from corel._terminal import progress_bar
from corel.gallery import Gallery, Packed
from corel.scale._cluster import cluster, workers_for
from corel.scale._manifest import Counts, Manifest, finish, missing, settle, write_part
from corel.scale._place import Place
from corel.scale._scorer import Scorer
from corel.scale._source import Part, find_source, from_document, read_slices

if TYPE_CHECKING:
    from corel.backbone import Backbone

PART = 2048  # images: a kill costs at most so many of each worker, and a million images make 489 files


class PartScorer:
    """What a worker does: reads a part, scores it, writes its rows, and gives its counts."""

    def __init__(self, out: str, options: dict[str, Any]) -> None:
        self._place, self._scorer = Place(out), Scorer(**options)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[int]]:
        """Do one part; done twice, it writes the same file again."""
        import pyarrow

        (document,) = batch["part"]
        part = from_document(document)
        table = pyarrow.concat_tables(map(self._scorer, read_slices(part)))
        counts = write_part(self._place, part, table, self._scorer.rows_each)
        return {name: [value] for name, value in counts._asdict().items()}


def score(
    gallery: str | os.PathLike[str],
    source: str | Sequence[str],
    out: str | os.PathLike[str],
    *,
    backbone: Backbone | str | None = None,
    rate: float = 0.05,
    every: bool = False,
    photographs: bool = True,
    address: str | None = None,
    workers: int | None = None,
    threads: int = 1,
    part_size: int = PART,
    progress: bool = False,
) -> Counts:
    """Score images on a Ray cluster into a folder of Parquet files, and give the counts of verdicts.

    After a kill the same call does the parts that are missing. A folder with another run in it is refused.

    Args:
        gallery: the gallery's file.
        source: folders, globs, lists of names (.txt), Parquet files or folders of them, addresses such as
            ``s3://bucket/photos``; one or several.
        out: the folder of the results, or its address; every worker writes to it.
        backbone: for a gallery whose backbone was moved.
        rate: the share of known images that may be called a stranger.
        every: a row for every class, not only for the likeliest.
        photographs: call blank, flat and noise frames "not a photograph".
        address: a Ray cluster, such as ``auto`` or ``host:6379``; default: a new one on this machine.
        workers: how many actors; default: as many as there is room for.
        threads: of each worker.
        part_size: images a part; a run that continues keeps the size it began with.
        progress: show a bar on a terminal.

    """
    if part_size < 1 or threads < 1:
        raise ArgumentError("part_size" if part_size < 1 else "threads", "must be at least 1")
    listing = find_source([source] if isinstance(source, str) else source)
    with Gallery.open(gallery, backbone) as opened:
        packed = Packed.of(opened)
    settings = {"rate": rate, "every": every, "photographs": photographs}
    place = Place(_absolute(os.fspath(out)))
    run = settle(place, Manifest(listing.digest, len(listing), packed.digest, settings, part_size))
    parts, counts = missing(place, listing, run.part_size)
    if parts:
        options = {**settings, "threads": threads, "folder": os.fspath(Path.cwd())}
        for done in _scored(parts, packed, place.address, options, address, workers, len(listing), progress=progress):
            counts += done
    finish(place, counts)
    return counts


def _scored(
    parts: Sequence[Part],
    packed: Packed,
    out: str,
    options: dict[str, Any],
    address: str | None,
    workers: int | None,
    total: int,
    *,
    progress: bool,
) -> Iterator[Counts]:
    """Give the counts of each part when it is written."""
    threads = options["threads"]
    room = None if workers is None else workers * threads
    with cluster(address, cpus=room) as ray, progress_bar("scoring", total, quiet=not progress) as advance:
        advance(total - sum(map(len, parts)))
        data = ray.data.from_items([{"part": each.document()} for each in parts], override_num_blocks=len(parts))
        pool = ray.data.ActorPoolStrategy(size=min(workers or workers_for(ray, threads), len(parts)))
        sent = {"out": out, "options": {**options, "gallery": ray.put(packed)}}
        done = data.map_batches(PartScorer, batch_size=1, compute=pool, num_cpus=threads, fn_constructor_kwargs=sent)
        for row in _rows(ray, done):
            counts = Counts(**{name: int(value) for name, value in row.items()})
            advance(counts.images)
            yield counts


def _rows(ray: Any, data: Any) -> Iterator[dict[str, Any]]:
    try:
        yield from data.iter_rows()
    except ray.exceptions.RayError as error:
        cause = " ".join(str(error).strip().splitlines()[-1:])
        raise OSError(f"a worker failed: {cause}; what was done is kept, and the same command continues") from error


def _absolute(out: str) -> str:
    return out if "://" in out else os.fspath(Path(out).expanduser().absolute())
