"""The README's tables: accuracy beside others, what the loss is worth, what find finds, what score prints."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments import paper
from experiments._lib.names import DATASETS
from experiments._lib.parts import results
from experiments._lib.paths import BENCHMARKS, RESULTS
from experiments._lib.record import read
from experiments.render.cells import M, trainings
from experiments.render.sections import not_run, to_run
from experiments.render.tables import Row, markdown
from experiments.render.wrapped import DEFAULTS

SHOWN = ("cifar10", "cifar20", "cifar100")
PAPERS = "tiny-imagenet"  # what the paper's encoder that ships was trained on, and the default too


def accuracy(records: Path = RESULTS) -> str:
    """One-vs-all AUC from 120 images: the paper's method, the default, a stock encoder, ADT."""
    rows: list[Row] = [
        ["the paper's encoder and score, as its authors print it", *(_authors(name) for name in SHOWN)],
        ["the same by corel (`tiny-imagenet-16x10`, count)", *(_ours(name, records) for name in SHOWN)],
        ["**corel's default encoder and score**", *(_default(name, records) for name in SHOWN)],
        *_stock(records),
        ["ADT, a network trained for each class, as published", *(_adt(name, M) for name in SHOWN)],
        ["ADT from all images of the class, as published", *(_adt(name, None) for name in SHOWN)],
    ]
    return markdown(["AUC, m = 120", *(DATASETS[name] for name in SHOWN)], rows)


def gain(records: Path = RESULTS) -> str:
    """What the connectivity loss is worth to the contrastive encoder, by what is compared."""
    if pending := not_run("benefit", records=records):
        return pending
    found = results("benefit", records)
    encoders = read("benefit", records)["config"]["encoders"]
    both = [found[f"shipped, {encoder}"]["auc"]["cifar10"] for encoder in encoders]
    ways = {
        "count, radius η known before training": "count, η",
        "count, radius read off unlabeled images": "count, 5%",
        "contrast, radius read off unlabeled images": "contrast, 5%",
        "5 nearest neighbors, no radius": "5 nearest neighbors",
    }
    rows = [[title, *(f"{each[way][str(M)]['each class']:.3f}" for each in both)] for title, way in ways.items()]
    return markdown(["AUC on CIFAR-10, m = 120", "with the loss", "without it"], rows)


def found(records: Path = RESULTS) -> str:
    """Overlap of what is found with outlines drawn by hand; of an untrained encoder the mean over its seeds."""
    if not (records / "find.json").exists():
        return to_run("find")
    measured = read("find", records)["results"]["overlap"]
    things = list(next(iter(measured.values())))
    rows = [[method, *(f"{np.mean(by[thing]):.2f}" for thing in things)] for method, by in measured.items()]
    return markdown(["intersection over union", *things], rows)


def searched() -> str:
    """Megabytes at the peak of `corel find`, by the size of the photograph."""
    if not (BENCHMARKS / "finding.json").exists():
        return "Not run yet: `python -m benchmarks.finding`."
    measured = read("finding", BENCHMARKS)["results"]
    rows = [
        [f"{size} megapixels", f"{3 * float(size):,.0f} MB", *(f"{by[out]:,.0f} MB" for out in ("boxes", "overlay"))]
        for size, by in measured.items()
    ]
    return markdown(["photograph", "decoded", "peak, boxes", "peak, overlay"], rows)


def printed(records: Path = RESULTS) -> str:
    """What `corel score` prints of some windows of the demo."""
    if not (records / "find.json").exists():
        return to_run("find")
    lines = read("find", records)["results"]["printed"]
    return "\n".join(["```text", *lines, "```"])


def _authors(evaluated: str) -> str:
    return f"{paper.cell(PAPERS, evaluated).m120:.3f}"


def _ours(evaluated: str, records: Path) -> str:
    aucs = trainings((PAPERS, evaluated), "count", M, records)
    return f"{np.mean(aucs):.3f}" if aucs else "–"


def _default(evaluated: str, records: Path) -> str:
    if not (records / "cosine.json").exists() or evaluated not in (measured := results("cosine", records)):
        return "–"
    return f"**{measured[evaluated]['cosine']:.3f}**"


def _stock(records: Path) -> list[Row]:
    """What a stock encoder brings, by the score that a new gallery takes with it; nothing until it is measured."""
    if not (records / "encoders.json").exists():
        return []
    found = results("encoders", records)
    parts = [found.get(f"lite0 → {name}") for name in SHOWN]
    aucs = [f"{part['methods'][str(M)][DEFAULTS['lite0']]['auc']:.3f}" if part else "–" for part in parts]
    return [["a stock encoder, wrapped (EfficientNet-Lite0, trained with ImageNet's labels)", *aucs]]


def _adt(evaluated: str, exemplars: int | None) -> str:
    rows = [row for row in paper.TABLE_1 if (row.evaluated, row.method) == (evaluated, "ADT")]
    return next((f"{row.auc:.2f}" for row in rows if row.exemplars == exemplars), "–")
