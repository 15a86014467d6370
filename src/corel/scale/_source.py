"""What a run scores: image files, or Parquet files with images or vectors, cut into parts of fixed size."""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from corel._errors import ArgumentError
from corel._io.regular import read_regular
from corel._terminal import shown
from corel.images import find_files, is_picture
from corel.scale._items import READ
from corel.scale._place import is_remote, read, resolve, split

STANDARD_INPUT, LIST, PARQUET = "-", (".txt", ".list"), (".parquet", ".pq")
MOST_ROWS = 1 << 28  # of one file
AT_ONCE = 64  # rows that are unpacked before their size is looked at
# Rows may unpack to so many bytes, or so many times the size of their file.
UNPACKED, TIMES = 64 << 20, 20
SLICE = 2048  # rows of a Parquet file in memory at a time
FOOTERS = 16  # files whose last bytes are read at a time


class Part(NamedTuple):
    """Some of a source's items, in the order of the listing.

    Attributes:
        number: counted from 0.
        files: addresses of images, or of one Parquet file.
        rows: first and last (exclusive) row of the Parquet file; None for images.

    """

    number: int
    files: Sequence[str]
    rows: tuple[int, int] | None

    @property
    def name(self) -> str:
        """The file with its results."""
        return f"part-{self.number:06d}.parquet"

    def __len__(self) -> int:
        return len(self.files) if self.rows is None else self.rows[1] - self.rows[0]

    def document(self) -> str:
        """Give it as JSON."""
        return json.dumps([self.number, list(self.files), self.rows])


def from_document(document: str) -> Part:
    """Read what `Part.document` gave."""
    number, files, rows = json.loads(document)
    return Part(number, files, None if rows is None else tuple(rows))


@dataclass(frozen=True)
class Source:
    """A listing: files, and for Parquet files how many rows each has."""

    files: Sequence[str]
    rows: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self.files) if self.rows is None else sum(self.rows)

    @property
    def digest(self) -> str:
        """A hash of the listing: names and numbers of rows, not what the files hold."""
        return hashlib.sha256(json.dumps([list(self.files), self.rows]).encode()).hexdigest()

    def parts(self, size: int) -> Iterator[Part]:
        """Cut into parts of at most `size` items; no part has rows of two Parquet files."""
        if self.rows is None:
            starts = range(0, len(self.files), size)
            yield from (Part(i, self.files[start : start + size], None) for i, start in enumerate(starts))
            return
        ranges = (
            (file, (start, min(start + size, count)))
            for file, count in zip(self.files, self.rows, strict=True)
            for start in range(0, count, size)
        )
        yield from (Part(i, [file], rows) for i, (file, rows) in enumerate(ranges))


def find_source(arguments: Sequence[str]) -> Source:
    """List what files, folders, globs, lists of names, Parquet files and addresses stand for."""
    files = [file for argument in arguments for file in _listed(argument)]
    parquet = [file for file in files if _is_parquet(file)]
    if not files:
        raise ArgumentError("source", f"holds nothing to score: {', '.join(arguments)}; name images or Parquet files")
    if parquet and len(parquet) < len(files):
        other = next(file for file in files if not _is_parquet(file))
        raise ArgumentError("source", f"mixes {parquet[0]}, a Parquet file, with {other}; score them in two runs")
    if not parquet:
        return Source(files)
    with ThreadPoolExecutor(FOOTERS) as pool:
        return Source(files, list(pool.map(_row_count, files)))


def _listed(argument: str) -> list[str]:
    if argument == STANDARD_INPUT:
        return [name for line in sys.stdin if (name := line.rstrip("\r\n"))]
    if is_remote(argument):
        return _remote(argument)
    path = Path(argument).expanduser()
    if path.suffix.lower() in LIST and path.is_file():
        return _names(argument, read_regular(path))
    matches = [path] if path.exists() else [Path(each) for each in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207
    if not matches:
        raise FileNotFoundError(f"there is no file, folder or match for {argument!r}; check the path")
    return [file for match in matches for file in _local(match)]


def _local(path: Path) -> list[str]:
    """List a file, or a folder of Parquet files or images; pictures that are not read become rows with an error."""
    if path.is_dir() and (parquet := sorted(str(each) for each in path.rglob("*") if _is_parquet(str(each)))):
        return parquet
    if _is_parquet(str(path)):
        return [str(path)]
    found = find_files([path])
    return [*found.names, *(each.path for each in found.unread)]


def _remote(address: str) -> list[str]:
    """List an object, a folder, a glob or a list of names in a store, by whole addresses."""
    from pyarrow import fs

    start, path, options = split(address)
    fixed = _before_wildcards(path)
    system, place = resolve(start + fixed + options)
    (info,) = system.get_file_info([place])
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"there is no file or folder {address}; check the address")
    if info.type == fs.FileType.File:
        return _names(address, read(address)) if fixed.lower().endswith(LIST) else [address]
    inside = system.get_file_info(fs.FileSelector(place, recursive=True))
    base = place.removesuffix(fixed)
    files = [each.path.removeprefix(base) for each in inside if each.type == fs.FileType.File]
    if glob.has_magic(path):
        wanted = [file for file in files if _matches(file.split("/"), path.split("/"))]
    else:
        wanted = [file for file in files if _is_parquet(file) or is_picture(Path(file))]
    return sorted(f"{start}{file}{options}" for file in wanted)


def _before_wildcards(path: str) -> str:
    """Give the folder in which a glob begins; the path itself, if it is none."""
    pieces = path.rstrip("/").split("/")
    return "/".join(takewhile(lambda piece: not glob.has_magic(piece), pieces))


def _matches(pieces: Sequence[str], pattern: Sequence[str]) -> bool:
    """Compare the parts of a path with those of a glob; ``**`` stands for any number of folders."""
    if not pattern or not pieces:
        return not pieces and all(each == "**" for each in pattern)
    if pattern[0] == "**":
        return _matches(pieces, pattern[1:]) or _matches(pieces[1:], pattern)
    return fnmatch.fnmatchcase(pieces[0], pattern[0]) and _matches(pieces[1:], pattern[1:])


def _names(source: str, content: bytes) -> list[str]:
    """Read a list of names, one a line."""
    with _sentences(source):
        return [name for name in content.decode().splitlines() if name]


def _is_parquet(file: str) -> bool:
    return file.lower().endswith(PARQUET)


@contextmanager
def _sentences(file: str) -> Iterator[None]:
    """Name the file that is damaged; pyarrow does not."""
    from pyarrow import ArrowException

    try:
        yield
    except FileNotFoundError:
        raise
    except (ArrowException, OSError, ValueError, TypeError, LookupError, OverflowError) as error:
        raise ValueError(f"{file} is damaged, or not what its name says ({shown(error)}); write it again") from error


def _row_count(file: str) -> int:
    from pyarrow import parquet

    system, path = resolve(file)
    with _sentences(file), system.open_input_file(path) as opened:
        content = parquet.ParquetFile(opened)
        _columns(content)
        count = int(content.metadata.num_rows)
        if not 0 <= count <= MOST_ROWS:
            raise ValueError(f"it says that it has {count:,} rows, where at most {MOST_ROWS:,} are read")
        return count


def _columns(content: Any) -> list[str]:
    """Give the columns of a Parquet file that are read; without items there is nothing to score."""
    named = [name for name in content.schema_arrow.names if name in READ]
    if not set(named) & set(READ[:-1]):
        raise ValueError(f"it has none of the columns {', '.join(READ[:-1])}")
    return named


def read_part(part: Part) -> dict[str, Any]:
    """Give the columns of a part: paths of images, or what the rows of the Parquet file hold."""
    if part.rows is None:
        return {"path": list(part.files)}
    table = _read_rows(part.files[0], *part.rows)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    if not {"name", "path"} & set(columns):
        columns["name"] = [f"{part.files[0]}#{row}" for row in range(*part.rows)]
    return columns


def read_slices(part: Part, size: int = SLICE) -> Iterator[dict[str, Any]]:
    """Give the columns of a part, at most `size` rows of a Parquet file at a time: they hold whole images."""
    if part.rows is None:
        yield read_part(part)
        return
    first, last = part.rows
    for start in range(first, last, size):
        yield read_part(Part(part.number, part.files, (start, min(start + size, last))))


def _read_rows(file: str, start: int, stop: int) -> Any:
    """Read the row groups that hold these rows, and cut out the rows."""
    from pyarrow import parquet

    system, path = resolve(file)
    with _sentences(file), system.open_input_file(path) as opened:
        content = parquet.ParquetFile(opened)
        named = _columns(content)
        groups, first, before = [], None, 0
        for group in range(content.num_row_groups):
            count = content.metadata.row_group(group).num_rows
            if before < stop and before + count > start:
                groups.append(group)
                first = before if first is None else first
            before += count
        most = max(UNPACKED, TIMES * opened.size())
        _check_stated(content.metadata, groups, named, most)
        return _cut(content.iter_batches(AT_ONCE, groups, named), start - (first or 0), stop - (first or 0), most)


def _check_stated(metadata: Any, groups: Sequence[int], names: Sequence[str], most: int) -> None:
    """Refuse columns that by the file's own footer unpack to more than `most` bytes, before a page is unpacked."""
    columns = (metadata.row_group(i).column(j) for i in groups for j in range(metadata.num_columns))
    stated = sum(each.total_uncompressed_size for each in columns if each.path_in_schema.split(".")[0] in names)
    if stated > most:
        raise ValueError(f"it says that it unpacks to {stated:,} bytes, more than {most:,}")


def _cut(batches: Iterable[Any], start: int, stop: int, most: int) -> Any:
    """Join the rows from `start` to `stop`; a file may keep a picture once and name it in a million rows."""
    from pyarrow import Table

    kept, place, size = [], 0, 0
    for batch in batches:
        inside = batch.slice(max(0, start - place), max(0, stop - max(place, start)))
        place, size = place + batch.num_rows, size + inside.nbytes
        if size > most:
            raise ValueError(f"{stop - start:,} rows of it unpack to more than {most:,} bytes")
        kept.append(inside)
        if place >= stop:
            break
    return Table.from_batches(kept)
