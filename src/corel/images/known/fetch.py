"""`corel data fetch`: a known dataset downloaded, checked and unpacked below a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from corel.images.known.catalog import CATALOG, Download
from corel.images.known.download import download
from corel.images.known.registry import KNOWN, locate
from corel.images.known.unpack import unpack

_IMAGENET = (
    "ImageNet needs an account: register at https://image-net.org/download-images, download "
    "ILSVRC2012_img_train.tar, ILSVRC2012_img_val.tar and ILSVRC2012_devkit_t12.tar.gz, and unpack them to "
    "{0}/imagenet/train/nXXXXXXXX (a folder for each tar in the first), {0}/imagenet/val and "
    "{0}/imagenet/ILSVRC2012_devkit_t12"
)


def fetch(name: str, folder: Path, *, progress: bool = True) -> Path:
    """Download a known dataset into `folder`, check and unpack it, and give the folder that holds it.

    What is there already is used: the dataset, its archive, a part of the archive.

    Raises:
        ValueError: `name` is nothing that can be downloaded, or a file is not the official one.
        ConnectionError: no address gave the files; the message says what to do by hand.

    """
    if name not in CATALOG:
        raise ValueError(_nothing_to_fetch(name, folder))
    failures = []
    for files in CATALOG[name]:
        try:
            return _fetch_files(name, files, folder, progress=progress)
        except ConnectionError as error:  # noqa: PERF203 (the next set of files may be reachable)
            failures.append(str(error))
    raise ConnectionError(_by_hand(name, folder, failures))


def _fetch_files(name: str, files: Sequence[Download], folder: Path, *, progress: bool) -> Path:
    for wanted in files:
        if wanted.folder:  # used as it is; whatever is there is checked again
            download(wanted, folder / wanted.folder, progress=progress)
        elif locate(KNOWN[name], folder) is None:
            unpack(download(wanted, folder, progress=progress), folder, progress=progress)
    found = locate(KNOWN[name], folder)
    if found is None:
        raise ValueError(f"{name} was unpacked into {folder} but is not there; its archive must have changed")
    return found


def _by_hand(name: str, folder: Path, failures: Sequence[str]) -> str:
    files = CATALOG[name][0]
    urls = " and ".join(wanted.urls[0] for wanted in files)
    return (
        f"{name} could not be downloaded ({'; '.join(failures)}). Without a network: download {urls} "
        f"elsewhere, put it into {folder / files[0].folder}, and run the same command again to check and unpack it"
    )


def _nothing_to_fetch(name: str, folder: Path) -> str:
    if name == "imagenet":
        return _IMAGENET.format(folder)
    if name == "digits":
        return "digits come with scikit-learn: there is nothing to fetch, open them by name"
    return f"there is no dataset {name!r} to fetch; choose one of {', '.join(CATALOG)}"
