"""Small files that ask for all memory or for ever; each took gigabytes, or did not end, before it was refused."""

from __future__ import annotations

import io
import itertools
import signal
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pyarrow as arrow
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from pyarrow import parquet

from corel import images
from corel._io import arrayfile, tensorfile
from corel.backbone import Backbone
from corel.backbone._file import KIND, VERSION
from corel.encoders import graph, stock
from corel.gallery import _extent
from corel.gallery._exemplar import BackboneReference, Exemplar
from corel.gallery._store import Store
from corel.images import Preparation
from corel.scale import _source
from tests.attack.endless import make_endless
from tests.attack.own_files import _backbone
from tests.attack.pictures import picture

INDEX = "sqlite_autoindex_exemplar_1"


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    """End the test run rather than wait for ever."""
    signal.alarm(120)
    yield
    signal.alarm(0)


def _tiff(*tags: tuple[int, int, int, int]) -> bytes:
    entries = b"".join(struct.pack("<HHLL", *tag) for tag in tags)
    return (b"II*\0" + struct.pack("<LH", 8, len(tags)) + entries + bytes(4)).ljust(1000, b"\0")


GRAY = ((256, 3, 1, 16), (257, 3, 1, 16), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1), (277, 3, 1, 1))


def test_a_tile_much_larger_than_its_image() -> None:
    content = _tiff(*GRAY, (322, 4, 1, 46000), (323, 4, 1, 46000), (324, 4, 1, 1000), (325, 4, 1, 100))
    with pytest.raises(ValueError, match="tiles of 46000 × 46000 pixels"):
        images.read_photo(content + zlib.compress(bytes(10_000)).ljust(200, b"\0"))


def test_a_million_strips() -> None:
    count = 1_000_000
    content = _tiff(
        *GRAY[:1], (257, 4, 1, count), *GRAY[2:], (273, 4, count, 1000), (278, 3, 1, 1), (279, 4, count, 1000)
    )
    with pytest.raises(ValueError, match="1,000,000 strips or tiles"):
        images.read_photo(content + struct.pack("<L", 8) * count)


@pytest.mark.parametrize("options", [{}, {"compression": "tiff_lzw"}, {"big_tiff": True}])
def test_a_usual_tiff_is_read(options: dict[str, object]) -> None:
    assert images.read_photo(picture("TIFF", **options)).shape == (16, 24, 3)


def test_a_jpeg_with_hundreds_of_exif_segments() -> None:
    content = picture("JPEG")
    segment = b"\xff\xe1" + struct.pack(">H", 2 + 6 + 100) + b"Exif\0\0" + bytes(100)
    with pytest.raises(ValueError, match="more than 16 segments of EXIF"):
        images.read_photo(content[:2] + 400 * segment + content[2:])


def test_zeros_that_unpack_a_thousandfold(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (300 << 20,)})
        for _ in range(300):
            file.write(bytes(1 << 20))
    with pytest.raises(ValueError, match=r"a\.npz .* more than 100 times what it takes"):
        arrayfile.load_features(tmp_path / "a.npz")


def test_a_page_of_zeros_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path, usual = tmp_path / "a.parquet", arrow.default_memory_pool()
    watched = arrow.proxy_memory_pool(usual)
    rows = arrow.table({"bytes": arrow.array([bytes(100 << 20)], arrow.binary())})
    parquet.write_table(rows, path, compression="zstd", use_dictionary=False, write_statistics=False)
    assert path.stat().st_size < 10_000
    (part,) = _source.find_source([str(path)]).parts(2048)
    arrow.set_memory_pool(watched)
    try:
        with pytest.raises(ValueError, match=r"a\.parquet .*it says that it unpacks to 104,857,6.. bytes, more than"):
            _source.read_part(part)
    finally:
        arrow.set_memory_pool(usual)
    assert watched.max_memory() < 1 << 20


def test_a_picture_that_a_table_names_a_thousand_times(tmp_path: Path) -> None:
    column = arrow.DictionaryArray.from_arrays(np.zeros(2000, np.int32), arrow.array([bytes(500_000)], arrow.binary()))
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"bytes": column}), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 2000
    (part,) = _source.find_source([str(path)]).parts(2048)
    with pytest.raises(ValueError, match=r"a\.parquet .*2,000 rows of it unpack to more than"):
        _source.read_part(part)


def test_rows_of_a_table_across_its_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"path": [str(i) for i in range(1000)]}), path, row_group_size=300)
    found = [_source.read_part(part)["path"] for part in _source.find_source([str(path)]).parts(130)]
    assert [len(each) for each in found] == [130] * 7 + [90]
    assert [name for each in found for name in each] == [str(i) for i in range(1000)]


def test_more_rows_than_any_table_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_source, "MOST_ROWS", 999)
    parquet.write_table(arrow.table({"path": ["a"] * 1000}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="at most 999 are read"):
        _source.find_source([str(tmp_path / "a.parquet")])


def _onnx(nodes: list[onnx.NodeProto], *functions: onnx.FunctionProto, **constants: object) -> bytes:
    taken = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])
    given = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    body = helper.make_graph(nodes, "g", [taken], [given], stored)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return bytes(helper.make_model(body, functions=functions, opset_imports=sets, ir_version=8).SerializeToString())


def _mean_of(value: str) -> onnx.NodeProto:
    return helper.make_node("ReduceMean", [value], ["y"], axes=[2, 3], keepdims=0)


def test_a_value_larger_than_memory() -> None:
    node = helper.make_node("Resize", ["x", "", "scales"], ["r"], mode="nearest")
    content = _onnx([node, _mean_of("r")], scales=np.array([1, 1, 4000, 4000], np.float32))
    with pytest.raises(ValueError, match=r"3,072,000,000 of them in r"):
        graph.check(content, "a.onnx")


def test_a_graph_that_would_compute_for_hours() -> None:
    names = ["x", *(f"t{i}" for i in range(200))]
    nodes = [helper.make_node("Sin", [before], [after]) for before, after in itertools.pairwise(names[1:])]
    tile = helper.make_node("Tile", ["x", "times"], ["t0"])
    content = _onnx([tile, *nodes, _mean_of("t199")], times=np.array([1, 1, 400, 400]))
    with pytest.raises(ValueError, match="use a smaller encoder"):
        graph.check(content, "a.onnx")


def test_a_size_that_depends_on_pixels() -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["whole"], to=TensorProto.INT64),
        helper.make_node("ReduceMax", ["whole"], ["side"], keepdims=0),
        helper.make_node("Reshape", ["side", "one"], ["shape"]),
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
        helper.make_node("ReduceSum", ["zeros"], ["sum"], keepdims=0),
        helper.make_node("Add", ["x", "sum"], ["r"]),
    ]
    with pytest.raises(ValueError, match="a ConstantOfShape whose size depends on the pixels"):
        graph.check(_onnx([*nodes, _mean_of("r")], one=np.array([1])), "a.onnx")


def _function(name: str, *called: str) -> onnx.FunctionProto:
    values = ["a", *(f"v{i}" for i in range(len(called) - 1)), "b"]
    nodes = [
        helper.make_node(each, [values[i]], [values[i + 1]], domain="" if each == "Relu" else "own")
        for i, each in enumerate(called)
    ]
    return helper.make_function(
        "own", name, ["a"], ["b"], nodes, [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    )


def test_functions_that_call_each_other_without_end() -> None:
    doubled = [_function(f"f{i}", f"f{i - 1}", f"f{i - 1}") for i in range(1, 40)]
    for functions in ([_function("f0", "Relu"), *doubled], [_function("f39", "f39")]):
        content = _onnx([helper.make_node("f39", ["x"], ["r"], domain="own"), _mean_of("r")], *functions)
        with pytest.raises(ValueError, match="call each other without end"):
            graph.check(content, "a.onnx")


def test_functions_of_a_graph_are_inlined() -> None:
    functions = _function("f0", "Relu"), _function("f1", "f0", "f0")
    content = _onnx([helper.make_node("f1", ["x"], ["r"], domain="own"), _mean_of("r")], *functions)
    assert graph.check(content, "a.onnx").width == 3


def test_weights_whose_reading_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tuples in tuples, 60 deep, each named twice: hashing the outermost takes 2⁶⁰ steps."""
    monkeypatch.setattr(stock, "WEIGHTS_SECONDS", 8)
    nested = b"".join(b"q" + bytes((i,)) + b"h" + bytes((i,)) + b"\x86" for i in range(60))
    torch.save({}, tmp_path / "plain.pt")
    with zipfile.ZipFile(tmp_path / "plain.pt") as plain, zipfile.ZipFile(tmp_path / "w.pt", "w") as archive:
        for name in plain.namelist():
            pickled = name.endswith("data.pkl")
            archive.writestr(name, b"\x80\x02})" + nested + b"K\x01s." if pickled else plain.read(name))
    with pytest.raises(ValueError, match=r"w\.pt do not fit timm:any \(it takes more than 8 s"):
        stock._load_weights(torch.nn.Linear(2, 2), tmp_path / "w.pt", "any")


def test_weights_of_torch_are_read_by_another_process(tmp_path: Path) -> None:
    network, other = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    torch.save({**network.state_dict(), "classifier": torch.ones(5)}, tmp_path / "w.pt")
    stock._load_weights(other, tmp_path / "w.pt", "any")
    assert torch.equal(other.weight, network.weight)


@pytest.mark.parametrize("name", [INDEX, "checksum", "backbone", "setting", "change"])
def test_a_gallery_whose_tables_do_not_end(tmp_path: Path, name: str) -> None:
    path = tmp_path / "g.gallery"
    store = Store(path, create=True)
    rows = [Exemplar("cat", f"{i:064x}", "a.png", "2020", np.full(4, i, np.float32), None) for i in range(5)]
    store.add(BackboneReference("a", "0123456789abcdef", 4), rows, {"method": "contrast"})
    store.close()
    make_endless(path, name)
    with pytest.raises(ValueError, match=r"g\.gallery is damaged \(its rows are more than it can hold\)"):
        Store(path, create=False)


def test_latents_that_share_their_bytes(tmp_path: Path) -> None:
    """Rows of SQLite may lead to the same pages, so that together they are larger than the file."""
    rows = [("cat", bytes(600)), ("cat", bytes(600))]
    (tmp_path / "g").write_bytes(bytes(1000))
    with pytest.raises(ValueError, match="more than it can hold"):
        list(_extent.within_file(rows, tmp_path / "g"))


@pytest.mark.parametrize("preparation", [{"size": 100_000}, {"size": 8.5}, {"size": 16}, {"features": 8}])
def test_a_backbone_whose_preparation_does_not_fit_its_encoder(tmp_path: Path, preparation: dict[str, float]) -> None:
    path = tmp_path / "b.safetensors"
    _backbone().save(path)
    tensors, document = tensorfile.read(path, KIND, VERSION)
    tensorfile.write(path, KIND, VERSION, tensors, {**document, "preparation": preparation})
    with pytest.raises(ValueError, match=r"b\.safetensors is damaged or was edited"):
        Backbone.load(path)


def test_the_largest_input_of_an_encoder() -> None:
    assert Preparation(4096).size == 4096
    with pytest.raises(ValueError, match="from 1 to 4096"):
        Preparation(4097)


def test_many_scans_of_a_large_jpeg_are_refused_before_they_are_decoded() -> None:
    file = io.BytesIO()
    Image.new("L", (64, 64)).save(file, "JPEG", progressive=True)
    content = file.getvalue()
    last = content[content.rindex(b"\xff\xda") : -2]
    with pytest.raises(ValueError, match="more than 100 scans"):
        images.read_photo(content[:-2] + 120 * last + content[-2:])
