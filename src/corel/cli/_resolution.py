"""Remarks on photos: much larger, or smaller, than what the encoder sees of them, or too few for a background."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corel._terminal import console, counted

if TYPE_CHECKING:
    from corel.backbone import Backbone

LOOKED_AT = 20  # photos that decide whether the encoder is too small for them
LARGE = 64  # pixels of the shorter side, from which an encoder of 32 pixels loses much
MANY = 1000  # items of a background, below which a gallery judges worse
BETTER = "corel backbone wrap lite0 --background PHOTOS --out mine.safetensors"


def remark_on_large_photos(backbone: Backbone, source: Any) -> None:
    """Name the command that makes a better backbone, if a small encoder is given large photos."""
    size = backbone.network.input_shape[-1]
    if size > LARGE // 2:
        return
    sides = sorted(_shorter_sides(_files(source)[:LOOKED_AT])) or [0]
    if (median := sides[len(sides) // 2]) > LARGE:
        said = f"these photos have {median} pixels and the encoder sees {size}; one for photographs: {BETTER}"
        console().print(said, markup=False)


def remark_on_small_photos(backbone: Backbone, source: Any, *, hint: bool = True) -> None:
    """Count the photos that are enlarged to the encoder's input; if they are much smaller, name the option for that."""
    shape = backbone.network.input_shape
    sides = _shorter_sides(_files(source)) if len(shape) == 3 else []
    small = sorted(side for side in sides if side < shape[-1])
    if not small:
        return
    said = f"{counted(len(small), 'photo')} of {len(sides):,} had fewer than {shape[-1]} pixels and were enlarged"
    if hint and backbone.objective == "pretrained" and "shrunk to" not in backbone.metadata.get("data", {}):
        median = sorted(sides)[len(sides) // 2]
        better = f"; if the background's photos were larger, wrap with --shrink {median}"
        said += better if 2 * median <= shape[-1] else ""
    console().print(said, markup=False)


def remark_on_few_items(backbone: Backbone) -> None:
    """Ask for more items, if a wrapped encoder has a small background."""
    items = backbone.metadata["data"]["items"]
    if items < MANY:
        said = (
            f"a background of {counted(items, 'item')} is small; with a few thousand, strangers are told apart better"
        )
        console().print(said, markup=False)


def _files(source: Any) -> list[Path]:
    """List the files of a source that has some; arrays and known datasets have none."""
    from corel.images import FileListing, find_files

    if isinstance(source, FileListing):
        return [file for file in source.files if file.suffix.lower() not in (".npy", ".npz")]
    if isinstance(source, Iterator):  # names that are still to come
        return []
    named = source if isinstance(source, list | tuple) else [source]
    paths = [Path(each) for each in named]
    if not all(path.exists() and path.suffix.lower() not in (".npy", ".npz") for path in paths):
        return []
    return list(find_files(paths).files)


def _shorter_sides(files: Iterable[Path]) -> list[int]:
    """Read the sizes from the files' first bytes; what is no image has none."""
    from corel.images import shorter_side

    return [side for side in map(shorter_side, files) if side]
