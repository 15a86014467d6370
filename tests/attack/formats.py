"""Every format that the program reads: an example of it, and the reader."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from corel import images
from corel._io import arrayfile
from corel.backbone import Backbone
from corel.encoders import Autoencoder
from corel.gallery._store import BackboneReference, Exemplar, Store
from corel.images.known.cifar_pickle import unpickle
from corel.images.known.fashion_mnist import _read_idx
from corel.images.known.imagenet import _annotations
from corel.images.known.unpack import unpack
from tests.images.known.pickles import PICKLES


@dataclass(frozen=True)
class Attacked:
    """A format: its file's name, an example, and who reads it (and gives what must not change silently)."""

    file: str
    example: Callable[[], bytes]
    read: Callable[[Path], object]
    checked: bool = False  # whether a checksum makes every change noticed


def _through_file(name: str, write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, name))
        return Path(folder, name).read_bytes()


def _backbone() -> bytes:
    torch.manual_seed(0)
    made = Backbone(
        Autoencoder(2, 3, 4, 3, 8), "autoencoder", 2.0, 1.0, 10, np.ones((2, 3), np.float32),
        np.ones((5, 6), np.float32), {"data": {"source": "noise", "items": 20}, "auc": {"noise": 0.5}},
    )  # fmt: skip
    return _through_file("b.safetensors", made.save)


def _describe(path: Path) -> str:
    backbone = Backbone.load(path)
    return backbone.describe() + backbone.digest


def _gallery() -> bytes:
    def write(path: Path) -> None:
        store = Store(path, create=True)
        latents = np.arange(80, dtype=np.float32).reshape(20, 4)
        store.add(
            BackboneReference("a", "0123456789abcdef", 4),
            [Exemplar("cat", f"{i:064x}", f"{i}.png", "2020", row, _image("PNG")) for i, row in enumerate(latents)],
        )
        store.close()

    return _through_file("g", write)


def _read_gallery(path: Path) -> None:
    store = Store(path, create=False)
    try:
        for name in store.counts():
            store.exemplars(name)
        store.changes(())
    finally:
        store.close()


def _image(kind: str) -> bytes:
    file = io.BytesIO()
    Image.linear_gradient("L").resize((24, 16)).convert("RGB").save(file, kind)
    return file.getvalue()


def _npy() -> bytes:
    return _through_file("a.npy", lambda path: np.save(path, np.zeros((3, 8, 8), np.uint8)))


def _npz() -> bytes:
    arrays = {"images": np.zeros((3, 8, 8), np.uint8), "labels": np.arange(3)}
    return _through_file("a.npz", lambda path: np.savez_compressed(path, **arrays))  # type: ignore[arg-type]


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/a.txt", b"text" * 50)
    return file.getvalue()


def _tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        member = tarfile.TarInfo("folder/a.txt")
        member.size = 200
        archive.addfile(member, io.BytesIO(b"text" * 50))
    return file.getvalue()


def _idx() -> bytes:
    return bytes((0, 0, 8, 3)) + struct.pack(">3i", 2, 4, 4) + bytes(range(32))


def _unpack(path: Path) -> None:
    (path.parent / "out").mkdir()
    unpack(path, path.parent / "out", progress=False)


def _image_format(suffix: str, kind: str) -> Attacked:
    return Attacked(f"a.{suffix}", lambda: _image(kind), images.open)


FORMATS: dict[str, Attacked] = {
    "backbone": Attacked("b.safetensors", _backbone, _describe, checked=True),
    "gallery": Attacked("g.gallery", _gallery, _read_gallery),
    "CIFAR pickle, Python 2": Attacked("batch", lambda: PICKLES["Python 2.7, numpy 1.16.6, protocol 2"], unpickle),
    "CIFAR pickle, Python 3": Attacked("batch", lambda: PICKLES["Python 3.12, numpy 2.5.4, protocol 5"], unpickle),
    "IDX": Attacked("a-ubyte", _idx, lambda path: _read_idx(path, 3)),
    "IDX, gzipped": Attacked("a.gz", lambda: gzip.compress(_idx()), lambda path: _read_idx(path.with_suffix(""), 3)),
    ".npy": Attacked("a.npy", _npy, images.open),
    ".npz": Attacked("a.npz", _npz, images.open),
    "features": Attacked("a.npy", _npy, arrayfile.load_features),
    "annotations": Attacked("a.txt", lambda: b"val_0.png\tn01443537\t0\t0\n" * 9, _annotations),
    ".zip": Attacked("a.zip", _zip, _unpack),
    ".tar.gz": Attacked("a.tar.gz", _tar, _unpack),
    "PNG": _image_format("png", "PNG"),
    "JPEG": _image_format("jpg", "JPEG"),
    "WebP": _image_format("webp", "WEBP"),
    "BMP": _image_format("bmp", "BMP"),
    "TIFF": _image_format("tif", "TIFF"),
}
