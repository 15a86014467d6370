"""Files that corel writes itself: backbones, checkpoints, galleries, caches, what an interruption left."""

from __future__ import annotations

import functools
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch

from corel._io import tensorfile
from corel.backbone import Backbone
from corel.backbone._file import KIND, VERSION
from corel.encoders import Autoencoder, graph, resuming
from corel.encoders.pretrained import Pretrained
from corel.gallery import _checksums
from corel.gallery._exemplar import BackboneReference, Exemplar
from corel.gallery._items import decoded_thumbnail
from corel.gallery._store import Store
from corel.images import _cache
from corel.images._decoding import Decoded
from corel.training import TrainConfig
from corel.training._checkpoint import Identity, State, restore, save
from corel.training._loop import first_weights
from tests.attack.attacked import Attacked, refused_if_none, through_file
from tests.attack.pictures import picture
from tests.encoders import small_graph

TENSORS = "corel._io.tensorfile._content"
DOCUMENT = "corel._io.tensorfile.read"
SQLITE = ("corel.gallery._file.connect", "corel.gallery._journal_check._head", "corel.gallery._store._settings")


def _backbone(network: Any = None, objective: str = "autoencoder") -> Backbone:
    torch.manual_seed(0)
    network = network or Autoencoder(2, 3, 4, 3, 8)
    branches, width = network.architecture["branches"], network.architecture["branch_dim"]
    return Backbone(
        network, objective, 2.0, 1.0, 10, np.ones((branches, 3), np.float32),
        np.ones((5, branches * width), np.float32), {"data": {"source": "noise", "items": 20}, "auc": {"noise": 0.5}},
    )  # fmt: skip


def _saved(made: Backbone) -> bytes:
    return through_file("b.safetensors", made.save)


def _load(path: Path) -> tuple[Any, ...]:
    backbone = Backbone.load(path)
    return backbone.describe(), backbone.digest, backbone.metadata


def _graph_backbone() -> bytes:
    return _saved(_backbone(Pretrained.of(graph.check(small_graph.content(), "small")), "pretrained"))


def _load_graph(path: Path) -> tuple[Any, ...]:
    blank = np.zeros((2, small_graph.SIZE, small_graph.SIZE, 3), np.uint8)
    return *_load(path), Backbone.load(path).encode(blank)


def _document() -> bytes:
    content = _saved(_backbone())
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return str(header["__metadata__"]["document"]).encode()


@functools.cache
def _tensors() -> dict[str, torch.Tensor]:
    return _backbone()._tensors()


def _with_document(damaged: bytes) -> bytes:
    """Put another document into a backbone, with the checksum that belongs to it: a stranger can do that."""
    header = {"kind": KIND, "version": str(VERSION), "document": damaged.decode("utf-8", "replace")}
    header["sha256"] = tensorfile._checksum(header, _tensors())
    return safetensors.torch.save(_tensors(), header)


@functools.cache
def _training() -> tuple[Identity, Any, Any]:
    config = TrainConfig(branches=2, branch_dim=3, width=4, batch_size=10, epochs=2, precision="float32")
    model = first_weights(config, (8, 8, 3))
    return Identity(config, {"items": 40, "sha256": "0" * 64}, 1), model, torch.optim.AdamW(model.parameters())


def _checkpoint() -> bytes:
    identity, model, optimizer = _training()
    sum(parameter.sum() for parameter in model.parameters()).backward()
    optimizer.step()
    state = State(step=5, history=[{"epoch": 1.0, "loss": 0.5}], sums={"loss": 1.0}, counts={"loss": 1})
    return through_file("checkpoint.safetensors", lambda path: save(path, state, identity, model, optimizer))


def _restore(path: Path) -> tuple[Any, ...]:
    identity, model, optimizer = _training()
    state = restore(path, identity, model, optimizer)
    return state, dict(model.state_dict()), optimizer.state_dict()["state"]


def _fill(path: Path) -> None:
    store = Store(path, create=True)
    latents = np.arange(80, dtype=np.float32).reshape(20, 4)
    store.add(
        BackboneReference("a", "0123456789abcdef", 4),
        [
            Exemplar(f"cat {i % 3}", f"{i:064x}", f"{i}.png", "2020", row, picture("PNG"), row[:2] + 1)
            for i, row in enumerate(latents)
        ],
        {"method": "contrast", "views": 2},
    )
    store.close()


def _gallery() -> bytes:
    return through_file("g.gallery", _fill)


def _read_gallery(path: Path) -> tuple[Any, ...]:
    store = Store(path, create=False)
    try:
        exemplars = [vars(each) for name in store.counts() for each in store.exemplars(name)]
        hashes = [each["hash"] for each in exemplars]
        version, keys, new = store.changes(())
        return (
            store.counts(), exemplars, store.reference, store.settings(), store.holders(hashes), store.thumbnails(5),
            store.version(), version, keys, new,
        )  # fmt: skip
    finally:
        store.close()


def _with_row(damaged: bytes) -> bytes:
    """Put other values into a gallery, with the checksums that belong to them: a stranger can do that."""
    values = [*damaged.split(b"|"), b"", b"", b"", b"", b""][:5]
    texts = [each.decode("utf-8", "replace") for each in values[:3]]

    def write(path: Path) -> None:
        _fill(path)
        connection = sqlite3.connect(path)
        row = (*texts[:2], *values[3:])
        connection.execute("UPDATE exemplar SET class = ?, source = ?, latent = ?, features = ? WHERE id = 7", row)
        connection.execute("UPDATE setting SET value = ? WHERE name = 'views'", texts[2:])
        _checksums.seal_rows(connection)
        _checksums.seal_list(connection)
        connection.commit()
        connection.close()

    return through_file("g.gallery", write)


def _row() -> bytes:
    return b"cat|1.png|[2, 3]|" + np.ones(4, "<f4").tobytes() + b"|" + np.ones(2, "<f4").tobytes()


@functools.cache
def _hot_journal() -> tuple[bytes, bytes]:
    """Give a gallery and its journal as a kill in the middle of a change leaves them."""
    with_journal: list[bytes] = []

    def write(path: Path) -> None:
        _fill(path)
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA cache_size = 1")  # pages go to the file before the change is complete
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE exemplar SET latent = zeroblob(16), source = hex(randomblob(2000))")
        with_journal.extend((path.read_bytes(), path.with_name(f"{path.name}-journal").read_bytes()))
        connection.execute("ROLLBACK")
        connection.close()

    through_file("g.gallery", write)
    return with_journal[0], with_journal[1]


def _read_rolled_back(journal: Path) -> tuple[Any, ...]:
    try:
        return _read_gallery(journal.with_name("g.gallery"))
    except (ValueError, OSError) as error:
        raise ValueError(f"{journal}: {error}") from error


def _thumbnail(path: Path) -> object:
    return refused_if_none(decoded_thumbnail(path.read_bytes(), (32, 32)), path)


def _cached() -> bytes:
    with_folder = os.environ.get("COREL_CACHE")

    def write(path: Path) -> None:
        os.environ["COREL_CACHE"] = str(path.parent)
        pixels = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 4, 4, 3)
        _cache.store(Decoded(pixels, {1: "is broken"}, "key"))
        (path.parent / "images" / "key.safetensors").rename(path)

    try:
        return through_file("key.safetensors", write)
    finally:
        os.environ.pop("COREL_CACHE") if with_folder is None else os.environ.update(COREL_CACHE=with_folder)


def _load_cache(path: Path) -> object:
    os.environ["COREL_CACHE"] = str(path.parent.parent)
    found = refused_if_none(_cache.load("key", 2, 4), path)
    assert isinstance(found, Decoded)
    return found.pixels, found.broken


_ROW = resuming.row_type(3)
_IDENTITY = bytes(range(32))


def _partial() -> bytes:
    rows = np.zeros(6, _ROW)
    rows["latent"] = np.arange(18, dtype=np.float32).reshape(6, 3)
    resuming.seal_rows(rows)
    return _IDENTITY + rows.tobytes()


def _read_partial(path: Path) -> object:
    """A file that is cut or damaged gives the rows before that place, which are encoded no second time."""
    found, whole = resuming.read_rows(path, _IDENTITY, _ROW), np.frombuffer(_partial()[32:], _ROW)
    if len(found) < len(whole) and found.tobytes() == whole[: len(found)].tobytes():
        raise ValueError(f"{path} is used up to row {len(found)}")
    return found.tobytes()


OWN_FILES: dict[str, Attacked] = {
    "backbone": Attacked("b.safetensors", lambda: _saved(_backbone()), _load, (TENSORS, DOCUMENT), checked=True),
    "backbone, right checksum": Attacked(
        "b.safetensors", _document, _load, (TENSORS, DOCUMENT), dress=_with_document
    ),
    "backbone with a graph": Attacked(
        "b.safetensors", _graph_backbone, _load_graph,
        (TENSORS, "corel.encoders.graph._parsed", "corel.encoders.pretrained.start"), checked=True,
    ),
    "checkpoint": Attacked("checkpoint.safetensors", _checkpoint, _restore, (TENSORS, DOCUMENT), checked=True),
    "gallery": Attacked("g.gallery", _gallery, _read_gallery, SQLITE, checked=True),
    "gallery, right checksums": Attacked("g.gallery", _row, _read_gallery, SQLITE, dress=_with_row),
    "gallery's journal": Attacked(
        "g.gallery-journal", lambda: _hot_journal()[1], _read_rolled_back,
        (*SQLITE, "corel.gallery._journal_check._names_another"), beside=lambda: {"g.gallery": _hot_journal()[0]},
        checked=True,
    ),
    "thumbnail": Attacked(
        "a.webp", lambda: picture("WEBP"), _thumbnail, ("corel.gallery._items.decoded_thumbnail",)
    ),
    "cache of images": Attacked(
        "images/key.safetensors", _cached, _load_cache, ("corel.images._cache.load",), checked=True
    ),
    "interrupted wrap": Attacked(
        "b.partial", _partial, _read_partial, ("corel.encoders.resuming.read_rows",), checked=True
    ),
}  # fmt: skip
