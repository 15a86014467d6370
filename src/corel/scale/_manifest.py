"""The description of a run, stored beside its parts: the same command continues it, another one is refused."""

from __future__ import annotations

import io
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from corel._errors import ArgumentError
from corel._io.rows import UNREADABLE
from corel._terminal import shown
from corel._version import __version__
from corel.scale._place import Place
from corel.scale._source import FOOTERS, Part, Source

# Arrow and Spark ignore files with this beginning when they read a folder of Parquet files.
MANIFEST, SUMMARY = "_manifest.json", "_summary.json"
FORMAT = 1
KEY = b"corel"


class Counts(NamedTuple):
    """How many images got each verdict, or an error."""

    images: int = 0
    known: int = 0
    unsure: int = 0
    strangers: int = 0
    blank: int = 0
    errors: int = 0

    def __add__(self, other: object) -> Counts:
        return Counts(*(one + two for one, two in zip(self, other, strict=True))) if isinstance(other, Counts) else self


VERDICTS = {
    "known": "known", "unsure": "unsure", "stranger": "strangers", "not a photograph": "blank", UNREADABLE: "errors",
}  # fmt: skip


def count(table: Any, rows_each: int = 1) -> Counts:
    """Count the verdicts in a table, where an image has `rows_each` rows, or one if it is unreadable."""
    found = {each["values"]: each["counts"] for each in table.column("verdict").value_counts().to_pylist()}
    ends = {
        end: found.get(verdict, 0) // (1 if verdict == UNREADABLE else rows_each) for verdict, end in VERDICTS.items()
    }
    return Counts(sum(ends.values()), **ends)


@dataclass(frozen=True)
class Manifest:
    """A run: what is scored, against what, and how.

    Attributes:
        source: a hash of the listing.
        images: how many there are.
        gallery: a hash of classes, exemplars, settings and backbone.
        settings: the rate and the other options that decide the rows.
        part_size: images a part.

    """

    source: str
    images: int
    gallery: str
    settings: dict[str, Any]
    part_size: int

    def difference(self, other: Manifest) -> str | None:
        """Say how another run differs; another part size is allowed."""
        if (self.source, self.images) != (other.source, other.images):
            counts = f" ({self.images:,}, now {other.images:,})" if self.images != other.images else ""
            return f"of another list of images{counts}"
        if self.gallery != other.gallery:
            return "against another gallery, or as the gallery was before a change"
        changed = [name for name in self.settings if self.settings[name] != other.settings.get(name)]
        return f"with {changed[0]} = {self.settings[changed[0]]}" if changed else None


def settle(place: Place, wanted: Manifest) -> Manifest:
    """Give the manifest of the run in a folder, new or to be continued; refuse a folder with anything else in it."""
    names = place.names()
    if MANIFEST not in names:
        if names:
            raise ArgumentError("out", f"{place.address} holds {shown(min(names))} and no run; name a new folder")
        place.write(MANIFEST, json.dumps({"format": FORMAT, "corel": __version__, **asdict(wanted)}, indent=1).encode())
        return wanted
    there = _read(place)
    if difference := there.difference(wanted):
        raise ArgumentError("out", f"{place.address} holds results {difference}; name a new folder")
    return there


def _read(place: Place) -> Manifest:
    try:
        with place.open(MANIFEST) as file:
            found = json.loads(file.read())
        if found.pop("format") != FORMAT:
            raise ValueError("of another format")
        del found["corel"]
        return Manifest(**found)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{place.address}/{MANIFEST} cannot be read ({shown(error)}); name a new folder") from error


def write_part(place: Place, part: Part, table: Any, rows_each: int) -> Counts:
    """Write a part's rows, with their counts in the footer."""
    from pyarrow import parquet

    counts = count(table, rows_each)
    content = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({KEY: json.dumps(counts).encode()}), content)
    place.write(part.name, content.getvalue())
    return counts


def missing(place: Place, source: Source, part_size: int) -> tuple[list[Part], Counts]:
    """Give the parts that are not there or not whole, and the counts of all others."""
    names = place.names()
    parts = list(source.parts(part_size))
    with ThreadPoolExecutor(FOOTERS) as pool:
        found = list(pool.map(lambda part: _counts(place, part) if part.name in names else None, parts))
    absent = [part for part, counts in zip(parts, found, strict=True) if counts is None]
    return absent, sum((counts for counts in found if counts is not None), Counts())


def _counts(place: Place, part: Part) -> Counts | None:
    from pyarrow import ArrowException, parquet

    try:
        with place.open(part.name) as file:
            counts = Counts(*json.loads(parquet.read_metadata(file).metadata[KEY]))
    except (OSError, ArrowException, KeyError, TypeError, ValueError, RecursionError):
        return None
    return counts if counts.images == len(part) else None


def finish(place: Place, counts: Counts) -> None:
    """Note that all parts are there."""
    place.write(SUMMARY, json.dumps(counts._asdict(), indent=1).encode())
