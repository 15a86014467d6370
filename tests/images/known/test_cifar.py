"""CIFAR in both official layouts gives the same images; a pickle that asks for more is refused."""

from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corel import images
from corel.images.known.cifar_pickle import unpickle
from tests.images.known.pickles import DATA, PICKLES

RNG = np.random.default_rng(0)


def names(count: int) -> list[str]:
    return [f"class_{i}" for i in range(count)]


def write_cifar10(root: Path, *, binary: bool, per_batch: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Write six batches; give pixels [n, 32, 32, 3] and labels of the five training batches."""
    folder = root / ("cifar-10-batches-bin" if binary else "cifar-10-batches-py")
    folder.mkdir(parents=True)
    rng = np.random.default_rng(1)
    pixels, labels = [], []
    for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"):
        planes = rng.integers(0, 256, (per_batch, 3, 32, 32), dtype=np.uint8)
        numbers = rng.permutation(np.arange(per_batch) % 10)
        write_batch(folder / name, planes, {"labels": numbers}, binary=binary)
        if name != "test_batch":
            pixels.append(planes.transpose(0, 2, 3, 1))
            labels.append(numbers)
    if binary:
        (folder / "batches.meta.txt").write_text("\n".join(names(10)) + "\n\n")
    else:
        (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": names(10)}, protocol=2))
    return np.concatenate(pixels), np.concatenate(labels)


def write_cifar100(root: Path, *, binary: bool, coarse_classes: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Write train and test of 100 images; give coarse and fine labels of train."""
    folder = root / ("cifar-100-binary" if binary else "cifar-100-python")
    folder.mkdir(parents=True)
    fine, coarse = np.arange(100)[::-1], np.arange(100)[::-1] % coarse_classes
    for name in ("train", "test"):
        planes = RNG.integers(0, 256, (100, 3, 32, 32), dtype=np.uint8)
        write_batch(folder / name, planes, {"coarse_labels": coarse, "fine_labels": fine}, binary=binary)
    if binary:
        (folder / "fine_label_names.txt").write_text("\n".join(names(100)))
        (folder / "coarse_label_names.txt").write_text("\n".join(names(20)))
    else:
        meta = {"fine_label_names": names(100), "coarse_label_names": names(20)}
        (folder / "meta").write_bytes(pickle.dumps(meta, protocol=2))
    return coarse, fine


def write_batch(path: Path, planes: np.ndarray, labels: dict[str, np.ndarray], *, binary: bool) -> None:
    flat = planes.reshape(len(planes), -1)
    if binary:
        columns = [numbers.astype(np.uint8)[:, None] for numbers in labels.values()]
        path.with_suffix(".bin").write_bytes(np.hstack([*columns, flat]).tobytes())
    else:
        batch: dict[str, Any] = {"data": flat, "batch_label": "a batch"}
        batch |= {name: numbers.tolist() for name, numbers in labels.items()}
        path.write_bytes(pickle.dumps(batch, protocol=2))


@pytest.mark.parametrize("binary", [True, False])
def test_cifar10(tmp_path: Path, binary: bool) -> None:
    pixels, labels = write_cifar10(tmp_path, binary=binary)
    train = images.open("cifar10", root=tmp_path)
    assert np.array_equal(train.pixels, pixels)
    assert np.array_equal(train.labels, labels)  # type: ignore[arg-type]
    assert train.classes == tuple(names(10))
    assert train.names[99] == "train/000099"
    assert len(images.open("cifar10", "val", root=tmp_path)) == 20


@pytest.mark.parametrize("binary", [True, False])
def test_coarse_and_fine_labels_of_the_same_images(tmp_path: Path, binary: bool) -> None:
    coarse, fine = write_cifar100(tmp_path, binary=binary)
    twenty, hundred = (images.open(name, root=tmp_path) for name in ("cifar20", "cifar100"))
    assert np.array_equal(twenty.pixels, hundred.pixels)
    assert (len(twenty.classes), len(hundred.classes)) == (20, 100)
    assert np.array_equal(twenty.labels, coarse)  # type: ignore[arg-type]
    assert np.array_equal(hundred.labels, fine)  # type: ignore[arg-type]


@pytest.mark.parametrize("binary", [True, False])
def test_cifar20_with_any_other_number_of_classes_is_refused(tmp_path: Path, binary: bool) -> None:
    write_cifar100(tmp_path, binary=binary, coarse_classes=100)
    with pytest.raises(ValueError, match="there are images of 100 classes, up to number 99, where 20 are expected"):
        images.open("cifar20", root=tmp_path)


def test_path_of_a_known_layout_is_recognized(tmp_path: Path) -> None:
    write_cifar10(tmp_path, binary=True)
    write_cifar100(tmp_path, binary=False)
    assert len(images.open(tmp_path / "cifar-10-batches-bin").classes) == 10
    assert len(images.open(tmp_path / "cifar-100-python").classes) == 100


def test_resized(tmp_path: Path) -> None:
    write_cifar10(tmp_path, binary=True)
    assert images.open("cifar10", root=tmp_path, size=16).pixels.shape == (100, 16, 16, 3)


def test_incomplete_files_are_named(tmp_path: Path) -> None:
    write_cifar10(tmp_path, binary=True)
    batch = tmp_path / "cifar-10-batches-bin" / "data_batch_2.bin"
    batch.write_bytes(batch.read_bytes()[:-1])
    with pytest.raises(
        ValueError, match=r"data_batch_2\.bin has 61459 bytes, not a multiple of 3073; remove \S+-bin and fetch"
    ):
        images.open("cifar10", root=tmp_path)
    batch.unlink()
    with pytest.raises(FileNotFoundError, match=r"data_batch_2\.bin is missing"):
        images.open("cifar10", root=tmp_path)


def python2_batch() -> bytes:
    """Spell out a batch as Python 2 and an old numpy wrote it: byte strings, dtype('u1', 0, 1)."""

    def text(value: bytes) -> bytes:
        return b"U" + bytes([len(value)]) + value

    data = bytes(range(12))
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n" + b"(cnumpy\nndarray\n" + b"K\x00\x85" + text(b"b") + b"tR"
        + b"(K\x01" + b"K\x03K\x04\x86"
        + b"cnumpy\ndtype\n" + b"(" + text(b"u1") + b"K\x00K\x01tR"
        + b"(K\x03" + text(b"|") + b"NNN" + b"J\xff\xff\xff\xff" * 2 + b"K\x00tb"
        + b"\x89" + text(data) + b"tb"
    )  # fmt: skip
    return b"\x80\x02}" + text(b"data") + array + b"s" + b"."


def test_python_2_pickle_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(python2_batch())
    assert np.array_equal(unpickle(tmp_path / "old")[b"data"], np.arange(12, dtype=np.uint8).reshape(3, 4))


@pytest.mark.parametrize("origin", PICKLES)
def test_batches_of_every_python_and_numpy_are_read(tmp_path: Path, origin: str) -> None:
    (tmp_path / "batch").write_bytes(PICKLES[origin])
    batch = unpickle(tmp_path / "batch")
    assert np.array_equal(batch[b"data"], DATA)
    assert batch[b"labels"] == [6, 9]
    assert batch[b"filenames"] in ([b"a.png", b"b.png"], ["a.png", "b.png"])


class Payload:
    """Pickles to a call that leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.trace,)


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_pickle_that_asks_for_anything_else_runs_nothing(tmp_path: Path, protocol: int) -> None:
    trace = tmp_path / "trace"
    (tmp_path / "batch").write_bytes(pickle.dumps({"data": Payload(trace)}, protocol=protocol))
    with pytest.raises(ValueError, match="which no image needs"):
        unpickle(tmp_path / "batch")
    assert not trace.exists()


@pytest.mark.parametrize(
    "call", [b"cos\nsystem\n", b"cbuiltins\neval\n", b"cnumpy\nload\n", b"cnumpy\nndarray.tofile\n"]
)
def test_dangerous_names_are_refused(tmp_path: Path, call: bytes) -> None:
    (tmp_path / "batch").write_bytes(call + b"(S'1'\ntR.")
    with pytest.raises(ValueError, match="it asks for"):
        unpickle(tmp_path / "batch")


@pytest.mark.parametrize("kind", [object, [("a", np.uint8), ("b", object)], np.float64])
def test_arrays_of_anything_but_bytes_are_refused(tmp_path: Path, kind: Any) -> None:
    (tmp_path / "batch").write_bytes(pickle.dumps({"data": np.zeros(3, kind)}, protocol=2))
    with pytest.raises(ValueError, match="where pixels are unsigned bytes"):
        unpickle(tmp_path / "batch")


def test_a_pickle_cannot_make_bytes_into_objects(tmp_path: Path) -> None:
    state = b"(K\x03" + b"U\x01|" + b"NNN" + b"J\xff\xff\xff\xff" * 2 + b"K\x00tb"
    forged = state.replace(b"K\x00tb", b"K\x3ftb")  # flags of a dtype of objects
    assert forged != state
    (tmp_path / "batch").write_bytes(python2_batch().replace(state, forged))
    assert np.array_equal(unpickle(tmp_path / "batch")[b"data"], np.arange(12, dtype=np.uint8).reshape(3, 4))


NDARRAY = b"cnumpy\nndarray\n"
STRAIGHT_TO_MEMORY = {
    # ndarray((1,), "O", bytearray of an address): setting its item follows that address.
    "objects over bytes": NDARRAY
    + b"(K\x01\x85X\x01\x00\x00\x00O\x96"
    + b"\x08"
    + 7 * b"\0"
    + b"A" * 8
    + b"tRK\x00Ns.",
    # ndarray((8,), "u1", bytes, offset -64) is a window before the buffer.
    "negative offset": NDARRAY + b"(K\x08\x85U\x02u1U\x08AAAAAAAAJ\xc0\xff\xff\xfftR.",
    # BUILD of a function sets its attributes for the rest of the process.
    "build of a name": b"cnumpy\ndtype\n}(U\x0c__defaults__K\x01ub.",
    "shape beyond its bytes": python2_batch().replace(b"K\x03K\x04\x86", b"K\x7fK\x7f\x86"),
    "negative shape": python2_batch().replace(b"K\x03K\x04\x86", b"J\xff\xff\xff\xffJ\xf4\xff\xff\xff\x86"),
    "array as a key": python2_batch().replace(b"U\x04data", b"N").replace(b"s.", b"q\x01h\x01h\x01s."),
    "state of another array": python2_batch().replace(b"tbs.", b"tb(K\x01K\x01\x85NNNtbs."),
}


@pytest.mark.parametrize("attack", STRAIGHT_TO_MEMORY)
def test_no_pickle_reaches_numpy(tmp_path: Path, attack: str) -> None:
    (tmp_path / "batch").write_bytes(STRAIGHT_TO_MEMORY[attack])
    with pytest.raises(ValueError, match="is not a batch of CIFAR's python version"):
        unpickle(tmp_path / "batch")


def nested_tuples(levels: int) -> bytes:
    """Give a tuple of a tuple twice, of a tuple twice, …: short to write, and hashing it takes 2^levels steps."""
    return b"}N\x85" + b"".join(b"q%ch%c\x86" % (i, i) for i in range(levels)) + b"Ns."


EXPENSIVE = {
    "memo index": b"\x80\x02}r\xff\xff\xff\x7f.",
    "hashes": nested_tuples(60),
    "deep list": b"}U\x01a" + b"(" * 100_000 + b"l" * 100_000 + b"s.",
    "lying length": b"}U\x01aT\xff\xff\xff\x7fabcs.",
    "encoded again and again": b"}U\x01a(c_codecs\nencode\nq\x00X\x00\x04\x00\x00" + b"a" * 1024
    + b"X\x06\x00\x00\x00latin1\x86q\x01R" + b"h\x00h\x01R" * 10_000 + b"ls.",
}  # fmt: skip


@pytest.mark.parametrize("attack", EXPENSIVE)
def test_a_short_pickle_takes_neither_memory_nor_time(tmp_path: Path, attack: str) -> None:
    (tmp_path / "batch").write_bytes(EXPENSIVE[attack])
    tracemalloc.start()
    try:
        assert unpickle(tmp_path / "batch") == {}  # the memo is by number, and costs what it holds
    except ValueError as error:
        assert "is not a batch of CIFAR's python version" in str(error)  # noqa: PT017
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize("entry", [None, 5, "names", [1, 2], {"data": 1}])
def test_impossible_names_and_labels_are_refused(tmp_path: Path, entry: object) -> None:
    write_cifar10(tmp_path, binary=False)
    folder = tmp_path / "cifar-10-batches-py"
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": entry}, protocol=2))
    with pytest.raises(ValueError, match=r"batches\.meta (does not name the classes|is not a batch) of CIFAR"):
        images.open("cifar10", root=tmp_path)
    batch = {"data": np.zeros((2, 3072), np.uint8), "labels": entry if entry != [1, 2] else [1, 300]}
    (folder / "test_batch").write_bytes(pickle.dumps(batch, protocol=2))
    with pytest.raises(ValueError, match="test_batch is not a batch of CIFAR"):
        images.open("cifar10", "test", root=tmp_path)


@pytest.mark.parametrize("data", [b"", b"garbage", pickle.dumps([1, 2]), pickle.dumps({"data": 1})[:-3]])
def test_a_damaged_pickle_is_a_clear_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "batch").write_bytes(data)
    with pytest.raises(ValueError, match="is not a batch of CIFAR's python version"):
        unpickle(tmp_path / "batch")


def test_batch_of_another_dataset_is_refused(tmp_path: Path) -> None:
    write_cifar10(tmp_path, binary=False)
    batch = tmp_path / "cifar-10-batches-py" / "test_batch"
    batch.write_bytes(pickle.dumps({"data": np.zeros((2, 3071), np.uint8), "labels": [0, 1]}, protocol=2))
    with pytest.raises(ValueError, match="is not a batch of CIFAR with 10 classes"):
        images.open("cifar10", "test", root=tmp_path)
