"""Hostile requests to a real server: each has the status it must get, and the server goes on."""

from __future__ import annotations

import io
import json
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.serve.conftest import picture, pictures
from tests.serve.servers import Factory, Server, form

Start = Callable[..., Server]
JSON = {"Content-Type": "application/json"}
BOUNDED = {"Content-Type": "multipart/form-data; boundary=b"}


@pytest.fixture(scope="module")
def small(
    factory: Factory, encoder: Path, enrolled: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server with small limits."""
    path = tmp_path_factory.mktemp("small") / "hues.gallery"
    path.write_bytes(enrolled.read_bytes())
    limits = {
        "body_bytes": 300_000, "files": 8, "pixels": 4_000_000, "head_seconds": 1.0, "idle_seconds": 1.0,
        "grace_seconds": 2.0, "slowest_rate": 5_000.0, "waiting": 4,
    }  # fmt: skip
    server = factory.start(path, backbone=str(encoder), limits=limits).wait_until_ready()
    yield server
    assert server.classes() == {"green": 25, "red": 30}  # whatever was tried, nothing was changed
    server.kill()


def bomb(width: int, height: int) -> bytes:
    """A PNG of black pixels, a thousandth of its size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = zlib.compress(bytes((width + 1) * min(height, 1000)), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def multipart(*files: tuple[str, bytes], **fields: str | list[str]) -> tuple[bytes, dict[str, str]]:
    body, kind = form(files, **fields)
    return body, {"Content-Type": kind}


def cut(body_and_headers: tuple[bytes, dict[str, str]], at: float) -> tuple[bytes, dict[str, str]]:
    body, headers = body_and_headers
    return body[: int(len(body) * at)], headers


TRUNCATED = picture("red", 1)[1][:-200]
SCORE, ENROLL, FIND = "/v1/score", "/v1/exemplars?name=x", "/v1/find"
BAD_NAMES = ["a/b", "a\\b", " a", "a\n", "\x07", "", " ", "x" * 101, "\u202e"]

# what, method, path, body and headers, status, reason
TABLE: list[tuple[str, str, str, tuple[bytes, dict[str, str]], int, str]] = [
    ("a bomb by its header", "POST", ENROLL, multipart(("bomb.png", bomb(20_000, 20_000))), 422, "unreadable"),
    ("a bomb that is long", "POST", SCORE, multipart(("bomb.png", bomb(1, 2_000_000_000))), 422, "unreadable"),
    ("a truncated image", "POST", ENROLL, multipart(("cut.png", TRUNCATED)), 422, "unreadable"),
    ("an empty file", "POST", ENROLL, multipart(("empty.png", b"")), 422, "unreadable"),
    ("a text", "POST", ENROLL, multipart(("text.jpg", b"<script>alert(1)</script>")), 422, "unreadable"),
    ("an SVG", "POST", SCORE, multipart(("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>")), 422, "unreadable"),
    ("no file", "POST", ENROLL, multipart(), 422, "no-image"),
    ("no file but fields", "POST", SCORE, multipart(calibration="x"), 422, "no-image"),
    ("a search for nothing", "POST", FIND, multipart(picture("red", 1)), 422, "refused"),
    ("a search for two things", "POST", FIND, multipart(picture("red", 1), box="0,0,9,9", name="red"), 422, "refused"),
    ("a box of words", "POST", FIND, multipart(picture("red", 1), box="a,b,c,d"), 422, "refused"),
    ("a box outside", "POST", FIND, multipart(picture("red", 1), box="40,40,20,20"), 422, "refused"),
    ("a box of the largest numbers", "POST", FIND, multipart(picture("red", 1), box="0,0,99999999,1"), 422, "refused"),
    ("a search in no photo", "POST", FIND, multipart(box="0,0,9,9"), 422, "photos"),
    ("a search for no class", "POST", FIND, multipart(picture("red", 1), name="nobody"), 404, "class"),
    ("a search in a bomb", "POST", FIND, multipart(("bomb.png", bomb(20_000, 20_000)), name="red"), 422, "refused"),
    ("a search in a text", "POST", FIND, multipart(("a.png", b"text"), name="red"), 422, "refused"),
    ("too many files", "POST", ENROLL, multipart(*pictures("red", 9)), 413, "files"),
    ("too many fields", "POST", SCORE, multipart(hash=["a"] * 1001), 413, "fields"),
    ("a long field", "POST", SCORE, multipart(hash="a" * 2000), 413, "field"),
    ("a long body", "POST", ENROLL, multipart(("big.png", bytes(400_000))), 413, "body-bytes"),
    ("a truncated form", "POST", ENROLL, cut(multipart(picture("red", 1)), 0.7), 400, "form"),
    ("a form cut in its head", "POST", ENROLL, cut(multipart(picture("red", 1)), 0.02), 400, "form"),
    ("a form that is none", "POST", ENROLL, (b"x" * 99, BOUNDED), 400, "form"),
    ("no boundary", "POST", ENROLL, (b"x" * 99, {"Content-Type": "multipart/form-data"}), 415, "media-type"),
    ("a bare image", "POST", SCORE, (picture("red", 1)[1], {"Content-Type": "image/png"}), 415, "media-type"),
    ("no content type", "POST", SCORE, (picture("red", 1)[1], {}), 415, "media-type"),
    ("JSON in place of a form", "POST", SCORE, (b"{}", JSON), 415, "media-type"),
    ("a file in another field", "POST", SCORE, (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--b--\r\n',
        BOUNDED), 422, "field"),
    ("broken JSON", "PATCH", "/v1/classes?name=red", (b"{", JSON), 422, "invalid"),
    ("deep JSON", "PATCH", "/v1/classes?name=red", (b"[" * 100_000, JSON), 400, "http"),
    ("a wrong type", "PATCH", "/v1/classes?name=red", (b'{"name": 7}', JSON), 422, "invalid"),
    ("a class that is not there", "DELETE", "/v1/classes?name=..%2F..%2Fetc", (b"", {}), 404, "class"),
    ("no class", "GET", "/v1/exemplars", (b"", {}), 422, "invalid"),
    ("a negative page", "GET", "/v1/exemplars?name=red&offset=-1", (b"", {}), 422, "invalid"),
    ("a huge page", "GET", "/v1/exemplars?name=red&limit=1000000", (b"", {}), 422, "invalid"),
    ("a wrong hash", "DELETE", "/v1/exemplars?name=red&hash=%27%20OR%201=1", (b"", {}), 404, "hash"),
    ("a wrong undo", "POST", "/v1/exemplars/undo", (b'{"undo": "x"}', JSON), 410, "undo"),
    ("no classes to explain", "POST", "/v1/explain", multipart(picture("red", 1)), 422, "refused"),
    ("many classes to explain", "POST", "/v1/explain", multipart(picture("red", 1), name=["red"] * 9), 422, "refused"),
    ("a path out of the page", "GET", "/page/..%2f..%2f_guard.py", (b"", {}), 404, "http"),
    ("a path out of the page, plain", "GET", "/page/../_guard.py", (b"", {}), 404, "http"),
    ("another method", "PUT", "/v1/classes", (b"", {}), 405, "http"),
    ("FastAPI's own documentation", "GET", "/docs", (b"", {}), 404, "http"),
    ("a foreign host", "GET", "/v1/classes", (b"", {"Host": "evil.example"}), 421, "host"),
    ("a foreign origin", "POST", SCORE, (b"", {"Origin": "http://evil.example"}), 403, "origin"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "reason"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE]
)
def test_a_hostile_request_gets_its_answer(
    small: Server, method: str, path: str, sent: tuple[bytes, dict[str, str]], status: int, reason: str
) -> None:
    answer = small.ask(method, path, *sent)
    assert (answer.status, answer.json.get("reason")) == (status, reason), answer.body
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["status"] == status
    assert answer.json["detail"]


def test_ten_thousand_tiny_files_are_too_many(server: Server) -> None:
    """By the number of files, under the usual limits: their bytes would be allowed."""
    body, headers = multipart(*[("a", b"x")] * 10_000)
    answer = server.ask("POST", ENROLL, body, headers)
    assert (answer.status, answer.json["reason"], answer.json["limit"]) == (413, "files", 64)
    assert "x" not in server.classes()


@pytest.mark.parametrize("name", BAD_NAMES)
def test_impossible_class_names_are_refused(small: Server, name: str) -> None:
    answer = small.enroll(name, [picture("red", 1)])
    assert answer.status == 422
    assert small.send("PATCH", "/v1/classes?name=red", {"name": name}).status == 422


def test_file_names_are_shown_as_text(server: Server) -> None:
    given = ["../../etc/passwd", "<img src=x onerror=alert(1)>.png", "a\tb\x00c\x1b[31m.png", "x" * 900, "päth/ü.png"]
    content = [picture("green", 40 + i)[1] for i in range(len(given))]
    answer = server.enroll("texts", list(zip(given, content, strict=True)))
    assert answer.json["added"] == len(given)
    stored = [each["source"] for each in server.exemplars("texts")]
    assert stored[:2] == given[:2]
    assert all(name.isprintable() and len(name) <= 200 for name in stored)
    assert stored[4] == given[4]


def raw(server: Server, *pieces: bytes, wait: float = 0.0, read: float = 20.0) -> bytes:
    """Send pieces with pauses and read until the server closes; an empty answer is one too."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=read) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(wait)
            received = b""
            while chunk := connection.recv(65536):
                received += chunk
        except (BrokenPipeError, ConnectionResetError):
            return b"reset"
        return received


def test_slow_heads_and_bodies_are_closed_while_others_are_served(small: Server) -> None:
    head = f"POST {SCORE} HTTP/1.1\r\nHost: 127.0.0.1:{small.port}\r\n".encode()
    kind = b"Content-Type: multipart/form-data; boundary=b\r\n"
    part = b'--b\r\nContent-Disposition: form-data; name="images"; filename="a"\r\n\r\n'
    senders: dict[str, tuple[list[bytes], float]] = {
        "silent": ([], 0.0),
        "half a head": ([head], 0.0),
        "a header now and then": ([head, *[b"X-A: b\r\n"] * 40], 0.3),
        "a silent body": ([head + kind + b"Content-Length: 1000\r\n\r\n" + part], 0.0),
        "a dripping body": ([head + kind + b"Content-Length: 100000\r\n\r\n" + part, *[b"x" * 10] * 60], 0.2),
        "dripping chunks": (
            [head + kind + b"Transfer-Encoding: chunked\r\n\r\n", *[b"5\r\nxxxxx\r\n"] * 60], 0.2),
    }  # fmt: skip
    answers: dict[str, bytes] = {}

    def run(name: str) -> None:
        answers[name] = raw(small, *senders[name][0], wait=senders[name][1])

    threads = [threading.Thread(target=run, args=(name,)) for name in senders for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        assert small.get("/v1/classes").status == 200
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert set(answers) == set(senders)
    assert b" 408 " in answers["a silent body"].split(b"\r\n")[0]


@pytest.mark.parametrize(
    "flood",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Padding: " + b"x" * 200_000,
        b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(20_000)),
        b"GET /" + b"x" * 200_000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    ],
)
def test_a_flood_of_headers_and_nonsense_are_refused(small: Server, flood: bytes) -> None:
    received = raw(small, flood)
    assert received == b"reset" or received.startswith(b"HTTP/1.1 400")
    assert small.get("/healthz").status == 200


def test_an_endless_body_is_cut_off_while_it_streams(small: Server) -> None:
    head = (
        f"POST {ENROLL} HTTP/1.1\r\nHost: 127.0.0.1:{small.port}\r\nTransfer-Encoding: chunked\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
    ).encode()
    part = b'--b\r\nContent-Disposition: form-data; name="images"; filename="a"\r\n\r\n'
    chunk = b"%x\r\n%s\r\n" % (50_000, bytes(50_000))
    received = raw(small, head, b"%x\r\n%s\r\n" % (len(part), part), *[chunk] * 40)
    assert received.startswith(b"HTTP/1.1 413")
    assert json.loads(received.split(b"\r\n\r\n", 1)[1])["reason"] == "body-bytes"


def test_a_client_that_disconnects_does_not_block_others(small: Server) -> None:
    body, headers = multipart(*pictures("red", 8))
    head = f"POST {SCORE} HTTP/1.1\r\nHost: 127.0.0.1:{small.port}\r\nContent-Length: {len(body)}\r\n"
    head += f"Content-Type: {headers['Content-Type']}\r\n\r\n"
    for sent in (body, body[: len(body) // 2]):
        with socket.create_connection(("127.0.0.1", small.port)) as connection:
            connection.sendall(head.encode() + sent)
    assert small.post("/v1/score", [picture("red", 1)]).status == 200


def test_a_body_left_unread_does_not_reach_the_next_request(small: Server) -> None:
    """A refused request's body is no request: nothing is smuggled."""
    inner = b"DELETE /v1/classes?name=red HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % small.port
    outer = b"POST /v1/score HTTP/1.1\r\nHost: evil.example\r\nContent-Length: %d\r\n\r\n" % len(inner)
    assert raw(small, outer + inner).count(b"HTTP/1.1") == 1
    assert small.classes()["red"] == 30


def test_formats_that_run_other_programs_are_not_opened(small: Server) -> None:
    """Formats that hand a file to other programs, such as EPS to Ghostscript, are not even tried."""
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\n"
    assert small.post(SCORE, [("a.eps", eps)]).status == 422
    buffer = io.BytesIO(b"P6 2 2 255\n" + bytes(12))
    assert small.post(SCORE, [("a.ppm", buffer.getvalue())]).status == 422
