"""What a gallery keeps of an enrolled item: its class's name, a hash, what was encoded, a small picture."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL import features as pillow

from corel._errors import ArgumentError
from corel._terminal import printable
from corel.gallery._exemplar import Exemplar
from corel.gallery._names import check_name
from corel.images import Batch, content_hash, photographic

LARGEST_THUMBNAIL = 96  # pixels: as large as anybody looks at an exemplar
# A JPEG's tables alone take more than a whole WebP of 32 × 32 pixels.
SMALL: dict[str, Any] = {"format": "WEBP" if pillow.check("webp") else "JPEG", "quality": 80}
# A plain surface differs from a blank frame by the faint texture that compression removes: see `_blanks.py`.
LOSSLESS: dict[str, Any] = {"format": "WEBP", "lossless": True} if pillow.check("webp") else {"format": "PNG"}
READ = ("PNG", "WEBP", "JPEG")  # galleries of format 1 hold PNG
MOST_DECODED = 1024  # pixels a side; galleries of format 1 hold thumbnails of the encoder's size
_BROKEN = (
    OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, OverflowError, RuntimeError, AttributeError,
    struct.error, Image.DecompressionBombError, MemoryError,
)  # fmt: skip


def class_names(batch: Batch, name: str | None) -> list[str]:
    """Give the class of each item: the one that is named, or its label."""
    if name is not None:
        return [name] * len(batch)
    if batch.labels is None and len(batch):
        raise ArgumentError("name", "is needed for items without labels; or give images in one folder a class")
    # Names hold no slash, but datasets' labels do: Fashion-MNIST's T-shirt/top becomes T-shirt-top.
    return [check_name(label.replace("/", "-")) for label in batch.labels or ()]


def encoded(
    batch: Batch,
    names: Sequence[str],
    now: str,
    latents: NDArray[np.float32],
    features: NDArray[np.float32],
    pictures: Mapping[str, bytes],
) -> Iterator[Exemplar]:
    """Make exemplars of a batch that was encoded; a latent that is not finite is refused.

    `pictures` are thumbnails by the hash of an item; any other thumbnail is made of what was encoded.
    """
    if bad := np.flatnonzero(~np.isfinite(latents).all(axis=1)).tolist():
        raise ValueError(f"the latent of {batch.names[bad[0]]} is not finite; leave it out, or use another backbone")
    same = features.shape == latents.shape and np.array_equal(features, latents)  # nothing to keep beside them
    for i, (name, value) in enumerate(zip(names, batch.values, strict=True)):
        digest = content_hash(value).hex()
        known, picture = (name, digest, printable(batch.names[i]), now), _picture(value, pictures.get(digest))
        yield Exemplar(*known, latents[i], picture, None if same else features[i])


def _picture(value: NDArray[Any], given: bytes | None) -> bytes | None:
    """Choose a thumbnail: a plain surface keeps its own pixels, since new images are compared with them as they are."""
    return given if given and value.ndim == 3 and photographic(value[None]).all() else thumbnail(value)


def thumbnail(value: NDArray[Any]) -> bytes | None:
    """Give an image as a small compressed picture, a plain surface without loss; a row of features has none."""
    if value.ndim != 3:
        return None
    picture, buffer = Image.fromarray(value), io.BytesIO()
    picture.thumbnail((LARGEST_THUMBNAIL, LARGEST_THUMBNAIL))
    picture.save(buffer, **(SMALL if photographic(value[None]).all() else LOSSLESS))
    return buffer.getvalue()


def decoded_thumbnail(content: object, size: tuple[int, int]) -> NDArray[np.uint8] | None:
    """Decode a thumbnail from a file that may be hostile; None if it is not an image, or too large."""
    if not isinstance(content, bytes):
        return None
    try:
        with Image.open(io.BytesIO(content), formats=READ) as picture:
            if max(picture.size) > MOST_DECODED:
                return None
            shown = picture.convert("RGB")
            return np.asarray(shown if shown.size == size else shown.resize(size, Image.Resampling.BILINEAR))
    except _BROKEN:
        return None
