"""Files of others: images, arrays, archives, datasets, ONNX graphs, weights, and what a browser sends."""

from __future__ import annotations

import asyncio
import functools
import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from PIL import features as pillow
from scipy.io import savemat
from starlette.requests import Request

from corel import images
from corel._io import arrayfile, filetype
from corel.encoders import graph
from corel.encoders.pretrained import Pretrained
from corel.encoders.stock import _load_weights
from corel.images import Preparation
from corel.images._decoding import fingerprint
from corel.images.known.cifar import CIFAR10, read_cifar
from corel.images.known.cifar_pickle import unpickle
from corel.images.known.fashion_mnist import _read_idx
from corel.images.known.imagenet import list_imagenet, list_tiny_imagenet
from corel.images.known.unpack import unpack
from corel.serve import Limits
from corel.serve._problems import Refused
from corel.serve._studio import pixels
from corel.serve._uploads import read_form
from tests.attack.attacked import Attacked, each_of, through_file
from tests.attack.pictures import picture
from tests.encoders import small_graph
from tests.images.known.pickles import PICKLES
from tests.serve.servers import form

WNIDS = ("n01443537", "n02124075", "n04067472")
LINES = "corel.images.known.lines.read_lines"
ARRAY = ("corel._io.arrayfile.load", "corel._io.arrayfile._read")
ENTRIES = (*ARRAY, "corel._io.arrayfile.__init__", "corel._io.arrayfile.__getitem__")


def _opened(path: Path) -> object:
    found = images.open(path, progress=False)
    return found.pixels, found.labels, found.classes


def _labeled_features(path: Path) -> object:
    return [arrayfile.load_labeled(path, split) for split in ("train", "test")]


def _measured(path: Path) -> object:
    """What looks at the head of a file alone finds nothing wrong, or nothing at all."""
    with path.open("rb") as file:
        size = pixels(file)
    return images.shorter_side(path), size, filetype.file_type(path), fingerprint([path], Preparation(), progress=False)


def _image(suffix: str, kind: str, dress: Callable[[bytes], bytes] = bytes, **options: object) -> Attacked:
    readers = (
        "corel.images._decoding.decode_files", "corel.images._decoding._decode",
        "corel.images._decoding._digest", "corel.images._convert.open_image",
        "corel.images._photo.read_photo",
        "corel.images._photo.shorter_side", "corel.serve._studio.pixels", "corel._io.filetype.file_type",
    )  # fmt: skip
    read = each_of(_opened, images.read_photo, _measured)
    return Attacked(f"a.{suffix}", lambda: picture(kind, **options), read, readers, dress=dress)


def _with_checksums(png: bytes) -> bytes:
    """Give each chunk of a damaged PNG the checksum that belongs to it, as far as its lengths lead."""
    mended, place = bytearray(png), 8
    while place + 12 <= len(mended):
        end = place + 8 + int.from_bytes(mended[place : place + 4], "big")
        if end + 4 > len(mended):
            break
        mended[end : end + 4] = zlib.crc32(mended[place + 4 : end]).to_bytes(4, "big")
        place = end + 4
    return bytes(mended)


def _npy(shape: tuple[int, ...] = (3, 8, 8), kind: type = np.uint8) -> bytes:
    return through_file("a.npy", lambda path: np.save(path, np.zeros(shape, kind)))


def _npz(**arrays: Any) -> bytes:
    return through_file("a.npz", lambda path: np.savez_compressed(path, **arrays))


def _npz_of(entry: bytes) -> bytes:
    return _zipped({"images.npy": entry, "labels.npy": _npy((3,), np.int64)})


def _zipped(entries: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content)
    return file.getvalue()


def _tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in ("folder/a.txt", "folder/deep/b.txt"):
            member = tarfile.TarInfo(name)
            member.size = 200
            archive.addfile(member, io.BytesIO(b"text" * 50))
    return file.getvalue()


def _gzipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _unpack(path: Path) -> object:
    out = path.parent / "out"
    out.mkdir()
    unpack(path, out, progress=False)
    return {str(each.relative_to(out)): each.read_bytes() for each in out.rglob("*") if each.is_file()}


def _idx() -> bytes:
    return bytes((0, 0, 8, 3)) + struct.pack(">3i", 2, 4, 4) + bytes(range(32))


def _listed(listing: Any) -> object:
    return listing.names, np.asarray(listing.labels), listing.classes


def _cifar(path: Path) -> object:
    found = read_cifar(CIFAR10, path.parent, "test")
    return found.images, found.labels, found.classes


@functools.cache
def _cifar_files() -> dict[str, bytes]:
    records = b"".join(bytes((i,)) + bytes((i,)) * 3072 for i in range(10))
    names = "\n".join(f"class {i}" for i in range(10)).encode()
    return {"test_batch.bin": records, "data_batch_1.bin": b"", "batches.meta.txt": names}


@functools.cache
def _tiny() -> dict[str, bytes]:
    annotated = "".join(f"val_{i}.png\t{WNIDS[i % 3]}\t0\t0\t9\t9\n" for i in range(9))
    pictures = {f"val/images/val_{i}.png": picture("PNG") for i in range(9)}
    listed = {"wnids.txt": "\n".join(WNIDS).encode(), "val/val_annotations.txt": annotated.encode()}
    return {**listed, **pictures, **{f"train/{each}/a.png": b"" for each in WNIDS}}


@functools.cache
def _imagenet() -> dict[str, bytes]:
    synsets = np.array(
        [(i, each, "words") for i, each in enumerate(WNIDS, 1)],
        [("ILSVRC2012_ID", "O"), ("WNID", "O"), ("words", "O")],
    )
    meta = through_file("meta.mat", lambda path: savemat(path, {"synsets": synsets.reshape(-1, 1)}))
    meta = b"MATLAB 5.0 MAT-file".ljust(116) + meta[116:]  # without the time of its making
    kit, truth = "ILSVRC2012_devkit_t12/data", "\n".join("3121")
    pictures = {f"val/ILSVRC2012_val_{i:08d}.JPEG": b"" for i in range(1, 5)}
    files = {f"{kit}/meta.mat": meta, f"{kit}/ILSVRC2012_validation_ground_truth.txt": truth.encode(), **pictures}
    return {**files, **{f"train/{each}/a.JPEG": b"" for each in WNIDS}}


def _dataset(file: str, files: Callable[[], dict[str, bytes]], read: Callable[[Path], Any], *readers: str,
             share: float = 1.0) -> Attacked:  # fmt: skip
    """A file of a dataset; `read` gets the dataset's folder."""
    depth = file.count("/")
    return Attacked(
        file, lambda: files()[file], lambda path: _listed(read(path.parents[depth])), readers, files, share=share
    )


def _wrapped_graph(path: Path) -> object:
    checked = graph.check(graph.read(path), str(path), size=small_graph.SIZE)
    network = Pretrained.of(checked)
    shown = np.arange(2 * small_graph.SIZE**2 * 3).reshape(2, small_graph.SIZE, small_graph.SIZE, 3) % 256
    try:
        return checked.input, checked.width, network.encode(shown.astype(np.uint8))
    except ValueError as error:  # of the backbone in use, which knows its own name
        raise ValueError(f"{path}: {error}") from error


def _linear() -> torch.nn.Linear:
    torch.manual_seed(0)
    return torch.nn.Linear(3, 4)


def _weights(path: Path) -> object:
    network = _linear()
    _load_weights(network, path, "a model")
    return dict(network.state_dict())


def _torch_weights() -> bytes:
    return through_file("w.pt", lambda path: torch.save(_linear().state_dict(), path))


@functools.cache
def _form() -> tuple[bytes, str]:
    body, kind = form([("a.png", picture("PNG")), ("b.png", picture("PNG"))], name="cat")
    boundary = kind.rpartition("=")[2]
    return body.replace(boundary.encode(), b"limit"), kind.replace(boundary, "limit")


def _read_form(path: Path) -> object:
    """Read the body of a request, then its images, as the server does."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": path.read_bytes(), "more_body": False}

    async def read() -> object:
        scope = {"type": "http", "method": "POST", "headers": [(b"content-type", _form()[1].encode())]}
        sent = await read_form(Request(scope, receive), Limits())
        found = [(each.name, pixels(each.file), each.file.read()) for each in sent.uploads]
        sent.close()
        return found, sent.fields

    try:
        return asyncio.run(read())
    except Refused as error:
        raise ValueError(f"{path}: {error.detail}") from error


FOREIGN_FILES: dict[str, Attacked] = {
    "PNG": _image("png", "PNG"),
    "PNG, right checksums": _image("png", "PNG", _with_checksums),
    "JPEG": _image("jpg", "JPEG"),
    "JPEG, progressive": _image("jpg", "JPEG", progressive=True),
    "WebP": _image("webp", "WEBP"),
    "BMP": _image("bmp", "BMP"),
    "TIFF": _image("tif", "TIFF"),
    "TIFF, compressed": _image("tif", "TIFF", compression="tiff_lzw"),
    "GIF": _image("gif", "GIF"),
    **({"AVIF": _image("avif", "AVIF")} if pillow.check("avif") else {}),
    ".npy": Attacked("a.npy", lambda: _npy((2, 8, 8)), _opened, ARRAY),
    ".npz": Attacked(
        "a.npz", lambda: _npz(images=np.zeros((3, 8, 8), np.uint8), labels=np.arange(3)), _opened, ENTRIES
    ),
    ".npz, right checksums": Attacked("a.npz", _npy, _opened, ENTRIES, dress=_npz_of),
    "features": Attacked("a.npy", lambda: _npy((3, 5), np.float32), arrayfile.load_features, ARRAY),
    "labeled features": Attacked(
        "a.npz", lambda: _npz(**{name: np.arange(3) for name in arrayfile.LABELED}), _labeled_features, ENTRIES
    ),
    ".zip": Attacked(
        "a.zip", lambda: _zipped({"folder/a.txt": b"text" * 50}), _unpack, ("corel.images.known.unpack._zip_members",)
    ),
    ".tar.gz": Attacked(
        "a.tar.gz", lambda: _gzipped(_tar()), _unpack, ("corel.images.known.unpack._tar_members",)
    ),
    ".tar.gz, right checksum": Attacked(
        "a.tar.gz", _tar, _unpack, ("corel.images.known.unpack._tar_members",), dress=_gzipped
    ),
    "CIFAR pickle, Python 2": Attacked(
        "batch", lambda: PICKLES["Python 2.7, numpy 1.16.6, protocol 2"], unpickle,
        ("corel.images.known.cifar_pickle.unpickle", "corel.images.known.cifar_pickle.run"),
    ),
    "CIFAR pickle, Python 3": Attacked(
        "batch", lambda: PICKLES["Python 3.12, numpy 2.5.4, protocol 5"], unpickle,
        ("corel.images.known.cifar_pickle.unpickle", "corel.images.known.cifar_pickle.run"),
    ),
    "CIFAR binary": Attacked(
        "test_batch.bin", lambda: _cifar_files()["test_batch.bin"], _cifar,
        ("corel.images.known.cifar._read_binary",), _cifar_files,
    ),
    "CIFAR class names": Attacked(
        "batches.meta.txt", lambda: _cifar_files()["batches.meta.txt"], _cifar, (LINES,), _cifar_files
    ),
    "IDX": Attacked("a-ubyte", _idx, lambda path: _read_idx(path, 3), ("corel.images.known.fashion_mnist._opened",)),
    "IDX, gzipped": Attacked(
        "a.gz", lambda: _gzipped(_idx()), lambda path: _read_idx(path.with_suffix(""), 3),
        ("corel.images.known.fashion_mnist._opened",),
    ),
    "IDX, right checksum": Attacked(
        "a.gz", _idx, lambda path: _read_idx(path.with_suffix(""), 3),
        ("corel.images.known.fashion_mnist._opened",), dress=_gzipped,
    ),
    "Tiny-ImageNet, classes": _dataset("wnids.txt", _tiny, lambda root: list_tiny_imagenet(root, "test"), LINES),
    "Tiny-ImageNet, annotations": _dataset(
        "val/val_annotations.txt", _tiny, lambda root: list_tiny_imagenet(root, "test"), LINES
    ),
    "ImageNet, ground truth": _dataset(
        "ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt", _imagenet,
        lambda root: list_imagenet(root, "test"), LINES, share=0.05,
    ),
    "ImageNet, meta.mat": _dataset(
        "ILSVRC2012_devkit_t12/data/meta.mat", _imagenet, lambda root: list_imagenet(root, "test"),
        "corel.images.known.imagenet_meta.read_wnids", share=0.05,
    ),
    "ONNX graph": Attacked(
        "a.onnx", small_graph.content, _wrapped_graph,
        ("corel.encoders.graph.read", "corel.encoders.graph._parsed", "corel.encoders.pretrained.start"),
    ),
    "weights, torch": Attacked("w.pt", _torch_weights, _weights, ("corel.encoders.stock._read_weights",), share=0.02),
    "weights, safetensors": Attacked(
        "w.safetensors", lambda: safetensors.torch.save(dict(_linear().state_dict())), _weights,
        ("corel.encoders.stock._read_weights",),
    ),
    "form of the server": Attacked(
        "body", lambda: _form()[0], _read_form, ("corel.serve._uploads._parser", "corel.serve._studio.pixels")
    ),
}  # fmt: skip
