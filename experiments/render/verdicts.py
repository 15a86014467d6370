"""Verdicts on known images and strangers, and frames without a subject."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.sections import to_run
from experiments.render.tables import Row, markdown

STOPPED = "strangers stopped"
COLUMNS = {
    "known called stranger": "known called stranger",
    STOPPED: STOPPED,
    f"{STOPPED} by the oracle at equal false alarms": "oracle, equal false alarms",
    f"{STOPPED} by the oracle at the rate": "oracle at 5%",
    f"{STOPPED} by the former rule": "former rule",
    "coverage": "coverage",
}
SIZES_SHOWN = (10, 30, 100, 400)  # of galleries of plain surfaces; the record has more


def verdicts(records: Path = RESULTS) -> str:
    """False alarms, strangers stopped and coverage by the score of new galleries."""
    if not (records / "verdicts.json").exists():
        return to_run("verdicts")
    document = read("verdicts", records)
    default = document["config"].get("default", "contrast")
    rows: list[Row] = [
        [
            default, each["known"], each["strangers"], _exemplars(each["exemplars"]),
            *(f"{each[name]:.1%}" for name in COLUMNS), f"{each['set size']:.1f} of {each['classes']}",
        ]
        for each in document["results"]
        if each.get("score", default) == default
    ]  # fmt: skip
    heading = ["score", "known", "strangers from", "exemplars a class", *COLUMNS.values(), "classes in a set"]
    return markdown(heading, rows, text=3)


def photographs(records: Path = RESULTS) -> str:
    """Frames stopped by kind, then real images called not a photograph."""
    if not (records / "photographs.json").exists():
        return to_run("photographs")
    found = read("photographs", records)["results"]
    frames = [
        [kind, group, *(f"{shares[size]:.1%}" if size in shares else "–" for size in ("32", "224"))]
        for group in ("held out", "not claimed", "developed on")
        for kind, shares in found[group].items()
    ]
    sets: dict[str, dict[str, Any]] = {}
    for name, each in found["real images called not a photograph"].items():
        kind, _, size = name.removesuffix(" px").rpartition(", ")
        sets.setdefault(kind, {})[size] = each
    real = [
        [kind, *(f"{by[size]['share']:.2%} of {by[size]['images']:,}" if size in by else "–" for size in ("32", "224"))]
        for kind, by in sets.items()
    ]
    return "\n\n".join([
        markdown(["frames stopped", "", "32 px", "224 px"], frames, text=2),
        markdown(["real images called not a photograph", "32 px", "224 px"], real),
    ])  # fmt: skip


def plain(records: Path = RESULTS) -> str:
    """Members and frames called not a photograph by galleries of plain surfaces."""
    if not (records / "plain.json").exists():
        return to_run("plain")
    found = read("plain", records)["results"]
    names = [name for name in found[0] if name not in ("gallery of", "exemplars")]
    rows: list[Row] = [
        [each["gallery of"], str(each["exemplars"]), *(f"{each[name]:.1%}" for name in names)]
        for each in found
        if each["exemplars"] in SIZES_SHOWN
    ]
    return markdown(["gallery of", "exemplars", *names], rows)


def _exemplars(sizes: int | list[int]) -> str:
    return str(sizes) if isinstance(sizes, int) else ", ".join(map(str, sizes)) + " in turn"
