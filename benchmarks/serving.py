"""Serving: requests that wait together are encoded together; how much that is worth.

``python -m benchmarks.serving`` lets 16 clients ask for one image at a time and writes ``results/serving.json``:
the encode-and-score stage with requests batched and one by one, in turns in one process, and end to end over HTTP with
one client and with 16. ``--quick`` shows that everything runs.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import io
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from corel.gallery import Gallery, Scores
from corel.serve import Config
from corel.serve._memory import Prepared
from corel.serve._studio import Studio
from corel.serve._worker import Worker
from measuring.record import record

CLIENTS, TARGET = 16, 3.0
CLASSES, EXEMPLARS = 10, 60
RESULTS = Path(__file__).parent / "results"


def make_gallery(path: Path) -> None:
    """Classes of blurred noise: what is on the images does not change the time."""
    random = np.random.default_rng(0)
    with Gallery.open(path, create=True) as gallery:
        for name in range(CLASSES):
            pixels = random.integers(0, 255, (EXEMPLARS, 8, 8, 3), dtype=np.uint8)
            gallery.enroll(f"class {name}", pixels.repeat(4, 1).repeat(4, 2))


def jpegs(count: int) -> list[bytes]:
    """Photographs of 640 × 480 pixels."""
    random, files = np.random.default_rng(1), []
    for _ in range(count):
        content = io.BytesIO()
        small = Image.fromarray(random.integers(0, 255, (12, 16, 3), dtype=np.uint8))
        small.resize((640, 480), Image.Resampling.BICUBIC).save(content, "JPEG")
        files.append(content.getvalue())
    return files


def stage(studio: Studio, items: Sequence[Prepared], rounds: int, *, batched: bool) -> float:
    """Images a second of the encode-and-score stage with 16 clients, each of which waits for its answer."""
    worker: Worker[Prepared, Scores] = Worker(studio.score, waiting=1000)
    worker.start()

    async def client(item: Prepared) -> None:
        for _ in range(rounds):
            if batched:
                await worker.batch([item])
            else:
                await worker.run(lambda: studio.score([[item]]))

    async def clients() -> float:
        await worker.run(lambda: studio.score([items]))  # a new thread opens the gallery anew
        began = time.perf_counter()
        await asyncio.gather(*(client(item) for item in items))
        return len(items) * rounds / (time.perf_counter() - began)

    speed = asyncio.run(clients())
    worker.stop(10)
    return speed


def end_to_end(port: int, files: Sequence[bytes], clients: int, rounds: int) -> float:
    """Images a second over HTTP, one image a request."""

    def client(content: bytes) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        head = b'--b\r\nContent-Disposition: form-data; name="images"; filename="a.jpg"\r\n\r\n'
        for _ in range(rounds):
            body, headers = head + content + b"\r\n--b--\r\n", {"Content-Type": "multipart/form-data; boundary=b"}
            connection.request("POST", "/v1/score", body, headers)
            response = connection.getresponse()
            response.read()
            assert response.status == 200, response.status
        connection.close()

    threads = [threading.Thread(target=client, args=(files[i],)) for i in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return clients * rounds / (time.perf_counter() - began)


def measure_stage(gallery: Path, files: Sequence[bytes], turns: int, rounds: int) -> dict[str, float]:
    """Take turns, so that both meet the same machine; the median of the turns."""
    studio = Studio(Config(gallery))
    studio.open()
    items = [studio.prepare("a.jpg", io.BytesIO(content)) for content in files]
    prepared = [item for item in items if isinstance(item, Prepared)]
    found: dict[str, list[float]] = {"batched": [], "one by one": []}
    for _ in range(turns):
        for name, speeds in found.items():
            speeds.append(stage(studio, prepared, rounds, batched=name == "batched"))
    studio.close()
    return {name: statistics.median(speeds) for name, speeds in found.items()}


def measure_http(gallery: Path, files: Sequence[bytes], rounds: int) -> dict[str, float]:
    """Start a real server and ask it."""
    command = [sys.executable, "-m", "corel", "serve", str(gallery), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().split("/ (")[0].rsplit(":", 1)[1])
        while not _is_ready(port):
            time.sleep(0.2)
        found = {f"{n} clients": end_to_end(port, files, n, rounds) for n in (1, CLIENTS)}
        server.terminate()
    return found


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/readyz")
    return connection.getresponse().status == 200


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repetitions, nothing is written")
    quick = parser.parse_args().quick
    turns, rounds, began = (1, 3, time.perf_counter()) if quick else (5, 20, time.perf_counter())
    with tempfile.TemporaryDirectory() as folder:
        gallery, files = Path(folder) / "served.gallery", jpegs(CLIENTS)
        make_gallery(gallery)
        found = {"stage": measure_stage(gallery, files, turns, rounds), "http": measure_http(gallery, files, rounds)}
    ratio = found["stage"]["batched"] / found["stage"]["one by one"]
    table = Table("", "images a second")
    for part, speeds in found.items():
        for name, speed in speeds.items():
            table.add_row(f"{part}, {name}", f"{speed:,.0f}")
    console = Console()
    console.print(table, f"batched / one by one: {ratio:.1f} × (target {TARGET:g} ×)")
    if not quick:
        config = {"clients": CLIENTS, "classes": CLASSES, "exemplars": EXEMPLARS, "turns": turns, "rounds": rounds}
        results = {"images_per_second": found, "ratio": ratio}
        record("serving", config=config, results=results, seed=0, seconds=time.perf_counter() - began, folder=RESULTS)


if __name__ == "__main__":
    main()
