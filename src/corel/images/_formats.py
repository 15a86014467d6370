"""Which image files are read, and what to say of those that are not."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

from PIL import features

_ALWAYS = {
    "JPEG": (".jpg", ".jpeg"), "PNG": (".png",), "WEBP": (".webp",), "BMP": (".bmp",), "TIFF": (".tif", ".tiff"),
    "GIF": (".gif",),
}  # fmt: skip
_AVIF, _HEIF = (".avif",), (".heic", ".heif")
_RAW = (".cr2", ".cr3", ".nef", ".arw", ".dng", ".orf", ".rw2", ".raf", ".raw")
# Pictures that corel does not read. They are listed as skipped, so that users know why they are missing.
_OTHERS = (*_RAW, ".svg", ".pdf", ".psd", ".jp2", ".jxl", ".ico", ".eps")


@cache
def formats() -> tuple[str, ...]:
    """Give Pillow's names of the formats read here; AVIF and HEIC depend on what is installed."""
    found = list(_ALWAYS)
    if "avif" in features.get_supported_modules():  # older versions of Pillow do not have it
        found.append("AVIF")
    if importlib.util.find_spec("pillow_heif") is not None:
        from pillow_heif import register_heif_opener

        register_heif_opener()
        found.append("HEIF")
    return tuple(found)


@cache
def suffixes() -> tuple[str, ...]:
    """Give the endings of the files read here."""
    endings = {**_ALWAYS, "AVIF": _AVIF, "HEIF": _HEIF}
    return tuple(ending for name in formats() for ending in endings[name])


def is_picture(path: Path) -> bool:
    """Tell by a file's ending whether it is a picture, read here or not."""
    return path.suffix.lower() in {*suffixes(), *_AVIF, *_HEIF, *_OTHERS}


def why_unread(path: Path) -> str:
    """Say why a picture is not read, and what would help."""
    kind = path.suffix[1:].upper()
    if path.suffix.lower() in _HEIF:
        return f"is {kind}, which needs pillow-heif: pip install 'corel[heif]'"
    if path.suffix.lower() in _AVIF:
        return f"is {kind}, which this Pillow does not read; upgrade it: pip install --upgrade pillow"
    return f"is {kind}, which is not read; convert it to PNG or JPEG"


def readable() -> str:
    """Name the formats read here, in words."""
    *first, last = (name if name != "WEBP" else "WebP" for name in formats())
    return f"{', '.join(first)} or {last}"
