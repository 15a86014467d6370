"""Which score: the methods on test splits, the choice on folds, and what views bring."""

from __future__ import annotations

from pathlib import Path

from experiments._lib.names import title
from experiments._lib.parts import results
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.sections import to_run
from experiments.render.tables import Row, markdown

SHOWN = 6  # settings of the folds
EXEMPLARS = ("1", "2", "5", "10", "30", "120")


def methods(records: Path = RESULTS) -> str:
    """AUC of every method on every test split, by the default encoder."""
    if not (records / "cosine.json").exists():
        return to_run("cosine")
    found = results("cosine", records)
    rows: list[Row] = [
        [f"**{name}**" if name == "cosine" else name, *(f"{by[name]:.3f}" for by in found.values())]
        for name in next(iter(found.values()))
    ]
    return markdown(["AUC", *(title(name) for name in found)], rows)


def folds(records: Path = RESULTS) -> str:
    """AUC of the scores by number of exemplars, mean of CIFAR-10's and CIFAR-100's folds; then the best settings."""
    if not (records / "cosine_folds.json").exists():
        return to_run("cosine_folds")
    found = read("cosine_folds", records)["results"]
    sets = [found[name] for name in ("cifar10", "cifar100")]

    def row(said: str, part: str, name: str) -> Row:
        return [said, *(f"{sum(each[part][name][m] for each in sets) / len(sets):.3f}" for m in EXEMPLARS)]

    compared = [row(name, "methods", name) for name in ("count", "contrast", "cosine")]
    settings = [name for name in found["judged"] if name != found["chosen"]][: SHOWN - 1]
    tried = [row(f"**{found['chosen']}**, chosen", "candidates", found["chosen"])]
    tried += [row(name, "candidates", name) for name in settings]
    return markdown(["AUC on folds, by exemplars", *EXEMPLARS], compared + tried)


def seen(records: Path = RESULTS) -> str:
    """AUC by views, on folds."""
    if not (records / "views.json").exists():
        return to_run("views")
    document = read("views", records)
    found, counts = document["results"], document["config"]["views"]
    header = [f"{title(name)}, m = {m}" for name, by in found.items() for m in by["whole"]]
    rows: list[Row] = [
        [view, str(count), *(f"{value:.3f}" for by in found.values() for value in by[view].values())]
        for view, count in counts.items()
    ]
    return markdown(["AUC of the cosine score, on folds", "encodings", *header], rows)
