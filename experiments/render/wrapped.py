"""The shipped encoder beside EfficientNet-Lite0 on the same images: the table of the page on encoders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments._lib.parts import results
from experiments._lib.paths import BENCHMARKS, RESULTS
from experiments._lib.record import read
from experiments.render.sections import not_measured, section, to_run
from experiments.render.tables import markdown

SETS = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "imagenette": "Imagenette", "clothing": "clothing"}
NAMES = {"lite0": "Lite0", "shipped": "shipped"}
NEAREST = "5-NN cosine"
SIZES = ("10", "30", "120")
DEFAULTS = {"lite0": "contrast", "shipped": "cosine"}  # the score that a new gallery takes
SHOWN = ("contrast", "cosine", "count", "contrast (head)", "count (head)", NEAREST, f"{NEAREST} (weighted)")
HEADING = ["images", "encoder", "m", *SHOWN, "default minus 5-NN", "strangers detected at 5%", "bytes a class"]
PIXELS = {"cifar10": 160, "cifar100": 160, "imagenette": 224, "clothing": 224}  # that Lite0 sees

ENLARGED = "224 pixels", "518 pixels"  # inputs whose memory is measured


def wrapped(records: Path = RESULTS) -> str:
    """AUC of each score, strangers detected by the default one, and what a class takes, by encoder and set."""
    if not (records / "encoders.json").exists():
        return to_run("encoders")
    found, seen = results("encoders", records), set(read("encoders", records)["config"]["seen"])
    rows = [
        _row(part, m, methods, part in seen) for part, each in found.items() for m, methods in each["methods"].items()
    ]
    sizes = sorted({f"{SETS[_parts(part)[1]]} {each['test images']:,}" for part, each in found.items()})
    note = (
        "AUC ± its standard error over draws of the exemplars; bold is the score that a new gallery takes. "
        f"Test images: {', '.join(sizes)}. A stranger is an image whose own class is left out."
    )
    return section("encoders", records, markdown(HEADING, rows, text=2), note, *not_measured("encoders", records))


def which(records: Path = RESULTS, benchmarks: Path = BENCHMARKS) -> str:
    """The default score of both encoders on each set of images, and what it costs."""
    if not (records / "encoders.json").exists():
        return to_run("encoders")
    seen, times = set(read("encoders", records)["config"]["seen"]), _milliseconds(benchmarks)
    rows = []
    for part, each in results("encoders", records).items():
        encoder, dataset = _parts(part)
        defaults = {m: methods[DEFAULTS[encoder]] for m, methods in each["methods"].items()}
        aucs = [f"{defaults[m]['auc']:.3f}" for m in SIZES]
        most, ms = defaults[SIZES[-1]], times.get((encoder, PIXELS[dataset]))
        cost = ["not measured" if ms is None else f"{ms:.1f}", f"{most['bytes a class']:,}"]
        rows.append([SETS[dataset], _name(encoder, part in seen), *aucs, f"{most['strangers detected']:.1%}", *cost])
    heading = [
        *(f"AUC, m = {m}" for m in SIZES),
        "strangers detected, m = 120",
        "ms an image",
        "bytes a class, m = 120",
    ]
    return markdown(["images", "encoder", *heading], rows, text=2)


def _milliseconds(records: Path) -> dict[tuple[str, int], float]:
    """What an image takes from its file to its latent, by encoder and the pixels of Lite0's input."""
    if not (records / "photographs.json").exists():
        return {}
    found = read("photographs", records)["results"]
    lite0 = {("lite0", pixels): found[f"lite0, {pixels} pixels"] for pixels in set(PIXELS.values())}
    return lite0 | {("shipped", pixels): found["shipped"] for pixels in set(PIXELS.values())}


def layers(records: Path = RESULTS) -> str:
    """Mean AUC on folds of train images, by layers, shrinkage and score."""
    if not (records / "encoder_folds.json").exists():
        return to_run("encoder_folds")
    found = read("encoder_folds", records)["results"]
    sets = list(next(iter(found["auc"].values())))
    heading = [f"{SETS[name]}, m = {m}" for name in sets for m in next(iter(found["auc"].values()))[name]]
    ranked = sorted(found["auc"].items(), key=lambda each: -found["mean"][each[0]])
    rows = [
        [name, *(f"{auc:.3f}" for each in sets for auc in by[each].values()), f"{found['mean'][name]:.4f}"]
        for name, by in ranked
    ]
    return section("encoder_folds", records, markdown(["layers: score", *heading, "mean"], rows, text=1))


def backgrounds(records: Path = RESULTS) -> str:
    """Mean AUC of the default score on folds of train images, by the background of the encoder."""
    if not (records / "encoder_folds.json").exists():
        return to_run("encoder_folds")
    found = read("encoder_folds", records)["results"]["backgrounds"]
    rows = [
        [SETS[name], background, *(f"{auc:.4f}" for auc in aucs.values())]
        for name, by in found.items()
        for background, aucs in by.items()
    ]
    return markdown(["images", "background", "m = 10", "m = 30", "m = 120 (clothing: 80)"], rows, text=2)


def embeddings(records: Path = RESULTS) -> str:
    """What heads leave of a good encoder's vectors."""
    if not (records / "embeddings.json").exists():
        return to_run("embeddings")
    found = read("embeddings", records)["results"].items()
    rows = [[name, f"{row['auc']:.3f}", f"{row['top-1']:.1%}", f"{row['numbers']:,}"] for name, row in found]
    return section("embeddings", records, markdown(["what is scored", "AUC", "top-1", "numbers an item"], rows, text=1))


def memory(records: Path = BENCHMARKS) -> str:
    """The peak of a process that enrolls few and many photos, by size of the encoder's input."""
    command = "`python -m benchmarks.photographs --photos DIR --memory`"
    if not (records / "memory.json").exists():
        return f"Not run yet: {command}."
    found = read("memory", records)["results"]
    rows = [
        [size, *(f"{each['megabytes at the peak']:,.0f} MB" for each in by_count.values())]
        for size, by_count in found.items()
    ]
    counts = [f"{int(count):,} photos" for count in next(iter(found.values()))]
    missing = [size for size in ENLARGED if size not in found]
    note = [f"Not yet measured at {' and '.join(missing)}: {command}."] if missing else []
    return "\n\n".join([markdown(["input", *counts], rows, text=1).strip(), *note])


def _parts(part: str) -> tuple[str, str]:
    """Encoder and set, from the name of a part."""
    encoder, _, dataset = part.partition(" → ")
    return encoder, dataset


def _row(part: str, m: str, methods: dict[str, Any], seen: bool) -> list[str]:
    encoder, dataset = _parts(part)
    default = methods[DEFAULTS[encoder]]
    aucs = [_auc(methods.get(name), bold=name == DEFAULTS[encoder]) for name in SHOWN]
    above = f"{default[f'above {NEAREST}']:+.3f} ± {default[f'above {NEAREST}, standard error']:.3f}"
    rest = [above, f"{default['strangers detected']:.1%}", f"{default['bytes a class']:,}"]
    return [SETS[dataset], _name(encoder, seen), m, *aucs, *rest]


def _name(encoder: str, seen: bool) -> str:
    return f"{NAMES[encoder]}, seen in training" if seen else NAMES[encoder]


def _auc(method: dict[str, Any] | None, *, bold: bool) -> str:
    if method is None:
        return "–"
    value = f"{method['auc']:.3f}"
    return f"{f'**{value}**' if bold else value} ± {method['auc, standard error']:.3f}"
