"""The datasets known by name: where their files lie below a root, and who reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corel.images._cifar import CIFAR10, CIFAR20, CIFAR100, Variant, is_cifar, read_cifar
from corel.images._digits import read_digits
from corel.images._files import Listing, read
from corel.images._idx import is_fashion_mnist, read_fashion_mnist
from corel.images._imagenet import is_imagenet, is_tiny_imagenet, list_imagenet, list_tiny_imagenet
from corel.images._set import ImageSet


@dataclass(frozen=True)
class Known:
    """A dataset with a name.

    `folders` are its usual places below a root ("" the root itself), `found` tells whether one of them holds
    it, and `read` reads a split: ``read(folder, split, size, strict, progress)``.
    """

    folders: tuple[str, ...]
    found: Callable[[Path], bool]
    read: Callable[[Path, str, int, bool, bool], ImageSet]
    classes: int
    images: tuple[int, int]  # train and test, of the complete official dataset


def locate(known: Known, root: Path) -> Path | None:
    """Give the folder at or below `root` that holds this dataset."""
    return next((root / name for name in (*known.folders, "") if known.found(root / name)), None)


def recognise(folder: Path) -> Known | None:
    """Give the dataset whose layout `folder` has; CIFAR-100's files are read with their fine labels."""
    return next((known for known in KNOWN.values() if known.found(folder)), None)


def _cifar(variant: Variant, folders: tuple[str, ...]) -> Known:
    return Known(
        folders,
        lambda folder: is_cifar(variant, folder),
        lambda folder, split, size, _strict, _progress: read_cifar(variant, folder, split, size),
        variant.classes,
        (50_000, 10_000),
    )


def _files(listing: Callable[[Path, str], Listing]) -> Callable[[Path, str, int, bool, bool], ImageSet]:
    return lambda folder, split, size, strict, progress: read(
        listing(folder, split), size, strict=strict, progress=progress
    )


_CIFAR100_FOLDERS = ("cifar-100-binary", "cifar-100-python")
KNOWN = {
    "cifar10": _cifar(CIFAR10, ("cifar-10-batches-bin", "cifar-10-batches-py")),
    "cifar100": _cifar(CIFAR100, _CIFAR100_FOLDERS),
    "cifar20": _cifar(CIFAR20, _CIFAR100_FOLDERS),
    "tiny-imagenet": Known(
        ("tiny-imagenet-200",), is_tiny_imagenet, _files(list_tiny_imagenet), 200, (100_000, 10_000)
    ),
    "imagenet": Known(("imagenet",), is_imagenet, _files(list_imagenet), 1000, (1_281_167, 50_000)),
    "fashion-mnist": Known(
        ("fashion-mnist", "FashionMNIST/raw"),
        is_fashion_mnist,
        lambda folder, split, size, _strict, _progress: read_fashion_mnist(folder, split, size),
        10,
        (60_000, 10_000),
    ),
    "digits": Known(
        (), lambda _folder: False, lambda _folder, split, size, _strict, _progress: read_digits(split, size),
        10, (899, 898),
    ),
}  # fmt: skip
