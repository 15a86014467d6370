"""A cache of decoded images, whose files are found and checked by their content alone.

The name of a cache file is the fingerprint of the bytes it was decoded from; inside, a digest covers what it
holds. A file that is damaged, foreign or of another format is ignored. Nothing is pickled.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from corel._io.atomic import appearing
from corel.images._decoding import Decoded
from corel.images._set import UInt8Array
from corel.images._user_folders import cache_folder


def load(key: str, files: int, size: int) -> Decoded | None:
    """Give what was stored under `key`, or None unless it is whole and fits."""
    try:
        with safe_open(_path(key), framework="numpy") as file:
            metadata = file.metadata() or {}
            pixels = file.get_tensor("pixels")
        broken = {int(i): str(reason) for i, reason in json.loads(metadata["broken"]).items()}
        intact = metadata["digest"] == _digest(key, pixels, metadata["broken"])
    except (OSError, SafetensorError, KeyError, ValueError, AttributeError, RecursionError):
        return None
    if not intact or pixels.dtype != np.uint8 or pixels.shape != (files, size, size, 3):
        return None
    return Decoded(pixels, broken, key)


def store(decoded: Decoded) -> None:
    """Keep `decoded` for the next time; where the folder cannot be written, do without."""
    if decoded.key is None:
        return
    path, broken = _path(decoded.key), json.dumps({str(i): reason for i, reason in decoded.broken.items()})
    metadata = {"broken": broken, "digest": _digest(decoded.key, decoded.pixels, broken)}
    # Without the cache everything works, only slower: a full or read-only disk is no error.
    with contextlib.suppress(OSError, SafetensorError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with appearing(path) as place:
            save_file({"pixels": decoded.pixels}, place, metadata)


def _path(key: str) -> Path:
    return cache_folder() / "images" / f"{key}.safetensors"


def _digest(key: str, pixels: UInt8Array, broken: str) -> str:
    digest = hashlib.blake2b(f"{key} {list(pixels.shape)} {broken}".encode(), digest_size=32)
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()
