"""Tables of docs/scale.md: engines, stages, many classes, and what a billion images would take."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from experiments._lib.paths import BENCHMARKS
from experiments._lib.record import read
from experiments.render.tables import markdown

LOCAL = "one process"
IMAGES, MACHINES, CORES, KILOBYTES = 1e9, 100, 32, 100
HOUR = 3600
SHIPPED, LITE0 = 384, 1280  # features


def drawn_from(*names: str) -> Callable[[Callable[..., str]], Callable[[], str]]:
    """Give a table the records of these benchmarks, or say that one has not been run."""

    def decorate(draw: Callable[..., str]) -> Callable[[], str]:
        @functools.wraps(draw)
        def table() -> str:
            for name in names:
                if not (BENCHMARKS / f"{name}.json").exists():
                    return f"Not run yet: `python -m benchmarks.{name}`."
            return draw(*(read(name, BENCHMARKS) for name in names))

        return table

    return decorate


@drawn_from("scale")
def engines(document: dict[str, Any]) -> str:
    """Images a second from JPEG files to rows, by engine."""
    found, few = document["results"]["engines"], document["config"]["few"]
    rows = [
        [name, f"{each['images a second']:,.0f}", f"{found[LOCAL]['images a second'] / each['images a second']:.2f}×",
         f"{each['core ms an image']:.2f}" if "core ms an image" in each else "–",
         f"{each['startup']:.1f} s", f"{each['few']:.1f} s", f"{each['all']:.1f} s"]
        for name, each in found.items()
    ]  # fmt: skip
    whole = [f"{count:,} images, startup included" for count in (few, document["config"]["images"])]
    return markdown(["", "images a second", "time of one process", "core ms an image", "startup", *whole], rows)


@drawn_from("scale")
def stages(document: dict[str, Any]) -> str:
    """Core milliseconds of an image in each stage."""
    found = document["results"]["core milliseconds an image"]
    return markdown(list(found), [[_digits(value) for value in found.values()]], text=0)


@drawn_from("scale")
def overlap(document: dict[str, Any]) -> str:
    """How long an image takes in one process, beside its slowest stage and beside the least that is possible."""
    found = document["results"]["milliseconds an image"]
    return markdown(list(found), [[_digits(value) for value in found.values()]], text=0)


@drawn_from("many_classes")
def class_counts(document: dict[str, Any]) -> str:
    """Memory and time by the number of classes."""
    rows = [
        [f"{int(classes):,}", f"{each['ready, s']:,.1f}", f"{each['memory, MB']:,.0f}", _digits(each["ms an image"])]
        for classes, each in document["results"]["sizes"].items()
    ]
    exemplars = document["config"]["exemplars"]
    return markdown([f"classes of {exemplars}", "core seconds to start", "megabytes", "core ms an image"], rows, text=0)


@drawn_from("many_classes")
def growth(document: dict[str, Any]) -> str:
    """The powers with which scoring grows."""
    found = document["results"]["slopes"]
    return markdown(list(found), [[f"{power:.2f}" for power in found.values()]], text=0)


@drawn_from("many_classes")
def shortlist(document: dict[str, Any]) -> str:
    """How many classes a verdict does not need, and how many of them a bound finds."""
    found = document["results"]["shortlist"]
    rows = [["not needed for the verdict", f"{found['needless']:.1%}"],
            ["proved so before they are scored", f"{found['proved needless']:.1%}"]]  # fmt: skip
    return markdown(["classes of CIFAR-100", "share"], rows)


@drawn_from("scale", "many_classes")
def billion(one: dict[str, Any], other: dict[str, Any]) -> str:
    """A billion photographs against a thousand classes, from the measured times."""
    scale, classes = one["results"], other["results"]
    photo, thousand = scale["core milliseconds a photograph"], classes["sizes"]["1000"]
    longer = (LITE0 / SHIPPED) ** classes["slopes"]["dimensions"]
    encoders = {
        "default encoder": (scale["core milliseconds an image"]["encode"], 1, 1),
        "EfficientNet-Lite0": (photo["encode, lite0"], longer, LITE0 / SHIPPED),
    }
    columns = {
        name: _plan([photo["decode"], encode, time * thousand["ms an image"]], rows * thousand["memory, MB"])
        for name, (encode, time, rows) in encoders.items()
    }
    lines = [[what, *(column[what] for column in columns.values())] for what in columns["default encoder"]]
    return markdown(["", *columns], lines)


def _plan(parts: list[float], megabytes: float) -> dict[str, str]:
    hours = sum(parts) / 1000 * IMAGES / HOUR
    elapsed = hours / (MACHINES * CORES)
    speed = IMAGES * KILOBYTES / 1e3 / MACHINES / (elapsed * HOUR)
    return {
        "decode, encode, score: core ms an image": " + ".join(map(_digits, parts)),
        "core-hours": f"{hours:,.0f}",
        f"hours on {MACHINES} machines with {CORES} cores": f"{elapsed:.1f}",
        "read, in total": f"{IMAGES * KILOBYTES / 1e9:,.0f} TB",
        "read, by each machine": f"{speed:,.0f} MB/s",
        "a worker's memory for the gallery": f"{megabytes:,.0f} MB",
    }


@drawn_from("training")
def end_to_end(document: dict[str, Any]) -> str:
    """`corel train` from JPEG files to a backbone's file, against a script."""
    found = document["results"]
    ratios = found["speed-up of each round"]
    speeds, seconds = found["images a second"], found["seconds"]
    rows = [[name, f"{speeds[name]:,.0f}", f"{seconds[name]:.1f} s"] for name in speeds]
    rows.append(["speed-up", f"{found['speed-up']:.2f}×", f"{min(ratios):.2f} to {max(ratios):.2f}×"])
    return markdown(["", "images a second", "seconds"], rows)


def _digits(value: float) -> str:
    """Two significant digits, none after the point from 10 on."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
