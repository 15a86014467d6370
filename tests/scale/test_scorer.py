"""The scorer is the one road: the same rows from files, bytes, vectors and latents, and an error is a row."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corel.gallery import Gallery, Packed
from corel.scale import Counts, Scorer
from corel.scale._manifest import Manifest, finish, missing, settle, write_part
from corel.scale._place import Place
from corel.scale._source import find_source, from_document, read_part, read_slices

from .conftest import BROKEN, IMAGES, local_rows, without_errors

pyarrow = pytest.importorskip("pyarrow", reason="rows are Arrow tables: pip install 'corel[parquet]'")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def files(photos: Path) -> list[str]:
    return [str(each) for each in sorted(photos.iterdir())]


def test_files_bytes_and_structs_give_the_rows_of_the_local_engine(gallery: Path, files: list[str]) -> None:
    wanted, content = local_rows(gallery, files), [Path(each).read_bytes() for each in files]
    scorer = Scorer(str(gallery))
    for batch in (
        {"path": files},
        {"path": np.array(files), "bytes": np.array(content, object)},
        {"image": [{"bytes": data, "path": name} for data, name in zip(content, files, strict=True)]},
        pyarrow.table({"bytes": content, "name": files}),
    ):
        table = scorer(batch)
        assert without_errors(table) == wanted
        assert table.column("image").to_pylist() == files  # in order, the broken one too


def test_what_cannot_be_read_is_a_row_with_its_error(gallery: Path, photos: Path) -> None:
    names = [BROKEN, "missing.jpg", "s3:/no", "nonsense://x/y.jpg"]
    table = Scorer(str(gallery), folder=str(photos))({"path": names})
    assert table.column("image").to_pylist() == names
    assert set(table.column("verdict").to_pylist()) == {"unreadable"}
    errors = table.column("error").to_pylist()
    assert table.column("note").to_pylist() == errors
    assert "is no JPEG" in errors[0]
    assert errors[1] == "cannot be read: No such file or directory"
    assert "cannot be read" in errors[3]


def test_latents_score_as_their_images_and_bad_ones_are_errors(gallery: Path, files: list[str]) -> None:
    good = [each for each in files if BROKEN not in each]
    with Gallery.open(gallery) as opened:
        latents: Any = list(opened.backbone.encode(_pixels(opened, good)))
    table = Scorer(str(gallery))(
        {"latent": [None, latents[0][:3], latents[0] * np.nan, *latents], "name": "abc" + "x" * len(good)}
    )
    rows = table.to_pylist()
    assert [row["error"] for row in rows[:3]] == [
        "has 0 numbers, not 8", "has 3 numbers, not 8", "has numbers that are not finite",
    ]  # fmt: skip
    wanted = local_rows(gallery, good)
    assert [row["score"] for row in rows[3:]] == [row["score"] for row in wanted]
    assert [row["verdict"] for row in rows[3:]] == [row["verdict"] for row in wanted]


def _pixels(opened: Gallery, files: list[str]) -> Any:
    import corel.images

    how: Any = opened.backbone.preparation
    return corel.images.open(files, preparation=how).pixels


def test_every_class_has_a_row_and_a_packed_gallery_is_the_same(gallery: Path, files: list[str]) -> None:
    with Gallery.open(gallery) as opened:
        packed = Packed.of(opened)
    table = Scorer(packed, every=True)({"path": files})
    assert without_errors(table) == local_rows(gallery, files, every=True)
    assert table.num_rows == 2 * (IMAGES - 1) + 1


def test_a_batch_without_images_is_refused(gallery: Path) -> None:
    with pytest.raises(ValueError, match=r"batch must have one of the columns latent, vector, .* got label"):
        Scorer(str(gallery))({"label": [1]})


def test_vectors_for_a_gallery_on_vectors(tmp_path: Path) -> None:
    import corel

    random = np.random.default_rng(0)
    backbone = corel.Backbone.wrap("vectors", random.normal(size=(200, 6)))
    rows = random.normal(size=(30, 6)).astype(np.float32)
    with Gallery.open(tmp_path / "v.gallery", backbone, create=True) as opened:
        opened.enroll("one", rows)
        asked = random.normal(size=(5, 6)).astype(np.float32)
        packed, wanted = Packed.of(opened), opened.score(asked).decide()
    table = Scorer(packed)({"vector": [[0.0], *asked]})
    assert table.column("error").to_pylist() == ["has 1 numbers, not 6", *[None] * 5]
    assert table.column("p_value").to_pylist()[1:] == [each.p_value for each in wanted]


def test_sources_are_listed_in_order_and_cut_into_parts(photos: Path, files: list[str], tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("\n".join(files))
    for source in (str(photos), str(photos / "*.jpg"), str(tmp_path / "names.txt")):
        found = find_source([source])
        assert found.files == files
    assert [len(part) for part in found.parts(16)] == [16, 16, 8]
    assert [name for part in found.parts(16) for name in part.files] == files
    assert found.digest != find_source([files[0]]).digest
    remote = find_source([f"file://{photos}"])
    assert remote.files == [f"file://{each}" for each in files]
    assert find_source([f"file://{photos}/0*.jpg"]).files == [f"file://{each}" for each in files[:10]]
    with pytest.raises(FileNotFoundError, match="check the path"):
        find_source([str(tmp_path / "none")])


def test_parquet_is_cut_by_rows_and_read_by_row_groups(files: list[str], tmp_path: Path) -> None:
    table = pyarrow.table({"bytes": [each.encode() for each in files], "label": list(range(IMAGES))})
    for name in ("a.parquet", "b.parquet"):
        parquet.write_table(table, tmp_path / name, row_group_size=7)
    found = find_source([str(tmp_path)])
    parts = [from_document(part.document()) for part in found.parts(16)]
    assert [part.rows for part in parts] == [(0, 16), (16, 32), (32, 40)] * 2
    read = [read_part(part) for part in parts]
    assert [each.decode() for columns in read for each in columns["bytes"]] == files * 2
    assert read[1]["name"][0] == f"{tmp_path}/a.parquet#16"
    assert "label" not in read[0]
    slices = list(read_slices(parts[1], 7))
    assert [len(columns["bytes"]) for columns in slices] == [7, 7, 2]
    assert [name for columns in slices for name in columns["name"]] == read[1]["name"]
    with pytest.raises(ValueError, match="in two runs"):
        find_source([str(tmp_path), files[0]])


def test_a_parquet_file_without_items_is_refused_before_a_run_begins(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"label": [1, 2]}), tmp_path / "labels.parquet")
    with pytest.raises(ValueError, match=r"labels\.parquet .*none of the columns latent, vector, bytes, image, path"):
        find_source([str(tmp_path / "labels.parquet")])


def test_a_manifest_refuses_another_run_and_finds_what_is_missing(gallery: Path, photos: Path, tmp_path: Path) -> None:
    source, place = find_source([str(photos)]), Place(str(tmp_path / "out"))
    run = Manifest(source.digest, len(source), "gallery", {"rate": 0.05}, 16)
    assert settle(place, run) == settle(place, run) == run
    assert settle(place, Manifest(*_changed(run, part_size=9))) == run  # it goes on as it began
    for change, said in (
        ({"source": "x", "images": 41}, r"another list of images \(40, now 41\)"),
        ({"gallery": "x"}, "another gallery"),
        ({"settings": {"rate": 0.01}}, "with rate = 0.05"),
    ):
        with pytest.raises(ValueError, match=said):
            settle(place, Manifest(*_changed(run, **change)))
    scorer, parts = Scorer(str(gallery)), list(source.parts(16))
    counts = write_part(place, parts[1], scorer(read_part(parts[1])), 1)
    assert missing(place, source, 16) == ([parts[0], parts[2]], counts)
    half = Path(place.address, parts[1].name)
    half.write_bytes(half.read_bytes()[:-20])
    assert missing(place, source, 16) == (parts, Counts())
    finish(place, counts)
    assert json.loads(Path(place.address, "_summary.json").read_text())["images"] == 16
    os.truncate(Path(place.address, "_manifest.json"), 5)
    with pytest.raises(ValueError, match="cannot be read"):
        settle(place, run)


def _changed(run: Manifest, **changes: Any) -> list[Any]:
    return list({**run.__dict__, **changes}.values())


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").touch()
    with pytest.raises(ValueError, match=r"holds thesis.doc and no run; name a new folder"):
        settle(Place(str(tmp_path)), Manifest("", 0, "", {}, 1))
