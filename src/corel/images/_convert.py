"""Pixels as they come → uint8 RGB of one size. Every decision about odd images is taken here."""

from __future__ import annotations

import io
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from corel._io.regular import read_regular
from corel.images._formats import formats, readable, why_unread
from corel.images._limits import check_metadata, within_limits
from corel.images._preparation import Preparation
from corel.images._set import UInt8Array
from corel.images._tiff import check_tiff

# What Pillow and its plugins raise for a file that is not the image it claims to be.
BROKEN = (
    OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, OverflowError, RuntimeError, AttributeError,
    struct.error, Image.DecompressionBombError, MemoryError,
)  # fmt: skip
# The beginnings of a HEIC file's brand, at its fifth byte.
_HEIC = (b"ftyphei", b"ftyphev", b"ftypmif1", b"ftypmsf1")


class _OtherFileError(UnidentifiedImageError):
    """A file that holds no image of a format read here; the sentence says what it is."""


def decode(data: bytes, preparation: Preparation) -> UInt8Array:
    """Decode the bytes of one image file to ``[size, size, 3]``; of several frames or pages, the first."""
    with open_image(data) as image, within_limits(image.size, data):
        if preparation.draft:
            # Twice the size leaves the filter enough to work on.
            wanted = 2 * (preparation.shorter or preparation.size)
            image.draft("RGB", (wanted, wanted))
        image.load()  # which may change its mode and size
        ImageOps.exif_transpose(image, in_place=True)
        return from_pil(image, preparation)


def open_image(data: bytes) -> Image.Image:
    """Open the bytes of an image file of any format read here."""
    if not data:
        raise _OtherFileError("is an empty file")
    check_metadata(data)
    file = io.BytesIO(data)
    check_tiff(file)
    try:
        return Image.open(file, formats=formats())
    except UnidentifiedImageError:
        if data[4:12].startswith(_HEIC):
            raise ValueError("HEIC needs pillow-heif: pip install 'corel[heif]'") from None
        if data.startswith(b"%PDF"):
            raise _OtherFileError(why_unread(Path("a.pdf"))) from None
        raise


def from_pil(image: Image.Image, preparation: Preparation) -> UInt8Array:
    """Convert a Pillow image of any mode to RGB and resize it by the rule of `preparation`."""
    if 0 in image.size:
        raise ValueError(f"an image of {image.width} × {image.height} pixels shows nothing")
    return np.array(_resized(_rgb(image), preparation))


def from_array(image: NDArray[Any], preparation: Preparation) -> UInt8Array:
    """Convert one image ``[h, w]``, ``[h, w, 1|3|4]`` or ``[1|3|4, h, w]``; one that has the size stays as it is."""
    size, pixels = preparation.size, _to_uint8(image)
    if pixels.ndim == 3 and pixels.shape[-1] not in (1, 3, 4):
        pixels = np.moveaxis(pixels, 0, -1)
    if pixels.ndim == 3 and pixels.shape[-1] == 1:
        pixels = pixels[..., 0]
    if pixels.ndim != 2 and not (pixels.ndim == 3 and pixels.shape[-1] in (3, 4)):
        raise ValueError(f"an image must be [h, w], [h, w, 1|3|4] or [1|3|4, h, w], got {list(image.shape)}")
    if pixels.shape == (size, size, 3):
        return pixels
    return from_pil(Image.fromarray(np.ascontiguousarray(pixels)), preparation)


def to_pixels(image: Any, preparation: Preparation) -> UInt8Array:
    """Convert a Pillow image, a path, encoded bytes, a file object, an array or a tensor."""
    if isinstance(image, Image.Image):
        return from_pil(ImageOps.exif_transpose(image), preparation)
    if isinstance(image, str | os.PathLike):
        image = read_regular(Path(image).expanduser())
    if hasattr(image, "read"):
        image = image.read()
    if isinstance(image, bytes | bytearray | memoryview):
        return decode(bytes(image), preparation)
    return from_array(np.asarray(as_array(image)), preparation)


def as_array(image: Any) -> Any:
    """Turn a torch tensor, on any device, into an array; leave anything else as it is."""
    if not hasattr(image, "detach"):
        return image
    tensor = image.detach().cpu()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()  # numpy has no bfloat16


def explain(error: BaseException) -> str:
    """Say in a few words why an image could not be decoded."""
    if isinstance(error, _OtherFileError):
        return str(error)
    if isinstance(error, UnidentifiedImageError):
        return f"is no {readable()} image"
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    return f"cannot be decoded: {error}"


def _resized(image: Image.Image, how: Preparation) -> Image.Image:
    size, resampling = how.size, Image.Resampling[how.interpolation.upper()]
    if how.resize == "stretch":
        return image if image.size == (size, size) else image.resize((size, size), resampling)
    # The filter reads the central square alone: a strip of 1 × 100,000 pixels is never enlarged as a whole.
    side = min(image.size) * size / (how.shorter or size)
    left, top = (image.width - side) / 2, (image.height - side) / 2
    return image.resize((size, size), resampling, box=(left, top, left + side, top + side))


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode in ("I", "F") or image.mode.startswith("I;"):
        return _high_byte(image)
    if image.has_transparency_data:
        # What lies behind transparent pixels is arbitrary: show the image as it would look on white paper.
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, image.convert("RGBA")).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")  # which copies, even from RGB to RGB


def _high_byte(image: Image.Image) -> Image.Image:
    # Pillow itself keeps the high byte of 16-bit color; gray is treated alike.
    samples = np.asarray(image)
    if image.mode == "F" or samples.min() < 0 or samples.max() > 65535:
        raise ValueError(f"samples of mode {image.mode!r} have no fixed white; save it with 8 or 16 bits a channel")
    return Image.fromarray((samples.astype(np.uint16) >> 8).astype(np.uint8)).convert("RGB")


def _to_uint8(pixels: NDArray[Any]) -> UInt8Array:
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype == np.uint16:
        return (pixels >> 8).astype(np.uint8)
    if pixels.dtype == np.bool_:
        return pixels.astype(np.uint8) * np.uint8(255)
    floating = np.issubdtype(pixels.dtype, np.floating)
    if not (floating or np.issubdtype(pixels.dtype, np.integer)):
        raise ValueError(f"pixels must be numbers, got {pixels.dtype}; give uint8, or floats in [0, 1]")
    top = 1 if floating else 255
    if pixels.size and not (pixels.min() >= 0 and pixels.max() <= top):  # also refuses NaN
        raise ValueError(
            f"pixels of type {pixels.dtype} must lie in [0, {top}], got {pixels.min()} to {pixels.max()}; "
            "give uint8, or floats in [0, 1]"
        )
    return np.rint(pixels * 255).astype(np.uint8) if floating else pixels.astype(np.uint8)
