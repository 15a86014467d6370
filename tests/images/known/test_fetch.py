"""Fetching from a real server on this machine: cut connections, wrong bytes, archives that lead astray."""

from __future__ import annotations

import hashlib
import io
import socket
import stat
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from corel import images
from corel.images.known import download as downloading
from corel.images.known.catalog import CATALOG, Download
from corel.images.known.download import download
from corel.images.known.fetch import fetch
from corel.images.known.unpack import unpack

from .test_cifar import write_cifar10

DATA = np.random.default_rng(0).bytes(1_000_000)


class Server(ThreadingHTTPServer):
    """Serves `files`; cuts the connection after `cuts` bytes, once for each entry; may ignore ranges."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.cuts: list[int] = []
        self.ranges = True
        self.asked: list[tuple[str, str | None]] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        path, wanted = self.path.lstrip("/"), self.headers.get("Range")
        self.server.asked.append((path, wanted))
        if path not in self.server.files:
            return self.send_error(404)
        data = self.server.files[path]
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.ranges else 0
        if start >= len(data):
            return self.send_error(416)
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        stop = self.server.cuts.pop(0) if self.server.cuts else len(data)
        self.wfile.write(data[start : start + stop])
        return None

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield running
        running.shutdown()


def wanted(server: Server, data: bytes = DATA, *paths: str, file: str = "data.bin") -> Download:
    return Download(file, hashlib.md5(data).hexdigest(), tuple(server.url(path) for path in paths or (file,)))


def test_file_arrives_whole_and_is_not_asked_for_again(server: Server, tmp_path: Path) -> None:
    server.files["data.bin"] = DATA
    for _ in range(2):
        path = download(wanted(server), tmp_path / "new", progress=False)
        assert path.read_bytes() == DATA
    assert server.asked == [("data.bin", None)]
    assert [each.name for each in (tmp_path / "new").iterdir()] == ["data.bin"]


def test_cut_connection_is_resumed_where_it_broke_off(server: Server, tmp_path: Path) -> None:
    server.files["data.bin"], server.cuts = DATA, [300_000, 200_000]
    assert download(wanted(server), tmp_path, progress=False).read_bytes() == DATA
    assert server.asked == [("data.bin", None), ("data.bin", "bytes=300000-"), ("data.bin", "bytes=500000-")]


def test_part_of_an_earlier_run_is_completed(server: Server, tmp_path: Path) -> None:
    server.files["data.bin"] = DATA
    (tmp_path / "data.bin.part").write_bytes(DATA[:999_000])
    assert download(wanted(server), tmp_path, progress=False).read_bytes() == DATA
    assert server.asked == [("data.bin", "bytes=999000-")]


def test_part_that_is_whole_already_only_needs_its_checksum(server: Server, tmp_path: Path) -> None:
    server.files["data.bin"] = DATA
    (tmp_path / "data.bin.part").write_bytes(DATA)
    assert download(wanted(server), tmp_path, progress=False).read_bytes() == DATA


def test_server_without_ranges_sends_all_again(server: Server, tmp_path: Path) -> None:
    server.files["data.bin"], server.cuts, server.ranges = DATA, [300_000], False
    assert download(wanted(server), tmp_path, progress=False).read_bytes() == DATA


def test_connection_that_keeps_breaking_keeps_what_arrived(server: Server, tmp_path: Path) -> None:
    server.files["data.bin"], server.cuts = DATA, [1000] * downloading._ATTEMPTS
    with pytest.raises(ConnectionError, match="the connection broke"):
        download(wanted(server), tmp_path, progress=False)
    assert (tmp_path / "data.bin.part").read_bytes() == DATA[: 1000 * downloading._ATTEMPTS]
    assert download(wanted(server), tmp_path, progress=False).read_bytes() == DATA


def test_wrong_checksum_is_never_kept_and_a_mirror_is_asked(server: Server, tmp_path: Path) -> None:
    server.files["official"], server.files["mirror"] = DATA[::-1], DATA
    with pytest.raises(ConnectionError, match="the downloaded file does not have the MD5"):
        download(wanted(server, DATA, "official"), tmp_path, progress=False)
    assert list(tmp_path.iterdir()) == []
    path = download(wanted(server, DATA, "absent", "official", "mirror"), tmp_path, progress=False)
    assert path.read_bytes() == DATA


def test_stale_part_of_other_bytes_is_thrown_away(server: Server, tmp_path: Path) -> None:
    server.files["data.bin"] = DATA
    (tmp_path / "data.bin.part").write_bytes(b"x" * 10)
    assert download(wanted(server), tmp_path, progress=False).read_bytes() == DATA
    assert server.asked == [("data.bin", "bytes=10-"), ("data.bin", None)]


def test_file_of_the_same_name_is_not_overwritten(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"data\.bin is not the official file .*; remove it"):
        download(wanted(server), tmp_path, progress=False)
    assert (tmp_path / "data.bin").read_bytes() == b"mine"


def cifar_archive(folder: Path, *, binary: bool = True) -> bytes:
    write_cifar10(folder, binary=binary)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for entry in folder.iterdir():
            archive.add(entry, entry.name)
    return out.getvalue()


def test_fetched_dataset_opens_by_name(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.files["c.tar.gz"] = cifar_archive(tmp_path / "origin")
    server.cuts = [5000]
    offer = wanted(server, server.files["c.tar.gz"], file="c.tar.gz")
    monkeypatch.setitem(CATALOG, "cifar10", ((offer,),))
    place = fetch("cifar10", tmp_path / "data", progress=False)
    assert place == tmp_path / "data" / "cifar-10-batches-bin"
    assert len(images.open("cifar10", root=tmp_path / "data")) == 100
    asked = len(server.asked)
    assert fetch("cifar10", tmp_path / "data", progress=False) == place
    assert len(server.asked) == asked


def test_other_layout_is_fetched_where_the_first_is_out_of_reach(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["p.tar.gz"] = cifar_archive(tmp_path / "origin", binary=False)
    offers = (wanted(server, b"", file="b.tar.gz"),), (wanted(server, server.files["p.tar.gz"], file="p.tar.gz"),)
    monkeypatch.setitem(CATALOG, "cifar10", offers)
    assert fetch("cifar10", tmp_path / "data", progress=False).name == "cifar-10-batches-py"


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_without_a_network_the_message_says_what_to_do_and_doing_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = cifar_archive(tmp_path / "origin")
    url = f"http://127.0.0.1:{closed_port()}/c.tar.gz"
    monkeypatch.setitem(CATALOG, "cifar10", ((Download("c.tar.gz", hashlib.md5(data).hexdigest(), (url,)),),))
    place = tmp_path / "data"
    with pytest.raises(ConnectionError, match="could not be downloaded") as caught:
        fetch("cifar10", place, progress=False)
    assert f"download {url} elsewhere, put it into {place}, and run the same command again" in str(caught.value)
    (place / "c.tar.gz").write_bytes(data)
    assert fetch("cifar10", place, progress=False).is_dir()


def test_plain_files_are_kept_in_their_folder_and_checked_again(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
    server.files = {name: name.encode() for name in files}
    offers = [Download(f, hashlib.md5(f.encode()).hexdigest(), (server.url(f),), "fashion-mnist") for f in files]
    monkeypatch.setitem(CATALOG, "fashion-mnist", (tuple(offers),))
    place = fetch("fashion-mnist", tmp_path, progress=False)
    (place / files[1]).unlink()
    fetch("fashion-mnist", tmp_path, progress=False)
    assert sorted(each.name for each in place.iterdir()) == list(files)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("imagenet", "register at https://image-net.org"),
        ("digits", "nothing to fetch"),
        ("mnist", "choose one of cifar10"),
    ],
)
def test_what_cannot_be_fetched_says_so(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        fetch(name, tmp_path)


def test_archive_without_the_dataset_is_an_error(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["c.zip"] = zip_of({"readme": b"nothing here"})
    monkeypatch.setitem(CATALOG, "cifar10", ((wanted(server, server.files["c.zip"], file="c.zip"),),))
    with pytest.raises(ValueError, match="its archive must have changed"):
        fetch("cifar10", tmp_path, progress=False)


def zip_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tar_of(*members: tarfile.TarInfo) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return out.getvalue()


def tar_member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, link
    return member


def linked_zip() -> bytes:
    link = zipfile.ZipInfo("set/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    return out.getvalue()


GOOD = tar_member("set/good")
ESCAPES = {
    "parent.zip": zip_of({"set/good": b"1", "../outside": b"2"}),
    "deep.zip": zip_of({"set/../../outside": b"2"}),
    "absolute.zip": zip_of({"/tmp/outside": b"2"}),
    "windows.zip": zip_of({"..\\outside": b"2"}),
    "drive.zip": zip_of({"C:/outside": b"2"}),
    "link.zip": linked_zip(),
    "parent.tar.gz": tar_of(GOOD, tar_member("../outside")),
    "absolute.tar.gz": tar_of(GOOD, tar_member("/tmp/outside")),
    "symlink.tar.gz": tar_of(GOOD, tar_member("set/link", tarfile.SYMTYPE, "../.."), tar_member("set/link/outside")),
    "hardlink.tar.gz": tar_of(GOOD, tar_member("set/link", tarfile.LNKTYPE, "../../outside")),
    "device.tar.gz": tar_of(GOOD, tar_member("set/device", tarfile.CHRTYPE)),
}


@pytest.mark.parametrize("name", ESCAPES)
def test_archive_that_leads_out_of_its_folder_leaves_nothing(name: str, tmp_path: Path) -> None:
    place = tmp_path / "deep" / "place"
    place.mkdir(parents=True)
    (place / name).write_bytes(ESCAPES[name])
    with pytest.raises(ValueError, match="is not unpacked"):
        unpack(place / name, place, progress=False)
    assert [each.relative_to(tmp_path).as_posix() for each in tmp_path.rglob("*") if each.is_file()] == [
        f"deep/place/{name}"
    ]


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_good_archive_is_unpacked(name: str, tmp_path: Path) -> None:
    folder = tar_member("set/empty", tarfile.DIRTYPE)
    data = (
        zip_of({"set/deep/good": b"", "set/": b""})
        if name == "a.zip"
        else tar_of(folder, tar_member("./set/deep/good"))
    )
    (tmp_path / name).write_bytes(data)
    unpack(tmp_path / name, tmp_path, progress=False)
    assert (tmp_path / "set" / "deep" / "good").is_file()
    assert sorted(each.name for each in tmp_path.iterdir()) == [name, "set"]


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_a_damaged_archive_is_a_clear_error(name: str, tmp_path: Path) -> None:
    data = zip_of({"a": DATA}) if name == "a.zip" else cifar_archive(tmp_path / "origin")
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match="is damaged"):
        unpack(tmp_path / name, tmp_path, progress=False)


def test_folder_that_is_there_already_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "mine").write_text("kept")
    (tmp_path / "a.zip").write_bytes(zip_of({"set/other": b""}))
    with pytest.raises(FileExistsError, match="is there already but is not the whole dataset"):
        unpack(tmp_path / "a.zip", tmp_path, progress=False)
    assert [each.name for each in (tmp_path / "set").iterdir()] == ["mine"]


def test_catalog_is_well_formed() -> None:
    for offers in CATALOG.values():
        for each in (wanted for files in offers for wanted in files):
            assert len(bytes.fromhex(each.md5)) == 16
            assert all(url.endswith(f"/{each.file}") and url.startswith("http") for url in each.urls)
