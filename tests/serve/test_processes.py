"""A server's end and its load: it drains, it is killed, many clients come at once; no acknowledged write is lost.

``COREL_LONG=1 python -m pytest -s tests/serve/test_processes.py`` kills and loads many times more, and prints counts.
"""

from __future__ import annotations

import http.client
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


def test_a_stopping_server_finishes_running_requests_and_refuses_new_ones(gallery: Path, start: Start) -> None:
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


def test_a_request_that_never_ends_does_not_block_the_shutdown(gallery: Path, start: Start) -> None:
    server = start(gallery, limits={"drain_seconds": 0.5})
    head = f"POST /v1/score HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 1000\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(f"{head}Content-Type: multipart/form-data; boundary=b\r\n\r\n".encode())
        time.sleep(0.3)
        os.kill(server.pid, signal.SIGTERM)
        assert server.kill(0) == 0


def test_a_gallery_that_cannot_be_served_is_one_sentence(tmp_path: Path, start: Start) -> None:
    bad = tmp_path / "bad.gallery"
    bad.write_text("not a gallery")
    with pytest.raises(ValueError, match="is not a gallery"):
        start(bad, ready=False)
    with pytest.raises(ValueError, match="there is no gallery"):
        start(tmp_path / "absent.gallery", ready=False, read_only=True)


class Enrolling:
    """A client that enrolls one picture after the other until the server is gone."""

    def __init__(self, server: Server, color: str, number: int, acknowledged: set[str]) -> None:
        self.thread = threading.Thread(target=self._run, args=(server, color, number, acknowledged))
        self.began = threading.Event()

    def _run(self, server: Server, color: str, number: int, acknowledged: set[str]) -> None:
        while True:
            number += 1000
            try:
                answer = server.enroll(color, [picture(color, number)])
                assert answer.status == 200
                acknowledged.add(answer.json["files"][0]["hash"])
            except (OSError, ValueError, http.client.HTTPException):
                return
            self.began.set()


def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(gallery: Path, start: Start) -> None:
    moments = random.Random(0)
    with Gallery.open(gallery) as opened:
        acknowledged = {color: set(hashes) for color, hashes in opened.hashes().items()}
    before = {color: len(hashes) for color, hashes in acknowledged.items()}
    for kill in range(KILLS):
        server = start(gallery)
        clients = [
            Enrolling(server, color, 1_000_000 * (kill + 1) + i, hashes)
            for i, (color, hashes) in enumerate(acknowledged.items())
        ]
        for client in clients:
            client.thread.start()
        assert all(client.began.wait(120) for client in clients)
        time.sleep(moments.uniform(0.0, 0.5))
        server.kill()
        for client in clients:
            client.thread.join(60)
        with sqlite3.connect(gallery) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        with Gallery.open(gallery) as opened:
            found = {color: set(hashes) for color, hashes in opened.hashes().items()}
        for color, hashes in found.items():
            assert acknowledged[color] <= hashes
            # One more at most for each client: it was written, and the kill came before the answer.
            assert len(hashes) <= len(acknowledged[color]) + 1
        acknowledged = found
    print(f"{KILLS} kills, enrolled { ({color: len(found[color]) - before[color] for color in found}) }")


def test_many_clients_at_once_lose_nothing_and_memory_stays(gallery: Path, start: Start) -> None:
    server = start(gallery, limits={"waiting": 16})
    answers: Counter[int] = Counter()
    acknowledged: set[str] = set()
    memory = [resident(server.pid)]

    def client(number: int, turns: range) -> None:
        for turn in turns:
            if (number + turn) % 4 == 0:
                answer = server.enroll("load", [picture("blue", 10_000 + 100 * number + turn)])
                if answer.status == 200:
                    acknowledged.update(each["hash"] for each in answer.json["files"])
            else:
                answer = server.post("/v1/score", pictures("red", 3, 50 * number))
            answers[answer.status] += 1

    for turns in (range(REQUESTS // 2), range(REQUESTS // 2, REQUESTS)):
        threads = [threading.Thread(target=client, args=(number, turns)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(600)
        memory.append(resident(server.pid))
    print(f"answers {dict(answers)}, {len(acknowledged)} enrolled, memory {memory} kB")
    assert set(answers) <= {200, 429, 503}
    assert sum(answers.values()) == CLIENTS * REQUESTS
    assert answers[200] > 0
    with Gallery.open(gallery) as opened:
        assert set(opened.hashes().get("load", ())) == acknowledged
    assert memory[1] < memory[0] + 300_000  # kB: batches' buffers and threads, not requests
    assert memory[2] < memory[1] + 60_000  # the second half of the requests adds nothing


def resident(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
