"""Names of images as people give them: files, folders, globs, or a list on standard input."""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corel.images import ImageSet

STANDARD_INPUT = "-"
NOTHING_NAMED = "no image was named on standard input; write a path a line"
# Enough images to keep the encoder busy, few enough that results appear while one watches.
BATCH = 256


class Files:
    """The image files that arguments stand for; `total` is None while standard input is still to be read."""

    def __init__(self, arguments: Iterable[str]) -> None:
        # All but standard input is looked up at once: a mistyped name is an error before the first result.
        parts = [None if each == STANDARD_INPUT else list(_expand(each)) for each in arguments]
        self.total = None if None in parts else sum(len(part) for part in parts if part is not None)
        self._parts = parts

    def __iter__(self) -> Iterator[Path]:
        return chain.from_iterable(_standard_input() if part is None else part for part in self._parts)

    def named(self) -> Iterator[Path]:
        """Give the files that are known before standard input is read."""
        return chain.from_iterable(part for part in self._parts if part is not None)

    def batches(self, size: int) -> Iterator[ImageSet]:
        """Decode the files batch by batch at `size` pixels; what is no image is listed in `skipped`."""
        files = iter(self)
        while batch := list(islice(files, BATCH)):
            yield _decode(batch, size)


def _decode(files: list[Path], size: int) -> ImageSet:
    from corel.images import ImageSet, Preparation, Skipped
    from corel.images._decoding import decode_files

    decoded = decode_files(files, Preparation(size), progress=False)
    kept = [i for i in range(len(files)) if i not in decoded.broken]
    skipped = tuple(Skipped(str(files[i]), reason) for i, reason in decoded.broken.items())
    return ImageSet(decoded.pixels[kept], None, (), [str(files[i]) for i in kept], "files", skipped)


def _expand(argument: str) -> Iterator[Path]:
    path = Path(argument).expanduser()
    if path.is_dir():
        yield from _images_below(path)
    elif path.exists():
        yield path
    elif matches := sorted(glob.glob(str(path), recursive=True)):  # noqa: PTH207  # pattern may be absolute
        yield from chain.from_iterable(_expand(match) for match in matches)
    else:
        raise FileNotFoundError(f"there is no file, folder or match for {argument!r}; check the path")


def _images_below(folder: Path) -> list[Path]:
    from corel.images._folder import images_in
    from corel.images._formats import suffixes

    if found := images_in(folder, deep=True):
        return found
    raise ValueError(f"there is no image in {folder}; files ending in {', '.join(suffixes())} are read")


def _standard_input() -> Iterator[Path]:
    return (Path(name) for line in sys.stdin if (name := line.rstrip("\r\n")))
