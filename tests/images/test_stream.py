"""The one road of items: whatever a person holds, in batches that are what `open` gives at once."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
import torch
from PIL import Image, features
from torch.utils.data import TensorDataset

from corel import images
from corel.images import Batch, Preparation, Rows, Skipped, in_turn, one_ahead, stream

from .conftest import Paint

HOW = Preparation(16)
COLOR = np.random.default_rng(0).integers(0, 256, (10, 16, 16, 3), dtype=np.uint8)


def gathered(batches: Iterator[Batch] | Any) -> tuple[np.ndarray, list[str], list[str], list[Skipped]]:
    found = list(batches)
    return (
        np.concatenate([batch.values for batch in found]),
        [name for batch in found for name in batch.names],
        [label for batch in found for label in batch.labels or ()],
        [each for batch in found for each in batch.skipped],
    )


def encoded(pixels: np.ndarray, kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path, paint: Paint) -> Path:
    for i in range(7):
        paint(tmp_path / "f" / ("ant" if i < 4 else "bee") / f"{i}.png", (i, 2 * i, 9))
    (tmp_path / "f" / "bee" / "5broken.png").touch()
    return tmp_path / "f"


@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_batches_are_what_open_gives_at_once(folder: Path, batch_size: int) -> None:
    whole = images.open(folder, size=16)
    values, names, labels, skipped = gathered(stream(folder, HOW, batch_size=batch_size))
    np.testing.assert_array_equal(values, whole.pixels)
    assert names == list(whole.names)
    assert labels == [whole.classes[i] for i in whole.labels]  # type: ignore[union-attr]
    assert skipped == list(whole.skipped)


SOURCES: dict[str, Any] = {
    "Pillow image": lambda: Image.fromarray(COLOR[0]),
    "bytes": lambda: encoded(COLOR[0]),
    "color tensor": lambda: torch.from_numpy(COLOR[0]).permute(2, 0, 1),
    "file object": lambda: io.BytesIO(encoded(COLOR[0])),
    "one array": lambda: COLOR[0],
    "array": lambda: COLOR[:1],
    "tensor": lambda: torch.from_numpy(COLOR[:1]).permute(0, 3, 1, 2),
    "list of images": lambda: [Image.fromarray(COLOR[0])],
    "list of bytes": lambda: [encoded(COLOR[0])],
    "list of file objects": lambda: [io.BytesIO(encoded(COLOR[0]))],
    "torch dataset": lambda: TensorDataset(torch.from_numpy(COLOR[:1])),
    "Hugging Face dataset": lambda: datasets.Dataset.from_dict(
        {"image": [Image.fromarray(COLOR[0])]}, features=datasets.Features({"image": datasets.Image()})
    ),
    "image set": lambda: images.open(COLOR[:1], size=16),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_anything_a_person_may_hold_is_a_source(kind: str) -> None:
    values, _, _, skipped = gathered(stream(SOURCES[kind](), HOW))
    np.testing.assert_array_equal(values, COLOR[:1])
    assert not skipped
    np.testing.assert_array_equal(images.open(SOURCES[kind](), size=16).pixels, COLOR[:1])


def test_paths_of_every_sort(folder: Path, tmp_path: Path) -> None:
    first, ants = folder / "ant" / "0.png", [str(folder / "ant" / f"{i}.png") for i in range(4)]
    np.save(tmp_path / "images.npy", COLOR)
    for source, names in (
        (first, ants[:1]),
        (str(folder / "ant" / "*.png"), ants),
        ([folder / "ant"], ants),
        ([str(folder / "ant" / "?.png"), first], [*ants, ants[0]]),
        (iter(ants), ants),
    ):
        assert gathered(stream(source, HOW, batch_size=3))[1] == names
    for source in (tmp_path / "images.npy", [tmp_path / "images.npy"]):
        np.testing.assert_array_equal(gathered(stream(source, HOW))[0], COLOR)
    with first.open("rb") as file:
        assert gathered(stream(file, HOW))[1] == ants[:1]  # named after its file
    with pytest.raises(FileNotFoundError, match=r"no file, folder or match for '.*/none\*\.png'"):
        images.find_files([tmp_path / "none*.png"], exist=True)


def test_images_of_several_types_in_a_list_or_an_iterator(folder: Path) -> None:
    file = folder / "ant" / "0.png"
    with Image.open(file) as opened, file.open("rb") as stored:
        items = [str(file), opened, stored, Image.fromarray(COLOR[1]), file.read_bytes()]
        values, names, _, skipped = gathered(stream(items, HOW))
        stored.seek(0)
        again = gathered(stream(iter(items), HOW, batch_size=2))
    first = gathered(stream(file, HOW))[0]
    np.testing.assert_array_equal(values, np.concatenate([first, first, first, COLOR[1:2], first]))
    np.testing.assert_array_equal(again[0], values)
    assert names == again[1] == [*[str(file)] * 3, "train/000003", "train/000004"]
    assert not skipped


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_images_with_labels_of_any_kind(kind: Any) -> None:
    pair = COLOR[[0, 1, 1]], kind(["b", "a", "a"])
    values, _, labels, _ = gathered(stream(pair, HOW))
    np.testing.assert_array_equal(values, pair[0])
    assert labels == ["b", "a", "a"]
    np.testing.assert_array_equal(images.open(pair, size=16).labels, [1, 0, 0])


def test_known_names_stream_with_their_labels() -> None:
    whole = images.open("digits", "test", size=16)
    values, names, labels, _ = gathered(stream("digits", HOW, split="test", batch_size=300))
    np.testing.assert_array_equal(values, whole.pixels)
    assert names == whole.names
    assert labels == [whole.classes[i] for i in whole.labels]  # type: ignore[union-attr]


def test_pictures_that_are_not_read_are_named_at_the_end_or_an_error(folder: Path) -> None:
    for name in ("a.svg", "b.PDF", "c.nef", "notes.txt"):
        (folder / "ant" / name).touch()
    *_, skipped = gathered(stream(folder, HOW))
    assert [each.path for each in skipped] == ["bee/5broken.png", "ant/a.svg", "ant/b.PDF", "ant/c.nef"]
    assert "is PDF, which is not read; convert it to PNG or JPEG" in skipped[2].reason
    assert skipped == list(images.open(folder, size=16).skipped)
    with pytest.raises(ValueError, match=r"3 of .* cannot be used, the first: ant/a\.svg is SVG"):
        stream(folder, HOW, strict=True)
    *_, named = gathered(stream([folder / "ant"], HOW))
    assert [Path(each.path).name for each in named] == ["a.svg", "b.PDF", "c.nef"]


def test_strict_refuses_the_first_broken_file(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"bee/5broken\.png is an empty file.*repair or remove it"):
        gathered(stream(folder, HOW, strict=True))


def test_a_source_without_a_single_image_is_an_error(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"no image could be read from .*5broken\.png"):
        gathered(stream([folder / "bee" / "5broken.png"], HOW))
    (folder / "empty").mkdir()
    with pytest.raises(ValueError, match="there is no image in"):
        stream(folder / "empty", HOW)


@pytest.mark.parametrize("kind", ["GIF", "AVIF", "HEIF"])
def test_formats_beyond_the_usual(kind: str, tmp_path: Path) -> None:
    if kind == "AVIF" and not features.check("avif"):
        pytest.skip("this Pillow reads no AVIF")
    suffix = {"HEIF": "heic"}.get(kind, kind.lower())
    red, blue = (Image.new("RGB", (64, 48), color) for color in ("red", "blue"))
    images.open(red)  # registers HEIF
    more = {"save_all": True, "append_images": [blue]} if kind == "GIF" else {}
    red.save(tmp_path / f"a.{suffix}", kind, **more)
    values, *_ = gathered(stream(tmp_path, HOW))
    assert np.abs(values.astype(int) - [255, 0, 0]).max() < 12  # the first frame


def test_heic_without_its_package_says_what_to_install(tmp_path: Path) -> None:
    images.open(Image.new("RGB", (64, 48)))
    Image.new("RGB", (64, 48), "red").save(tmp_path / "a.heic", "HEIF")
    Image.new("RGB", (64, 48), "red").save(tmp_path / "b.png")
    program = (
        "import sys; sys.modules['pillow_heif'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'pillow_heif' else find(name, *a)\n"
        "from pathlib import Path; from corel import images\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "for source in (folder, [folder / 'a.heic', folder / 'b.png'], [folder / 'a.heic', folder / 'b.png'][::-1]):\n"
        "    print(images.open(source).skipped[0].reason)\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.count("needs pillow-heif: pip install 'corel[heif]'") == 3


def test_rows_are_batches_too(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(7, 5))
    np.save(tmp_path / "rows.npy", rows)
    np.savez(tmp_path / "rows.npz", features=rows, other=rows[:1])
    for source in (rows, torch.from_numpy(rows), rows.tolist(), tmp_path / "rows.npy", [tmp_path / "rows.npz"]):
        values, names, labels, _ = gathered(stream(source, Rows(5), batch_size=3))
        np.testing.assert_array_equal(values, rows.astype(np.float32))
        assert names == [f"row {i}" for i in range(7)]
        assert not labels
    rows[6, 1] = 1e300
    with pytest.raises(ValueError, match="rows 6 are not"):
        stream(rows, Rows(5), batch_size=3)
    rows[6] = 1e-300
    with pytest.raises(ValueError, match=r"rows 6 become all zero in it: multiply all rows by a constant"):
        stream(rows, Rows(5), batch_size=3)
    with pytest.raises(ValueError, match=r"rows of 4 features, \[n, 4\], got \[7, 5\]"):
        stream(rows, Rows(4))


def test_one_batch_is_decoded_while_another_is_in_use_and_no_more() -> None:
    begun: list[int] = []
    asked = threading.Semaphore(0)

    def numbers() -> Iterator[int]:
        for i in range(5):
            begun.append(i)
            asked.release()
            yield i

    taken = []
    for number in one_ahead(numbers()):
        if number < 4:
            for _ in range(2 if not number else 1):
                assert asked.acquire(timeout=60)  # the next is begun without being asked for
        assert begun == list(range(min(number + 2, 5)))  # and the one after it is not
        taken.append(number)
    assert taken == list(range(5))


def test_an_error_while_decoding_reaches_the_consumer() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise OSError("bad sector")

    items = one_ahead(failing())
    assert next(items) == 1
    with pytest.raises(OSError, match="bad sector"):
        next(items)


def test_two_items_are_worked_on_at_a_time_and_come_in_order() -> None:
    two, begun = threading.Barrier(2, timeout=60), list[int]()  # which passes only if two items run at the same time

    def squared(number: int) -> int:
        begun.append(number)
        two.wait()
        return number * number

    results = in_turn(squared, iter(range(6)), pairs=True)
    assert next(results) == 0
    assert sorted(begun) == [0, 1]  # no more before the next is asked for
    assert list(results) == [1, 4, 9, 16, 25]


@pytest.mark.parametrize("pairs", [True, False])
def test_a_result_does_not_wait_for_the_next_item(*, pairs: bool) -> None:
    more = threading.Event()

    def slow() -> Iterator[int]:
        yield 1
        more.wait()
        yield 2

    results = in_turn(lambda item: 10 * item, slow(), pairs=pairs)
    assert next(results) == 10
    more.set()
    assert list(results) == [20]


@pytest.mark.parametrize("pairs", [True, False])
def test_an_error_in_one_item_comes_in_its_turn(*, pairs: bool) -> None:
    def inverse(number: int) -> float:
        return 1 / number

    results = in_turn(inverse, [1, 2, 0, 4], pairs=pairs)
    assert [next(results), next(results)] == [1, 0.5]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_encoded_items_are_read_in_batches_and_none_need_be_readable() -> None:
    held = {f"{i}": encoded(COLOR[i]) for i in range(4)} | {"bad": b"no image"}

    def read(name: str) -> bytes:
        if name not in held:
            raise OSError(f"no such object {name}")
        return held[name]

    names = ["0", "bad", "1", "gone", "2"]
    listing = images.EncodedListing(names, None, (), "a part", items=names, read=read, threads=2)
    values, read_names, _, skipped = gathered(stream(listing, HOW, batch_size=2))
    np.testing.assert_array_equal(values, COLOR[:3])
    assert read_names == ["0", "1", "2"]
    assert [each.path for each in skipped] == ["bad", "gone"]
    assert skipped[1].reason == "cannot be read: no such object gone"
    unreadable = images.EncodedListing(["bad"], None, (), "a part", items=[b"no image"])
    assert [(len(batch), len(batch.skipped)) for batch in stream(unreadable, HOW)] == [(0, 1)]


def test_threads_for_decoding_are_those_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()

    def read(data: bytes) -> bytes:
        seen.add(threading.current_thread().name)
        return data

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    items = [encoded(COLOR[0])] * 300
    list(stream(images.EncodedListing([*map(str, range(300))], None, (), "a part", items=items, read=read), HOW))
    assert {name.rsplit("_")[-1] for name in seen} == {"0"}  # the first thread of each batch's pool


def test_large_images_come_in_smaller_batches() -> None:
    paths = (Image.fromarray(COLOR[i % 10]) for i in range(100))
    assert [len(batch) for batch in stream(paths, Preparation(97))] == [64, 36]
    assert [len(batch) for batch in stream(iter([COLOR[0]] * 100), Preparation(96))] == [100]


def test_no_rows_are_an_error_as_no_images_are() -> None:
    with pytest.raises(images.EmptySourceError, match="has no rows; give at least one"):
        stream(np.empty((0, 3), np.float32), Rows(3))
