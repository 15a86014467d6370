"""Tables of docs/watch.md and docs/clean.md: the alarm of a watch, and the audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.tables import markdown


def alarms(folder: Path = RESULTS) -> str:
    """False alarms on real streams without a change."""
    rows = [
        [each["set"], f"{each['false alarms']:.0%}", f"{each['false alarms with a fixed bag']:.0%}"]
        for each in _results("watch", folder)
    ]
    return markdown(["images", "false alarms", "if ranked among the calibrating exemplars alone"], rows, text=1)


def delays(folder: Path = RESULTS) -> str:
    """How soon a change is noticed."""
    rows = [
        [each["set"], _change(delay["change"], each["other"]), f"{delay['noticed']:.0%}", *map(_count, _times(delay))]
        for each in _results("watch", folder)
        for delay in each["delays"]
    ]
    return markdown(["images", "change", "noticed", "after (median)", "nine of ten after"], rows, text=2)


PLANTED = {
    "among the worst 6": "among the worst 6", "among the worst 12": "among the worst 12",
    "another class or the background likelier": "likelier elsewhere", "true class named": "true class named",
    "called odd": "called odd", "right ones likelier elsewhere": "right ones likelier elsewhere",
    "right ones called odd": "right ones called odd",
}  # fmt: skip


def planted(folder: Path = RESULTS) -> str:
    """Where wrong exemplars come in the audit."""
    rows = [
        [each["set"], *(f"{each['planted'][column]:.0%}" for column in PLANTED)] for each in _results("audit", folder)
    ]
    return markdown(["images", *PLANTED.values()], rows, text=1)


def copies(folder: Path = RESULTS) -> str:
    """Which copies the audit finds."""
    found = _results("audit", folder)
    names = list(found[0]["copies"])
    rows = [
        [each["set"], *(f"{copy['found']:.0%} (+{copy['other pairs']})" for copy in each["copies"].values())]
        for each in found
    ]
    return markdown(["images", *names], rows, text=1)


def _results(name: str, folder: Path) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = read(name, folder)["results"]
    return results


def _times(delay: dict[str, Any]) -> tuple[int | None, int | None]:
    return delay["median"], delay["ninth of ten"]


def _count(images: int | None) -> str:
    return "–" if images is None else f"{images:,}"


def _change(change: str, other: str) -> str:
    return change.replace("another set", other)
