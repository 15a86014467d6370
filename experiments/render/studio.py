"""Tables of the studio, drawn from the benchmarks' committed JSON."""

from __future__ import annotations

from experiments._lib.paths import BENCHMARKS
from experiments._lib.record import read
from experiments.render.tables import markdown


def studio() -> str:
    """What a person waits for on a large gallery."""
    found = read("studio", BENCHMARKS)
    size = found["config"]["classes"], found["config"]["classes"] * found["config"]["exemplars of each class"]
    rows = [[name.rpartition(", ")[0], _time(name, value)] for name, value in found["results"].items()]
    return markdown(["{:,} classes, {:,} exemplars".format(*size), "takes"], rows)


def serving() -> str:
    """Images a second of one client and of many, with requests encoded together and one by one."""
    found = read("serving", BENCHMARKS)
    clients, speeds = found["config"]["clients"], found["results"]["images_per_second"]
    rows = [
        [f"encode and score, {clients} clients, one by one", f"{speeds['stage']['one by one']:.0f}"],
        [f"encode and score, {clients} clients, together", f"{speeds['stage']['batched']:.0f}"],
        *([f"over HTTP, {name.removesuffix('s') if name.startswith('1 ') else name}", f"{speed:.0f}"]
          for name, speed in speeds["http"].items()),
    ]  # fmt: skip
    return markdown(["", "images a second"], rows)


def _time(name: str, value: float) -> str:
    return f"{value:.0f} ms" if name.endswith(", ms") else f"{value:.1f} s"
