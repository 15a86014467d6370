"""CIFAR-10, CIFAR-100 and CIFAR-20 (CIFAR-100's coarse labels), in the official binary and python layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corel._io.regular import read_regular
from corel.images._listing import ArrayListing
from corel.images._set import Int64Array, UInt8Array, numbered
from corel.images.known.cifar_pickle import MOST_BYTES, unpickle
from corel.images.known.lines import read_lines

_PIXELS = 3 * 32 * 32  # all red values, then all green and all blue ones, row by row


@dataclass(frozen=True)
class Variant:
    """Where one of the datasets has its images and labels, in both layouts."""

    classes: int
    batches: Mapping[str, tuple[str, ...]]  # files of each split; the binary layout adds ".bin"
    label_bytes: int  # binary layout: labels in front of a record's pixels, a byte each
    label_position: int  # which of these is the dataset's
    names_file: str  # binary layout: the names of the classes, one a line
    meta_file: str  # python layout: a dictionary with the names of the classes
    names_entry: bytes  # their key in it
    labels_entry: bytes  # the labels' key in a batch


_TEN = {"train": tuple(f"data_batch_{i}" for i in range(1, 6)), "test": ("test_batch",)}
_HUNDRED = {"train": ("train",), "test": ("test",)}
CIFAR10 = Variant(10, _TEN, 1, 0, "batches.meta.txt", "batches.meta", b"label_names", b"labels")
CIFAR20 = Variant(20, _HUNDRED, 2, 0, "coarse_label_names.txt", "meta", b"coarse_label_names", b"coarse_labels")
CIFAR100 = Variant(100, _HUNDRED, 2, 1, "fine_label_names.txt", "meta", b"fine_label_names", b"fine_labels")


def read_cifar(variant: Variant, root: Path, split: str) -> ArrayListing:
    """Read one split as its files hold it; the classes named and present must be as many as the dataset has."""
    read = _read_binary if _is_binary(variant, root) else _read_python
    parts, classes = read(variant, root, split)
    planes = np.concatenate([pixels for pixels, _ in parts]).reshape(-1, 3, 32, 32)
    labels = np.concatenate([numbers for _, numbers in parts])
    _check_classes(variant, root, classes, labels, split)
    pixels = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
    return ArrayListing(numbered(split, len(labels)), labels, classes, str(root), images=pixels)


def is_cifar(variant: Variant, folder: Path) -> bool:
    """Tell whether `folder` holds this dataset in either layout."""
    return _is_binary(variant, folder) or (
        (folder / variant.batches["train"][0]).is_file() and (folder / variant.meta_file).is_file()
    )


Batches = tuple[list[tuple[UInt8Array, Int64Array]], tuple[str, ...]]


def _is_binary(variant: Variant, folder: Path) -> bool:
    return all((folder / name).is_file() for name in (f"{variant.batches['train'][0]}.bin", variant.names_file))


def _read_binary(variant: Variant, root: Path, split: str) -> Batches:
    record = variant.label_bytes + _PIXELS
    parts = []
    for path in (_present(root / f"{name}.bin") for name in variant.batches[split]):
        data = np.frombuffer(read_regular(path, MOST_BYTES), np.uint8)
        if not data.size or data.size % record:
            raise ValueError(f"{path} has {data.size} bytes, not a multiple of {record}; {_anew(root)}")
        rows = data.reshape(-1, record)
        parts.append((rows[:, variant.label_bytes :], rows[:, variant.label_position].astype(np.int64)))
    return parts, tuple(read_lines(root / variant.names_file))


def _read_python(variant: Variant, root: Path, split: str) -> Batches:
    parts = []
    for path in (_present(root / name) for name in variant.batches[split]):
        batch = unpickle(path)
        pixels, labels = batch.get(b"data"), _labels(batch.get(variant.labels_entry))
        if not isinstance(pixels, np.ndarray) or labels is None or pixels.shape != (len(labels), _PIXELS):
            raise ValueError(f"{path} is not a batch of CIFAR with {variant.classes} classes; {_anew(root)}")
        parts.append((pixels, labels))
    return parts, _names(_present(root / variant.meta_file), variant)


def _labels(found: object) -> Int64Array | None:
    """Give labels that a pickle holds, as the list that the official files have or as an array of bytes."""
    if isinstance(found, np.ndarray) and found.ndim == 1:
        found = found.tolist()
    if not isinstance(found, list) or not all(type(label) is int and 0 <= label < 256 for label in found):
        return None
    return np.array(found, np.int64)


def _names(path: Path, variant: Variant) -> tuple[str, ...]:
    names = unpickle(path).get(variant.names_entry)
    if not isinstance(names, list) or not all(isinstance(name, bytes | str) for name in names):
        raise ValueError(f"{path} does not name the classes of CIFAR; {_anew(path.parent)}")
    return tuple(name.decode("utf-8", "replace") if isinstance(name, bytes) else name for name in names)


def _present(path: Path) -> Path:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; {_anew(path.parent)}")
    return path


def _check_classes(variant: Variant, root: Path, classes: tuple[str, ...], labels: Int64Array, split: str) -> None:
    binary = _is_binary(variant, root)
    if len(classes) != variant.classes:
        file = root / (variant.names_file if binary else variant.meta_file)
        raise ValueError(f"{file} names {len(classes)} classes, where {variant.classes} are expected; {_anew(root)}")
    if not np.array_equal(present := np.unique(labels), np.arange(variant.classes)):
        files = ", ".join(f"{name}.bin" if binary else name for name in variant.batches[split])
        raise ValueError(
            f"{files} in {root}: there are images of {len(present)} classes, up to number {present.max()}, where "
            f"{variant.classes} are expected; "
            f"{_anew(root)}"
        )


def _anew(root: Path) -> str:
    """Advise to remove the folder first: fetching skips a folder that looks like the dataset."""
    return f"remove {root} and fetch it again"
