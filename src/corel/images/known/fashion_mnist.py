"""Fashion-MNIST in its official IDX files, gzipped or not."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np

from corel.images._listing import ArrayListing
from corel.images._set import UInt8Array, numbered

CLASSES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
_PREFIX = {"train": "train", "test": "t10k"}


def read_fashion_mnist(root: Path, split: str) -> ArrayListing:
    """Read one split of Fashion-MNIST, in gray as it lies in its files."""
    images = _read_idx(root / f"{_PREFIX[split]}-images-idx3-ubyte", ndim=3)
    labels = _read_idx(root / f"{_PREFIX[split]}-labels-idx1-ubyte", ndim=1)
    names = numbered(split, len(images))
    return ArrayListing(names, labels.astype(np.int64), CLASSES, str(root), images=images)


def is_fashion_mnist(folder: Path) -> bool:
    """Tell whether `folder` holds the training images under their official name."""
    return any((folder / f"train-images-idx3-ubyte{end}").is_file() for end in ("", ".gz"))


def _read_idx(path: Path, ndim: int) -> UInt8Array:
    """Read an IDX file: 0, 0, 8 (unsigned bytes), number of axes, each axis as a big-endian int32, data."""
    data = _read_bytes(path)
    header = 4 + 4 * ndim
    shape = np.frombuffer(data[4:header], ">i4")
    if data[:4] != bytes((0, 0, 8, ndim)) or len(data) != header + int(np.prod(shape, dtype=np.int64)):
        raise ValueError(f"{path} is not a whole IDX file of bytes with {ndim} axes; remove it and fetch it again")
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)


def _read_bytes(path: Path) -> bytes:
    if path.is_file():
        return path.read_bytes()
    packed = path.with_name(path.name + ".gz")
    try:
        return gzip.decompress(packed.read_bytes())
    except FileNotFoundError:
        raise FileNotFoundError(
            f"there is neither {path} nor {packed.name} beside it; fetch the dataset again"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{packed} is damaged ({error}); remove it and fetch it again") from error
