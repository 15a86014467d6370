"""Objects at ``s3://`` and ``gs://``, read and written by pyarrow's own clients over HTTP.

The server is a small one of ours on the loopback address. To test with another one, give its address and an empty
bucket `photos`: ``COREL_TEST_S3=http://127.0.0.1:5000`` or ``COREL_TEST_GS=http://127.0.0.1:9000``.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corel.scale import Scorer, cluster, score
from corel.scale._manifest import Manifest, finish, missing, settle, write_part
from corel.scale._place import Place, read, resolve, split
from corel.scale._source import find_source, read_part

from ._stores import BUCKET, object_store
from .conftest import BROKEN, IMAGES, local_rows, without_errors

pyarrow = pytest.importorskip("pyarrow", reason="stores are read by pyarrow: pip install 'corel[parquet]'")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.usefixtures("one_thread")
KEY, ODD = "corel-test", "50% off, #1 für.jpg"


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    """One server for both kinds of store, in the environment as users name theirs."""
    with object_store(KEY) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", os.environ.get("COREL_TEST_S3", address))
        patch.setenv("AWS_ACCESS_KEY_ID", KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("CLOUD_STORAGE_EMULATOR_ENDPOINT", os.environ.get("COREL_TEST_GS", address))
        yield


@pytest.fixture(scope="module", params=["s3://", "gs://anonymous@"], ids=["s3", "gs"])
def bucket(request: pytest.FixtureRequest, server: None, photos: Path) -> str:
    """A folder of a bucket with the photos, one of them under a name that is no URL."""
    bucket = f"{request.param}{BUCKET}/{request.param[:2]}"
    new = Place(f"{bucket}/new")
    for file in sorted(photos.iterdir()):
        new.write(file.name, file.read_bytes())
    Place(f"{bucket}/new/more").write(ODD, (photos / "00.jpg").read_bytes())
    return bucket


def addresses(bucket: str, photos: Path) -> list[str]:
    return [f"{bucket}/new/{file.name}" for file in sorted(photos.iterdir())]


def test_folders_globs_and_lists_of_a_store(bucket: str, photos: Path) -> None:
    files, odd = addresses(bucket, photos), f"{bucket}/new/more/{ODD}"
    Place(f"{bucket}/lists").write("names.txt", "\n".join([files[3], odd]).encode())
    for source, wanted in (
        (f"{bucket}/new", [*files, odd]),
        (f"{bucket}/new/", [*files, odd]),
        (f"{bucket}/new/*.jpg", files),
        (f"{bucket}/*/0*.jpg", files[:10]),
        (f"{bucket}/**/5*.jpg", [odd]),
        (f"{bucket}/lists/names.txt", [files[3], odd]),
        (files[5], [files[5]]),
    ):
        assert find_source([source]).files == wanted
    assert read(odd) == (photos / "00.jpg").read_bytes()
    with pytest.raises(FileNotFoundError, match=r"there is no file or folder .*; check the address"):
        find_source([f"{bucket}/nothing"])


def test_photos_of_a_store_score_as_files_do(bucket: str, gallery: Path, photos: Path) -> None:
    files = addresses(bucket, photos)
    table = Scorer(str(gallery))({"path": [*files, f"{bucket}/new/none.jpg"]})
    assert table.column("image").to_pylist() == [*files, f"{bucket}/new/none.jpg"]
    rows = [{**row, "image": row["image"].replace(f"{bucket}/new", str(photos))} for row in without_errors(table)]
    assert rows[:-1] == local_rows(gallery, [str(photos)])  # which lists the folder: nobody asked for the last
    errors = table.column("error").to_pylist()
    assert errors[-1] == "cannot be read: No such file or directory"
    assert "is no JPEG" in errors[int(BROKEN[:2])]


def test_a_run_in_a_store_knows_what_is_missing(bucket: str, gallery: Path, photos: Path) -> None:
    content = io.BytesIO()
    table = pyarrow.table({"bytes": [file.read_bytes() for file in sorted(photos.iterdir())]})
    parquet.write_table(table, content, row_group_size=9)
    Place(f"{bucket}/rows").write("photos.parquet", content.getvalue())
    source, place = find_source([f"{bucket}/rows"]), Place(f"{bucket}/run")
    run = Manifest(source.digest, len(source), "gallery", {"rate": 0.05}, 16)
    assert settle(place, run) == settle(place, run) == run
    parts = list(source.parts(16))
    assert list(map(len, parts)) == [16, 16, 8]
    counts = write_part(place, parts[1], Scorer(str(gallery))(read_part(parts[1])), 1)
    assert missing(place, source, 16) == ([parts[0], parts[2]], counts)
    finish(place, counts)
    assert place.names() == {"_manifest.json", "part-000001.parquet", "_summary.json"}


def test_a_store_is_opened_once(bucket: str) -> None:
    assert resolve(f"{bucket}/new/00.jpg")[0] is resolve(f"{bucket}/run/part")[0]


def test_the_options_of_an_address_go_to_every_file(server: None, photos: Path) -> None:
    options = "?region=eu-west-1"
    assert split(f"s3://{BUCKET}/a?.jpg{options}") == (f"s3://{BUCKET}", "/a?.jpg", options)
    Place(f"s3://{BUCKET}/options").write("a.jpg", b"one")
    assert find_source([f"s3://{BUCKET}/options{options}"]).files == [f"s3://{BUCKET}/options/a.jpg{options}"]
    assert read(f"s3://{BUCKET}/options/a.jpg{options}") == b"one"
    assert resolve(f"s3://{BUCKET}/a{options}")[0].region == "eu-west-1"


@pytest.mark.skipif("COREL_TEST_S3" in os.environ, reason="not every test server checks the key")
def test_a_key_that_is_refused_is_named(server: None) -> None:
    with pytest.raises(OSError, match="ACCESS_DENIED"):
        find_source([f"s3://other:secret@{BUCKET}/new/*.jpg"])


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_cluster_reads_and_writes_a_store(server: None, gallery: Path, photos: Path) -> None:
    pytest.importorskip("ray", reason="scoring on a cluster needs Ray: pip install 'corel[ray]'")
    bucket = f"s3://{BUCKET}/ray"
    new = Place(f"{bucket}/new")
    for file in sorted(photos.iterdir()):
        new.write(file.name, file.read_bytes())
    with cluster(cpus=2) as ray:
        counts = score(gallery, f"{bucket}/new", f"{bucket}/out", part_size=16, workers=2)
    assert not ray.is_initialized()
    assert (counts.images, counts.errors) == (IMAGES, 1)
    out = Place(f"{bucket}/out")
    parts = sorted(name for name in out.names() if name.startswith("part-"))
    assert len(parts) == 3
    found: list[dict[str, Any]] = []
    for name in parts:
        with out.open(name) as file:
            found += without_errors(parquet.read_table(file))
    rows = [{**row, "image": row["image"].replace(f"{bucket}/new", str(photos))} for row in found]
    assert rows == local_rows(gallery, [str(photos)])
