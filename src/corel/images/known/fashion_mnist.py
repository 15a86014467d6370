"""Fashion-MNIST in its official IDX files, gzipped or not."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np

from corel._io.regular import open_regular
from corel.images._listing import ArrayListing
from corel.images._set import UInt8Array, numbered

CLASSES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
_MOST = 1 << 30  # bytes of one file; the official ones unpack to 47 MB
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
    with _opened(path) as file:
        header = file.read(4 + 4 * ndim)
        shape = struct.unpack(f">{ndim}i", header[4:]) if len(header) == 4 + 4 * ndim else (-1,)
        promised = math.prod(shape)
        if header[:4] != bytes((0, 0, 8, ndim)) or min(shape) < 0 or promised > _MOST:
            raise ValueError(_broken(path, ndim))
        data = file.read(promised + 1)  # no more than the header says, whatever it would unpack to
    if len(data) != promised:
        raise ValueError(_broken(path, ndim))
    return np.frombuffer(data, np.uint8).reshape(shape)


def _broken(path: Path, ndim: int) -> str:
    file = path if path.is_file() else _packed(path)
    return f"{file} is not a whole IDX file of bytes with {ndim} axes; remove it and fetch it again"


def _packed(path: Path) -> Path:
    return path.with_name(path.name + ".gz")


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    packed = _packed(path)
    try:
        with open_regular(path if path.is_file() else packed) as file:
            yield file if path.is_file() else cast(IO[bytes], gzip.GzipFile(fileobj=file))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"there is neither {path} nor {packed.name} beside it; fetch the dataset again"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{packed} is damaged ({error}); remove it and fetch it again") from error
