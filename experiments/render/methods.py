"""Which score: the methods on test splits, the choice on folds, and what views bring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corel.oneclass import METHODS
from experiments._lib.choice import EXEMPLARS, choose, judged, takes_over
from experiments._lib.names import title
from experiments._lib.parts import results
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.sections import not_measured, section, to_run
from experiments.render.tables import Row, markdown

SHOWN = 6  # settings of the folds


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
    """AUC of the scores by number of exemplars, mean of the folds that were measured; then the best settings."""
    if not (sets := _of_encoder("default", records)):
        return to_run("cosine_folds")
    compared = [_mean_row(name, sets, "methods", name) for name in METHODS]
    tables = [each["candidates"] for each in sets]
    chosen, ordered = choose(tables), sorted(tables[0], key=lambda name: -judged(tables, name))
    tried = [_mean_row(f"**{chosen}**, chosen", sets, "candidates", chosen)]
    tried += [_mean_row(name, sets, "candidates", name) for name in ordered if name != chosen][: SHOWN - 1]
    best = max((name for name in ordered if "Ledoit" in name), key=lambda name: judged(tables, name))
    tried += [_mean_row(name, sets, "candidates", name) for name in [best] if best not in ordered[: SHOWN - 1]]
    table = markdown(["AUC on folds, by exemplars", *map(str, EXEMPLARS)], compared + tried)
    return "\n\n".join(
        [table, _from(takes_over([each["methods"] for each in sets])), *not_measured("cosine_folds", records)]
    )


def on_latents(records: Path = RESULTS) -> str:
    """The same scores on the latents of the paper's encoder."""
    if not (sets := _of_encoder("tiny-imagenet-16x10", records)):
        return to_run("cosine_folds")
    rows = [_mean_row(name, sets, "methods", name) for name in sets[0]["methods"]]
    table = markdown(["AUC on folds, by exemplars", *map(str, EXEMPLARS)], rows)
    return f"{table}\n\n{_from(takes_over([each['methods'] for each in sets]))}"


def _of_encoder(name: str, records: Path) -> list[dict[str, Any]]:
    found = results("cosine_folds", records) if (records / "cosine_folds.json").exists() else {}
    return [each for part, each in found.items() if part.endswith(f", {name}")]


def _mean_row(said: str, sets: list[dict[str, Any]], part: str, name: str) -> Row:
    return [said, *(f"{sum(each[part][name][str(m)] for each in sets) / len(sets):.3f}" for m in EXEMPLARS)]


def _from(m: int | None) -> str:
    if m is None:
        return "Cosine is below contrast at the largest m."
    return f"From m = {m} on, cosine is at least as good as contrast at every m of the table."


def copies_seen(records: Path = RESULTS) -> str:
    """Copies of test images among the auxiliary ones, and the AUC without them."""
    if not (records / "overlap.json").exists():
        return to_run("overlap")
    rows: list[Row] = []
    for name, found in results("overlap", records).items():
        counts = [str(found["exact copies"]), *map(str, found["at least"].values())]
        aucs = [f"{found[key]:.4f}" for key in ("auc", "auc without near copies")]
        rows.append([" → ".join(title(each) for each in name.split(" → ")), *counts, found["score"], *aucs])
    limits = (f"correlation ≥ {limit}" for limit in next(iter(results("overlap", records).values()))["at least"])
    near = read("overlap", records)["config"]["near"]
    heading = ["auxiliary → test images", "exact copies", *limits, "score", "AUC", f"AUC without those ≥ {near:g}"]
    return section("overlap", records, markdown(heading, rows), *not_measured("overlap", records))


def seen(records: Path = RESULTS) -> str:
    """AUC by views, on folds."""
    if not (records / "views.json").exists():
        return to_run("views")
    found, counts = results("views", records), read("views", records)["config"]["views"]
    header = [f"{title(name)}, m = {m}" for name, by in found.items() for m in by["whole"]]
    rows: list[Row] = [
        [view, str(count), *(f"{value:.3f}" for by in found.values() for value in by[view].values())]
        for view, count in counts.items()
    ]
    table = markdown(["AUC of the cosine score, on folds", "encodings", *header], rows)
    return "\n\n".join([table, *not_measured("views", records)])
