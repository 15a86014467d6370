"""What the connectivity loss brings the contrastive encoder, as a section."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments._lib.names import DATASETS, SCORES
from experiments._lib.parts import results
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.sections import not_run, section
from experiments.render.tables import markdown, signed

UNTUNED, MATCHED, QUANTILE, BEST = "radius η", "matched radius", "radius of 5%", "best radius"
NEIGHBOURS = "5 nearest neighbours"
NOTICEABLE = 0.02  # of AUC: trainings that differ in their seed alone differ by as much
WAYS = (*(f"{score}, {radius}" for score in SCORES for radius in (UNTUNED, MATCHED, QUANTILE, BEST)), NEIGHBOURS)

Measured = dict[str, Any]


def benefit(records: Path = RESULTS) -> str:
    """Contrastive encoders trained with the connectivity loss and without it: AUC, growth with m, decisions."""
    if pending := not_run("benefit", records=records):
        return pending
    config = read("benefit", records)["config"]
    shown = [part for recipe, pair in _pairs(records).items() for part in _pair_shown(config, pair, recipe)]
    return section("benefit", records, *shown)


def brings(records: Path = RESULTS) -> str:
    """What the loss brings the contrastive encoder that ships, in a paragraph; nothing until it was measured."""
    if not_run("benefit", records=records):
        return ""
    recipe, pair = next(iter(_pairs(records).items()))
    return _in_words(read("benefit", records)["config"], pair, recipe)


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


def _in_words(config: dict[str, Any], found: dict[str, Measured], recipe: str) -> str:
    dataset, m = config["evaluated"][0], str(config["decided"])
    pairs = {way: [_auc(each, dataset, way, m) for each in found.values()] for way in WAYS}
    gains = {way: shaped - free for way, (shaped, free) in pairs.items()}

    def both(way: str) -> str:
        return " and ".join(f"{auc:.3f}" for auc in pairs[way])

    rejected = [_rejected(dataset, m, "outside", each, f"contrast, {MATCHED}") for each in found.values()]
    return (
        f"The contrastive objective by its {recipe} recipe, trained once with the connectivity loss "
        f"and once without it; {DATASETS[dataset]}, m = {m}, {config['draws']} draws. At the radius η, which is known "
        f"before any training, the count has {both(f'count, {UNTUNED}')} with and without it, the contrast "
        f"{both(f'contrast, {UNTUNED}')}. At the radius that holds 5% of the background's distances, which needs no "
        f"label either, the count has {both(f'count, {QUANTILE}')}, the contrast {both(f'contrast, {QUANTILE}')}. Each "
        f"at its best radius by test AUC, the loss is worth {signed(gains[f'count, {BEST}'])} to the count and "
        f"{signed(gains[f'contrast, {BEST}'])} to the contrast; to nearest neighbours, which know no radius, "
        f"{signed(gains[NEIGHBOURS])}. Decisions at a rate of {config['rate']:.0%}, by contrast at matched radii, "
        f"reject {' and '.join(rejected)} of what is out of class. {_verdict(gains[f'contrast, {QUANTILE}'])}"
    )


def _verdict(gain: float) -> str:
    """What the loss is for, by what it adds to the default score at a radius that both encoders can know."""
    if gain >= NOTICEABLE:
        return "To the contrast, the default score, the loss brings AUC, and a radius known beforehand."
    return (
        "To the contrast, the default score, the loss brings a radius known beforehand and no AUC: "
        "a quantile of the background's distances serves it as well."
    )


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
    if way == NEIGHBOURS:
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
