"""Images a second from JPEG files to rows: one process, Ray with one and two workers, and a plain script.

``python -m benchmarks.scale --photos DIR`` takes the first 20,000 JPEGs below DIR and writes ``results/scale.json``.
All engines have two threads in total and take turns. Startup (imports, the cluster, compiled kernels) is measured
apart: each engine scores 4,000 images and then all, and the speed is that of the difference; the fastest run of each
counts. It also shows where the time of one process goes, stage by stage, and how far the stages overlap: once they do,
the cores themselves are the slowest part, and nothing is faster than the stages' core time divided by the cores.
``--quick`` makes a few JPEGs of its own, shows that everything runs and writes nothing.
"""

from __future__ import annotations

import argparse
import io
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from pyarrow import parquet
from rich.console import Console
from rich.table import Table

from corel._io.regular import read_regular
from corel._io.rows import arrow_table
from corel.backbone import Backbone
from corel.gallery import Gallery, rows_of
from corel.images import Preparation, photographic
from corel.images._convert import decode
from corel.oneclass import compared_rows
from measuring.record import record

IMAGES, FEW, THREADS, ROUNDS, LIMIT = 20_000, 4_000, 2, 2, 1.25
CLASSES, EXEMPLARS, STAGE = 10, 120, 1024
LARGE = 100  # photographs
STAGES = ("read", "decode", "resize", "blank test", "encode", "score", "decide", "write")
RESULTS = Path(__file__).parent / "results"
LOCAL, ONE, TWO, PLAIN = "one process", "Ray, 1 worker × 2 threads", "Ray, 2 workers × 1 thread", "plain script"
# What somebody writes in an hour: one image after the other, the network in batches, distances by numpy.
SCRIPT = """
import time
from sys import argv
import numpy as np, torch
from PIL import Image
import corel
names, backbone = open(argv[1]).read().split(), corel.Backbone.load()
torch.set_num_threads(int(argv[2]))
classes = np.load(argv[3])
began = time.perf_counter()
out = open(argv[4], "w")
for start in range(0, len(names), 256):
    chunk = names[start : start + 256]
    pixels = [np.asarray(Image.open(name).convert("RGB").resize((32, 32), Image.BILINEAR)) for name in chunk]
    features = backbone.embed(np.stack(pixels)).features
    units = features / np.linalg.norm(features, axis=1, keepdims=True)
    scores = np.exp(np.einsum("nf,cmf->ncm", units, classes) / 0.1).mean(axis=2)
    for name, row in zip(chunk, scores):
        out.write(f"{name},{row.argmax()},{row.max()}\\n")
print(time.perf_counter() - began)
"""


class Took(NamedTuple):
    """What a command took: seconds, and seconds of a core (of Ray's only the command itself, not its workers)."""

    seconds: float
    core: float


def run_command(command: Sequence[str], stdin: IO[str] | None = None) -> Took:
    """Run a command to its end."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdin=stdin, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Took(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def make_jpegs(folder: Path, count: int) -> list[str]:
    """Photographs of blurred noise, 64 × 64 pixels."""
    random, names = np.random.default_rng(0), []
    for i in range(count):
        small = Image.fromarray(random.integers(0, 255, (8, 8, 3), dtype=np.uint8))
        names.append(str(folder / f"{i:06}.jpg"))
        small.resize((64, 64), Image.Resampling.BICUBIC).save(names[-1])
    return names


def make_gallery(path: Path, names: Sequence[str]) -> None:
    """Classes of whatever comes first: what is on the images does not change the time."""
    each = min(EXEMPLARS, len(names) // CLASSES)
    with Gallery.open(path, create=True) as gallery:
        for i in range(CLASSES):
            gallery.enroll(f"class {i}", list(names[i * each : (i + 1) * each]))


def run_corel(gallery: Path, names: Sequence[str], folder: Path, *options: str) -> Took:
    """Run `corel score`, with everything."""
    listed, out = folder / "names.txt", Path(tempfile.mkdtemp(dir=folder)) / "rows"
    listed.write_text("\n".join(names))
    source = ["-"] if not options else [str(listed)]
    command = [sys.executable, "-m", "corel", "score", str(gallery), *source, "--quiet", "--out", str(out)]
    with listed.open() as file:
        return run_command([*command, *(options or ("--format", "parquet"))], file)


def run_plain(gallery: Path, names: Sequence[str], folder: Path) -> Took:
    """Run the plain script."""
    listed, classes = folder / "names.txt", folder / "classes.npy"
    listed.write_text("\n".join(names))
    with Gallery.open(gallery) as opened:
        rows = np.stack([opened.compared(name) for name in opened.classes()])
    np.save(classes, rows / np.linalg.norm(rows, axis=2, keepdims=True))
    arguments = [str(listed), str(THREADS), str(classes), str(folder / "plain.csv")]
    return run_command([sys.executable, "-c", SCRIPT, *arguments])


def measure_large(names: Sequence[str]) -> dict[str, float]:
    """Core milliseconds for a photograph of 500 × 375 pixels: to decode it, and to encode it by EfficientNet-Lite0."""
    torch.set_num_threads(1)
    wrapped, encoded = Backbone.wrap("lite0", list(names[:200])), []
    for name in names[200 : 200 + LARGE]:
        file = io.BytesIO()
        Image.open(name).convert("RGB").resize((500, 375), Image.Resampling.BICUBIC).save(file, "JPEG", quality=90)
        encoded.append(file.getvalue())
    how: Any = wrapped.preparation
    decode(encoded[0], how)
    began = time.process_time()
    pixels = np.stack([decode(each, how) for each in encoded])
    decoded = time.process_time()
    wrapped.embed(pixels)
    found = {"decode": decoded - began, "encode, lite0": time.process_time() - decoded}
    return {name: 1000 * each / LARGE for name, each in found.items()}


def measure_engines(
    gallery: Path, names: Sequence[str], few: int, folder: Path, rounds: int
) -> dict[str, dict[str, float]]:
    """Startup and images a second of each engine, and seconds of the whole command for few images and for all.

    Core milliseconds an image are those of engines that are one process.
    """
    ray = ("--engine", "ray", "--part-size", str(min(2048, few // 2)))
    engines: dict[str, Callable[[Sequence[str]], Took]] = {
        LOCAL: lambda some: run_corel(gallery, some, folder),
        ONE: lambda some: run_corel(gallery, some, folder, *ray, "--workers", "1", "--threads", "2"),
        TWO: lambda some: run_corel(gallery, some, folder, *ray, "--workers", "2"),
        PLAIN: lambda some: run_plain(gallery, some, folder),
    }
    turns = [{name: (run(names[:few]), run(names)) for name, run in engines.items()} for _ in range(rounds)]
    found = {}
    for name in engines:
        short, long = (min(turn[name][which].seconds for turn in turns) for which in (0, 1))
        speed = (len(names) - few) / max(long - short, 1e-3)
        found[name] = {"images a second": speed, "startup": short - few / speed, "few": short, "all": long}
        if name in (LOCAL, PLAIN):
            less, more = (min(turn[name][which].core for turn in turns) for which in (0, 1))
            found[name]["core ms an image"] = 1000 * (more - less) / (len(names) - few)
    return found


def measure_stages(gallery: Path, names: Sequence[str]) -> tuple[dict[str, float], float]:
    """Milliseconds of a core that an image takes in each stage, by itself and with one thread; the faster of two turns.

    The second result is how long encoding, the slowest stage, takes alone with all threads.
    """
    torch.set_num_threads(1)
    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> Any:
        turns = []
        for _ in range(2):  # the first finds cold caches, and memory that is not mapped yet
            began = clock()
            result = work()
            turns.append(clock() - began)
        seconds[name] = min(turns)
        return result

    with Gallery.open(gallery) as opened:
        how: Any = opened.backbone.preparation
        first = opened.score(list(names[:64]))  # compiles and loads whatever is loaded once
        parquet.write_table(arrow_table(list(rows_of(first, first.decide(), 0.05))), io.BytesIO())
        data = timed("read", lambda: [read_regular(Path(name)) for name in names])
        timed("decode", lambda: [Image.open(io.BytesIO(each)).convert("RGB").load() for each in data])
        pixels = np.stack(timed("decode and resize", lambda: [decode(each, how) for each in data]))
        timed("blank test", lambda: photographic(pixels))
        embedded = timed("encode", lambda: opened.backbone.embed(pixels))
        rows = compared_rows(opened.method, embedded)
        scores = timed("score", lambda: opened.score_encoded(rows, names))
        table = timed("decide", lambda: arrow_table(list(rows_of(scores, scores.decide(), 0.05))))
        timed("write", lambda: parquet.write_table(table, io.BytesIO()))
        torch.set_num_threads(THREADS)
        timed("alone", lambda: opened.backbone.embed(pixels), time.perf_counter)
    seconds["resize"] = max(0.0, seconds.pop("decode and resize") - seconds["decode"])
    parts = {name: 1000 * seconds[name] / len(names) for name in STAGES}
    return parts, 1000 * seconds["alone"] / len(names)


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, help="a folder with at least 20,000 JPEGs")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of each engine (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="few images, nothing is written")
    options = parser.parse_args()
    count, few = (400, 128) if options.quick else (IMAGES, FEW)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        found = sorted(map(str, options.photos.rglob("*.[jJ][pP]*[gG]")))[:count] if options.photos else []
        names = found if len(found) == count else make_jpegs(folder, count)
        gallery = folder / "bench.gallery"
        make_gallery(gallery, names)
        stages, alone = measure_stages(gallery, names[:STAGE])
        large = measure_large(names[:400])
        engines = measure_engines(gallery, names, few, folder, options.rounds)
    shared = overlap(engines, stages, alone)
    show(engines, {**stages, **{f"{name}, 500 × 375": value for name, value in large.items()}}, shared)
    if not options.quick:
        config = {"images": count, "few": few, "threads": THREADS, "rounds": options.rounds, "photos": bool(found),
                  "classes": CLASSES, "exemplars": EXEMPLARS, "backbone": backbone_name()}  # fmt: skip
        results = {
            "engines": engines, "core milliseconds an image": stages, "core milliseconds a photograph": large,
            "milliseconds an image": shared, "overhead": overhead(engines),
        }  # fmt: skip
        record("scale", config=config, results=results, seed=0, seconds=time.perf_counter() - began, folder=RESULTS)


def backbone_name() -> str:
    """Give the beginning of the digest of the backbone in use."""
    assert isinstance(Backbone.load().preparation, Preparation)
    return Backbone.load().digest[:12]


def overhead(engines: dict[str, dict[str, float]]) -> float:
    """How many times one process's time the better of both Ray engines takes, startup excluded."""
    speeds = {name: each["images a second"] for name, each in engines.items()}
    return speeds[LOCAL] / max(speeds[ONE], speeds[TWO])


def overlap(engines: dict[str, dict[str, float]], stages: dict[str, float], alone: float) -> dict[str, float]:
    """Milliseconds an image: of one process, of a plain script, of encoding alone, and the least that is possible."""
    return {
        **{name: 1000 / engines[name]["images a second"] for name in (LOCAL, PLAIN)},
        "encoding alone": alone,
        "all stages, cores never idle": sum(stages.values()) / THREADS,
    }


def show(engines: dict[str, dict[str, float]], stages: dict[str, float], shared: dict[str, float]) -> None:
    """Print the tables."""
    speeds, parts = Table("engine", "images a second", "startup, s", "few, s"), Table("", "ms an image")
    for name, each in engines.items():
        speeds.add_row(name, f"{each['images a second']:,.0f}", f"{each['startup']:.1f}", f"{each['few']:.1f}")
    for name, value in {**{f"{name}, one core": value for name, value in stages.items()}, **shared}.items():
        parts.add_row(name, f"{value:.3f}")
    Console().print(speeds, parts, f"Ray's overhead: {overhead(engines):.2f} × (target at most {LIMIT:g} ×)")


if __name__ == "__main__":
    main()
