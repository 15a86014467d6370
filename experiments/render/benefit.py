"""What the connectivity loss brings the contrastive encoder, as a section."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments._lib.names import DATASETS, NEIGHBORS, SCORES
from experiments._lib.parts import results
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.sections import not_run, section
from experiments.render.tables import markdown

UNTUNED, MATCHED, QUANTILE, BEST = "radius η", "matched radius", "radius of 5%", "best radius"
WAYS = (*(f"{score}, {radius}" for score in SCORES for radius in (UNTUNED, MATCHED, QUANTILE, BEST)), NEIGHBORS)

Measured = dict[str, Any]


def benefit(records: Path = RESULTS) -> str:
    """Contrastive encoders trained with the connectivity loss and without it: AUC, growth with m, decisions."""
    if pending := not_run("benefit", records=records):
        return pending
    config = read("benefit", records)["config"]
    shown = [part for recipe, pair in _pairs(records).items() for part in _pair_shown(config, pair, recipe)]
    return section("benefit", records, *shown)


def _pairs(records: Path) -> dict[str, dict[str, Measured]]:
    """By recipe what was measured of each encoder, that of the shipped one first."""
    config, found = read("benefit", records)["config"], results("benefit", records)
    return {
        recipe: {encoder: found[f"{recipe}, {encoder}"] for encoder in config["encoders"]}
        for recipe in config["recipes"]
    }


def _pair_shown(config: dict[str, Any], found: dict[str, Measured], recipe: str) -> list[str]:
    """What was measured of a pair, as tables, and in words."""
    first, m = config["evaluated"][0], str(config["decided"])
    sets = {DATASETS[name]: partial(_shown_auc, name, m) for name in config["evaluated"]}
    sizes = {f"m = {size}": partial(_shown_auc, first, str(size)) for size in config["exemplars"]}
    judged = {
        "rejected in class": partial(_rejected, first, m, "inside"),
        "rejected out of class": partial(_rejected, first, m, "outside"),
        "AUC of one threshold": partial(_shown_auc, first, m, judged="one threshold"),
    }
    foreseeable = [way for way in WAYS if not way.endswith(BEST)]
    return [
        f"**The {recipe} recipe.**",
        _table(f"AUC, m = {m}", found, sets, WAYS),
        _table(f"AUC, {DATASETS[first]}", found, sizes, foreseeable),
        _table(f"{DATASETS[first]}, m = {m}, rate {config['rate']:.0%}", found, judged, foreseeable[:-1]),
    ]


def _table(
    corner: str, found: dict[str, Measured], columns: Mapping[str, Callable[[Measured, str], str]], ways: Sequence[str]
) -> str:
    """One row for each way to score; under each title one column for each encoder."""
    heading = [corner, *(f"{title}, {name}" for title in columns for name in found)]
    rows = [[way, *(show(each, way) for show in columns.values() for each in found.values())] for way in ways]
    return markdown(heading, rows)


def _shown_auc(dataset: str, m: str, each: Measured, way: str, judged: str = "each class") -> str:
    return f"{_auc(each, dataset, way, m, judged):.3f}"


def _rejected(dataset: str, m: str, side: str, each: Measured, way: str) -> str:
    return f"{each['decisions'][_recorded(each, dataset, way, m)][side]:.1%}"


def _auc(each: Measured, dataset: str, way: str, m: str, judged: str = "each class") -> float:
    value: float = each["auc"][dataset][_recorded(each, dataset, way, m)][m][judged]
    return value


def _recorded(each: Measured, dataset: str, way: str, m: str) -> str:
    """What a way is called in the record: with the loss the matched radius is η itself, the best one is looked for."""
    if way == NEIGHBORS:
        return way
    score, radius = way.split(", ")
    aucs: dict[str, Any] = each["auc"][dataset]
    if radius == BEST:
        return max(
            (name for name in aucs if name.startswith(score)), key=lambda name: float(aucs[name][m]["each class"])
        )
    matched = f"{score}, matched"
    if radius == QUANTILE:
        return f"{score}, 5%"
    return matched if radius == MATCHED and matched in aucs else f"{score}, η"
