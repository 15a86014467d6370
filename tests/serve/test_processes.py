"""A server's end and its load: it drains, it is killed, many clients come at once; no acknowledged write is lost.

``python -m pytest tests/serve/test_processes.py`` with ``COREL_LONG=1`` kills and loads many times more.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from corel.gallery import Gallery
from tests.serve.conftest import picture, pictures
from tests.serve.servers import Server, form

Start = Callable[..., Server]
LONG = os.environ.get("COREL_LONG") == "1"
KILLS = 60 if LONG else 6
CLIENTS, REQUESTS = 32, 40 if LONG else 4


def test_a_server_that_is_told_to_stop_finishes_what_runs_and_takes_on_nothing(gallery: Path, start: Start) -> None:
    server = start(gallery)
    body, kind = form(pictures("blue", 8))
    head = f"POST /v1/exemplars?name=blue HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: {kind}\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:-100])
        time.sleep(0.5)  # the request runs: its body is being read
        os.kill(server.pid, signal.SIGTERM)
        deadline = time.monotonic() + 30
        while server.get("/readyz").status != 503 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert server.get("/healthz").status == 200
        refused = server.post("/v1/score", [picture("red", 1)])
        assert (refused.status, refused.json["reason"]) == (503, "not-ready")
        connection.sendall(body[-100:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    assert server.kill(0) == 0
    with Gallery.open(gallery) as opened:
        assert opened.classes()["blue"] == 8


def test_a_request_that_never_ends_does_not_keep_the_server(gallery: Path, start: Start) -> None:
    server = start(gallery, limits={"drain_seconds": 0.5})
    head = f"POST /v1/score HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 1000\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(f"{head}Content-Type: multipart/form-data; boundary=b\r\n\r\n".encode())
        time.sleep(0.3)
        os.kill(server.pid, signal.SIGTERM)
        assert server.kill(0) == 0


def test_what_cannot_be_served_is_one_sentence(tmp_path: Path, start: Start) -> None:
    bad = tmp_path / "bad.gallery"
    bad.write_text("not a gallery")
    with pytest.raises(ValueError, match="is not a gallery"):
        start(bad, ready=False)
    with pytest.raises(ValueError, match="there is no gallery"):
        start(tmp_path / "absent.gallery", ready=False, read_only=True)


def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(gallery: Path, start: Start) -> None:
    moments = random.Random(0)
    acknowledged: Counter[str] = Counter(red=30, green=25)
    sent = 0
    for _ in range(KILLS):
        server = start(gallery)
        stop = threading.Event()

        def enroll(color: str, number: int, server: Server = server, stop: threading.Event = stop) -> None:
            while not stop.is_set():
                number += 1000
                try:
                    if server.enroll(color, [picture(color, number)]).status == 200:
                        acknowledged[color] += 1
                except (OSError, ValueError):
                    return

        threads = [threading.Thread(target=enroll, args=(color, sent + i)) for i, color in enumerate(("red", "green"))]
        sent += 1_000_000
        for thread in threads:
            thread.start()
        time.sleep(moments.uniform(0.05, 0.6))
        server.kill()
        stop.set()
        for thread in threads:
            thread.join(60)
        with sqlite3.connect(gallery) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        with Gallery.open(gallery) as opened:
            found = opened.classes()
        # One more at most for each client: it was written, and the kill came before the answer.
        for color in ("red", "green"):
            assert acknowledged[color] <= found[color] <= acknowledged[color] + 1
            acknowledged[color] = found[color]


def test_many_clients_at_once_lose_nothing_and_memory_stays(gallery: Path, start: Start) -> None:
    server = start(gallery, limits={"waiting": 16})
    answers: Counter[int] = Counter()
    added = threading.Lock(), [0]
    before = resident(server.pid)

    def client(number: int) -> None:
        for turn in range(REQUESTS):
            if (number + turn) % 4 == 0:
                answer = server.enroll("load", [picture("blue", 10_000 + 100 * number + turn)])
                with added[0]:
                    added[1][0] += answer.json["added"] if answer.status == 200 else 0
            else:
                answer = server.post("/v1/score", pictures("red", 3, 50 * number))
            answers[answer.status] += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert set(answers) <= {200, 429, 503}
    assert sum(answers.values()) == CLIENTS * REQUESTS
    assert answers[200] > 0
    assert server.classes().get("load", 0) == added[1][0]
    assert resident(server.pid) < before + 300_000  # kB: batches' buffers and threads, not requests


def resident(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
