"""Many image files → one array, in parallel, with a fingerprint of the bytes that were read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import PIL
from PIL import Image, ImageFile

from corel._io.regular import read_regular
from corel._terminal import progress_bar
from corel.images._convert import BROKEN, decode, explain
from corel.images._preparation import Preparation
from corel.images._set import UInt8Array

Item = TypeVar("Item")
Result = TypeVar("Result")
_CHUNK = 64  # files a thread takes at once, at most: fewer cost more overhead, more make the bar jump


@dataclass(frozen=True)
class Decoded:
    """The images of n items in order.

    `broken` gives the reason of each file (by position) that has no image; its pixels are zero.
    `key` is the fingerprint of what was decoded; None if it was not asked for, or if a file could not be read.
    `labels` come with the items of a dataset; None where there are none, or where they were known before.
    """

    pixels: UInt8Array
    broken: dict[int, str]
    key: str | None
    labels: Sequence[int | None] | None = None


def decode_files(
    files: Sequence[Item],
    preparation: Preparation,
    *,
    progress: bool,
    read: Callable[[Any], bytes] = read_regular,
    threads: int | None = None,
    keyed: bool = False,
) -> Decoded:
    """Read and decode each file once; if `keyed`, compute the fingerprint from the same bytes.

    `read` gives the bytes of an item that is no path; `threads` may be many where reading is slow, as from a network.
    """
    pixels = np.zeros((len(files), preparation.size, preparation.size, 3), np.uint8)
    broken: dict[int, str] = {}
    digests: list[bytes | None] = []
    for i, (digest, image) in enumerate(
        _in_threads(lambda file: _decode(file, read, preparation, keyed), files, "reading images", progress, threads)
    ):
        digests.append(digest)
        if isinstance(image, str):
            broken[i] = image
        else:
            pixels[i] = image
    return Decoded(pixels, broken, _combined(digests, preparation))


def fingerprint(files: Sequence[Path], preparation: Preparation, *, progress: bool) -> str | None:
    """Give the `Decoded.key` that decoding these files would have, without decoding."""
    return _combined(list(_in_threads(_digest, files, "comparing with the cache", progress)), preparation)


def _decode(
    file: Item, read: Callable[[Item], bytes], preparation: Preparation, keyed: bool
) -> tuple[bytes | None, UInt8Array | str]:
    try:
        data = read(file)
    except OSError as error:
        return None, f"cannot be read: {error.strerror or str(error).partition(chr(10))[0]}"
    except ValueError:
        return None, "is a pipe or a device, not a file"
    except MemoryError as error:
        return None, explain(error)
    digest = _hash(data) if keyed else None
    try:
        return digest, decode(data, preparation)
    except BROKEN as error:
        return digest, explain(error)


def _digest(file: Path) -> bytes | None:
    try:
        return _hash(read_regular(file))
    except (OSError, ValueError, MemoryError):
        return None


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()


def _combined(digests: Sequence[bytes | None], preparation: Preparation) -> str | None:
    known = [digest for digest in digests if digest is not None]
    if len(known) < len(digests):
        return None
    # What else decides the pixels: another Pillow, or its settings, may read the same bytes differently.
    pillow = (PIL.__version__, Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES)
    rule = preparation.document()
    header = f"corel images 1, {rule.pop('size')} pixels, Pillow {pillow}, {len(known)} files;{rule or ''}".encode()
    return _hash(header + b"".join(known)).hex()


def _in_threads(
    work: Callable[[Item], Result],
    files: Sequence[Item],
    description: str,
    progress: bool,
    threads: int | None = None,
) -> Iterator[Result]:
    # Pillow decodes and hashlib hashes without the GIL.
    threads = threads or _threads()
    each = max(1, min(_CHUNK, len(files) // (2 * threads)))  # no thread waits long for the last one
    chunks = [files[i : i + each] for i in range(0, len(files), each)]
    with (
        progress_bar(description, len(files), quiet=not progress) as advance,
        ThreadPoolExecutor(threads) as pool,
    ):
        for results in pool.map(lambda chunk: [work(file) for file in chunk], chunks):
            advance(len(results))
            yield from results


def _threads() -> int:
    """Give the number of threads for this process: $OMP_NUM_THREADS, which torch reads too, or one a core.

    Several workers may share a machine; this variable gives each of them its part of the cores.
    """
    chosen = os.environ.get("OMP_NUM_THREADS", "")
    return int(chosen) if chosen.isascii() and chosen.isdigit() and int(chosen) else os.cpu_count() or 1
