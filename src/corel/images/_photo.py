"""One photograph at its own resolution."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from corel._errors import ArgumentError
from corel._io.regular import open_regular, read_regular
from corel.images._convert import BROKEN, _rgb, _to_uint8, as_array, explain, open_image
from corel.images._formats import formats
from corel.images._limits import MOST_PHOTO_PIXELS, within_limits
from corel.images._set import UInt8Array
from corel.images._tiff import check_tiff

ROWS_AT_ONCE = 1_000_000  # pixels in them


def read_photo(source: Any) -> UInt8Array:
    """Read one photograph, upright, as uint8 ``[h, w, 3]``: a path, bytes, a file object, a Pillow image or an array.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it cannot be decoded, or it is not one image.

    """
    if isinstance(source, str | os.PathLike):
        path = Path(source).expanduser()
        if not path.is_file():
            raise FileNotFoundError(f"there is no photograph {path}; check the path")
        return _decoded(read_regular(path), str(path))
    if isinstance(source, bytes | bytearray | memoryview):
        return _decoded(bytes(source), "the photograph")
    if hasattr(source, "read"):
        return _decoded(source.read(), "the photograph")
    if isinstance(source, Image.Image):
        return np.asarray(_rgb(ImageOps.exif_transpose(source)))
    try:
        return _from_array(np.asarray(as_array(source)))
    except ValueError as error:
        raise ArgumentError("source", f"cannot be read as a photograph: {error}") from error


def shorter_side(path: Path) -> int:
    """Read the shorter side of an image from the head of its file; 0 for a file that is no image."""
    try:
        with open_regular(path) as file:
            check_tiff(file)
            with Image.open(file, formats=formats()) as image:
                return min(image.size)
    except BROKEN:
        return 0


def _decoded(data: bytes, name: str) -> UInt8Array:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit here is a higher one
            image = open_image(data)
        with image, within_limits(image.size, data, MOST_PHOTO_PIXELS):
            ImageOps.exif_transpose(image, in_place=True)
            return _pixels(_rgb(image))
    except BROKEN as error:
        raise ValueError(f"{name} {explain(error)}") from error


def _pixels(image: Image.Image) -> UInt8Array:
    """Copy the pixels some rows at a time: all at once Pillow would hold them three times."""
    pixels = np.empty((image.height, image.width, 3), np.uint8)
    rows = max(1, ROWS_AT_ONCE // image.width)
    for top in range(0, image.height, rows):
        bottom = min(top + rows, image.height)
        pixels[top:bottom] = np.asarray(image.crop((0, top, image.width, bottom)))
    return pixels


def _from_array(pixels: Any) -> UInt8Array:
    if pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[-1] in (3, 4)):
        return np.asarray(_rgb(Image.fromarray(np.ascontiguousarray(_to_uint8(pixels)))))
    raise ValueError(f"it must be [h, w] or [h, w, 3|4], got {list(pixels.shape)}")
