"""The datasets known by name: where their files lie below a root, and who reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from corel.images._listing import Listing
from corel.images.known.cifar import CIFAR10, CIFAR20, CIFAR100, is_cifar, read_cifar
from corel.images.known.fashion_mnist import is_fashion_mnist, read_fashion_mnist
from corel.images.known.imagenet import is_imagenet, is_tiny_imagenet, list_imagenet, list_tiny_imagenet


@dataclass(frozen=True)
class Known:
    """A dataset with a name: its usual folders below a root, how to tell it, and who reads it."""

    folders: tuple[str, ...]
    found: Callable[[Path], bool]
    read: Callable[[Path, str], Listing]


def locate(known: Known, root: Path) -> Path | None:
    """Give the folder at or below `root` that holds this dataset."""
    return next((root / name for name in (*known.folders, "") if known.found(root / name)), None)


def whereabouts(name: str, root: Path) -> str | None:
    """Say where the dataset of this name would be read from, or None if it is not there."""
    if name == "digits":
        return "comes with scikit-learn"
    found = locate(KNOWN[name], root)
    return str(found) if found else None


def recognize(folder: Path) -> Known | None:
    """Give the dataset whose layout `folder` has; CIFAR-100's files are read with their fine labels."""
    names = [name for name in KNOWN if name != "cifar20"]
    return next((KNOWN[name] for name in names if KNOWN[name].found(folder)), None)


_CIFAR100_FOLDERS = ("cifar-100-binary", "cifar-100-python")
KNOWN = {
    "cifar10": Known(
        ("cifar-10-batches-bin", "cifar-10-batches-py"),
        partial(is_cifar, CIFAR10),
        partial(read_cifar, CIFAR10),
    ),
    "cifar20": Known(_CIFAR100_FOLDERS, partial(is_cifar, CIFAR20), partial(read_cifar, CIFAR20)),
    "cifar100": Known(_CIFAR100_FOLDERS, partial(is_cifar, CIFAR100), partial(read_cifar, CIFAR100)),
    "tiny-imagenet": Known(("tiny-imagenet-200",), is_tiny_imagenet, list_tiny_imagenet),
    "imagenet": Known(("imagenet",), is_imagenet, list_imagenet),
    "fashion-mnist": Known(("fashion-mnist", "FashionMNIST/raw"), is_fashion_mnist, read_fashion_mnist),
}
NAMES = (*KNOWN, "digits")  # scikit-learn brings the digits along
