"""Numbers in .npy and .npz files, read without running code."""

from __future__ import annotations

import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from corel._io.regular import open_regular
from corel._terminal import shown

LABELED = ("train_features", "train_labels", "test_features", "test_labels")

# Deflate compresses zeros to a thousandth of their size, and nearly empty pictures to about a tenth.
UNPACKED, TIMES = 256 << 20, 100
# What numpy and zipfile raise for a file that is not what it claims to be.
_BROKEN = (
    ValueError, EOFError, OSError, LookupError, TypeError, AttributeError, SyntaxError, OverflowError, MemoryError,
    RuntimeError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def load(path: Path) -> NDArray[Any] | Mapping[str, NDArray[Any]]:
    """Read the array of an .npy file; of an .npz file, give its entries by name, each read when it is asked for."""
    with open_regular(path) as file:
        if file.read(2) == b"PK":
            return _Entries(path)
        file.seek(0)
        with _sentences(path):
            return _read(file, os.fstat(file.fileno()).st_size)


class _Entries(Mapping[str, NDArray[Any]]):
    """The arrays of an .npz file, each read on first use."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _sentences(path), zipfile.ZipFile(path) as archive:
            self._names = {each.filename.removesuffix(".npy"): each.filename for each in archive.infolist()}

    def __getitem__(self, name: str) -> NDArray[Any]:
        member = self._names[name]
        with _sentences(self._path), zipfile.ZipFile(self._path) as archive, archive.open(member) as file:
            entry = archive.getinfo(member)
            if entry.file_size > max(UNPACKED, TIMES * entry.compress_size):
                raise ValueError(
                    f"{shown(member)} unpacks to {entry.file_size:,} bytes, more than {TIMES} times what it takes in "
                    "the file; save it with numpy.savez"
                )
            return _read(file, entry.file_size)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _read(file: IO[bytes], size: int) -> NDArray[Any]:
    """Read one array with its header, together `size` bytes; refuse a header that describes another size."""
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(file)
    if dtype.hasobject:
        raise ValueError("its objects need a pickle")
    if math.prod(shape) * dtype.itemsize != size - file.tell():
        raise ValueError(f"its header promises {dtype} {list(shape)[:8]}, which is not what follows")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        if "pickle" in str(error) or "magic string" in str(error):
            raise ValueError(
                f"{path} is damaged, no numpy file, or needs a pickle, which is not read since it could run code; "
                f"save arrays of numbers with numpy.save or numpy.savez"
            ) from error
        why = "it needs more memory than there is" if isinstance(error, MemoryError) else str(error)[:300]
        raise ValueError(f"{path} is damaged or no numpy file: {why}") from error


def load_features(path: Path) -> NDArray[Any]:
    """Read the array of an .npy file; of an .npz file, the entry ``features`` or else the only entry."""
    content = load(path)
    if isinstance(content, np.ndarray):
        return content
    if "features" not in content and len(content) != 1:
        raise ValueError(f"{path} holds {', '.join(content) or 'nothing'}; name the array of features 'features'")
    return content["features" if "features" in content else next(iter(content))]


def load_labeled(path: Path, split: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read one split of an .npz file as features and their labels."""
    wanted = f"labeled vectors come in an .npz file with {', '.join(LABELED)}"
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; {wanted}")
    content = load(path)
    held: Mapping[str, NDArray[Any]] = {} if isinstance(content, np.ndarray) else content
    if not set(LABELED) <= set(held):
        raise ValueError(f"{path} holds {', '.join(held) or 'no named array'}; {wanted}")
    return held[f"{split}_features"], held[f"{split}_labels"]
