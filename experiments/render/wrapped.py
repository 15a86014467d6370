"""The shipped encoder beside EfficientNet-Lite0 on the same images: the table of the page on encoders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments._lib.parts import results
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.sections import not_measured, section, to_run
from experiments.render.tables import markdown

SETS = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "imagenette": "Imagenette", "clothing": "clothing"}
NAMES = {"lite0": "Lite0", "shipped": "shipped"}
NEAREST = "5-NN cosine"
DEFAULTS = {"lite0": "contrast", "shipped": "cosine"}  # the score that a new gallery takes


def wrapped(records: Path = RESULTS) -> str:
    """AUC of each score, strangers detected by the default one, and what a class takes, by encoder and set."""
    if not (records / "encoders.json").exists():
        return to_run("encoders")
    found, seen = results("encoders", records), set(read("encoders", records)["config"]["seen"])
    rows = [_row(part, each["methods"], part.rpartition(",")[0] in seen) for part, each in found.items()]
    heading = [
        "images", "encoder", "m", "contrast", "cosine", "count", NEAREST, "strangers detected at 5%", "bytes a class",
    ]  # fmt: skip
    sizes = sorted({f"{SETS[_parts(part)[1]]} {each['test images']:,}" for part, each in found.items()})
    note = f"AUC ± its standard error over draws of the exemplars. Test images: {', '.join(sizes)}."
    return section("encoders", records, markdown(heading, rows, text=2), note, *not_measured("encoders", records))


def _parts(part: str) -> tuple[str, str, str]:
    """Encoder, set and number of exemplars, from the name of a part."""
    encoder, _, rest = part.partition(" → ")
    dataset, _, m = rest.partition(", m = ")
    return encoder, dataset, m


def _row(part: str, methods: dict[str, Any], seen: bool) -> list[str]:
    encoder, dataset, m = _parts(part)
    default = methods[DEFAULTS[encoder]]
    count = "count (head)" if "count (head)" in methods else "count"
    aucs = [_auc(methods.get(name)) for name in ("contrast", "cosine", count, NEAREST)]
    name = f"{NAMES[encoder]}, seen in training" if seen else NAMES[encoder]
    return [SETS[dataset], name, m, *aucs, f"{default['strangers detected']:.1%}", f"{default['bytes a class']:,}"]


def _auc(method: dict[str, Any] | None) -> str:
    return "–" if method is None else f"{method['auc']:.3f} ± {method['auc, standard error']:.3f}"
