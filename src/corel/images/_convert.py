"""Pixels as they come → uint8 RGB of one size. Every decision about odd images is taken here."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from corel.images._set import UInt8Array

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff")
_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF")
# What Pillow and its plugins raise for a file that is not the image it claims to be.
BROKEN = (
    OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, OverflowError, struct.error,
    Image.DecompressionBombError,
)  # fmt: skip


def decode(data: bytes, size: int) -> UInt8Array:
    """Decode the bytes of one image file to ``[size, size, 3]``; of several frames or pages, the first."""
    with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
        return from_pil(ImageOps.exif_transpose(image), size)


def from_pil(image: Image.Image, size: int) -> UInt8Array:
    """Convert a Pillow image of any mode to RGB and resize it, bilinear, its aspect ratio ignored."""
    return np.array(_resized(_rgb(image), size))


def from_array(image: NDArray[Any], size: int) -> UInt8Array:
    """Convert one image ``[h, w]``, ``[h, w, 1|3|4]`` or ``[1|3|4, h, w]`` to RGB of `size`."""
    pixels = _to_uint8(image)
    if pixels.ndim == 3 and pixels.shape[-1] not in (1, 3, 4):
        pixels = np.moveaxis(pixels, 0, -1)
    if pixels.ndim == 3 and pixels.shape[-1] == 1:
        pixels = pixels[..., 0]
    if pixels.ndim != 2 and not (pixels.ndim == 3 and pixels.shape[-1] in (3, 4)):
        raise ValueError(f"an image must be [h, w], [h, w, 1|3|4] or [1|3|4, h, w], got {list(image.shape)}")
    if pixels.shape == (size, size, 3):
        return pixels
    return from_pil(Image.fromarray(np.ascontiguousarray(pixels)), size)


def explain(error: BaseException) -> str:
    """Say in a few words why an image could not be decoded."""
    if isinstance(error, UnidentifiedImageError):
        return "is no JPEG, PNG, WebP, BMP or TIFF image"
    return f"cannot be decoded: {error}"


def _resized(image: Image.Image, size: int) -> Image.Image:
    return image if image.size == (size, size) else image.resize((size, size), Image.Resampling.BILINEAR)


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode in ("I", "F") or image.mode.startswith("I;"):
        return _high_byte(image)
    if image.has_transparency_data:
        # What lies behind transparent pixels is arbitrary: show the image as it would look on white paper.
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, image.convert("RGBA")).convert("RGB")
    return image.convert("RGB")


def _high_byte(image: Image.Image) -> Image.Image:
    # Pillow itself keeps the high byte of 16-bit colour; grey is treated alike.
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
