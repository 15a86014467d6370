"""Table 1 of the paper beside what was measured here: ours, the baselines, and what was not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import paper
from experiments._lib.baselines import ORACLE, OURS, PUBLISHED, summarize, wider_part
from experiments._lib.names import DATASETS, SCORES
from experiments._lib.parts import is_complete, results
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.cells import trainings
from experiments.render.sections import not_run, section, to_run
from experiments.render.tables import Row, markdown, signed

ADT_120 = next(r.auc for r in paper.TABLE_1 if (r.evaluated, r.method, r.exemplars) == ("cifar10", "ADT", 120))
CONTRASTIVE = "tiny-imagenet-contrastive-16x10"
ENCODERS = {
    "cifar100-16x10": DATASETS["cifar100"],
    "cifar10-16x10": DATASETS["cifar10"],
    "tiny-imagenet-16x10": DATASETS["tiny-imagenet"],
    CONTRASTIVE: f"{DATASETS['tiny-imagenet']}, contrastive",
}
FAIR = "cifar100"  # the paper's own auxiliary data; no image of it is in CIFAR-10
LEVEL = 0.05
PUBLISHED_ON = tuple(dict.fromkeys(row.evaluated for row in paper.TABLE_1))
CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")

Doubles = NDArray[np.float64]


def comparison(records: Path = RESULTS) -> str:
    """Every method on CIFAR-10 from 120 images of a class, beside its published value; and whether the claim holds."""
    if pending := not_run("baselines", "stronger", "parameters", records=records):
        return pending
    baselines, counts = results("baselines", records), results_of("parameters", records)
    subset = baselines.pop(OURS)
    rows: list[Row] = []
    means = summarize([*baselines.values()])
    for name, mean in means.items():
        seconds = mean["fit seconds"] + mean["score seconds"]
        low = ADT_120 if name.startswith("ADT") else None
        rows.append([
            name, f"{mean['auc']:.3f}", _optional(low), _optional(paper.BASELINE_MEANS.get(PUBLISHED.get(name, ""))),
            f"{mean['test images']:,.0f}", f"{seconds:.0f}", f"{mean['parameters']:,.0f}",
        ])  # fmt: skip
    ours = _ours(records)
    for (encoder, score), auc in ours.items():
        own = [row["mean"] for row in subset.get(encoder, ()) if row["method"] == score]
        title = f"corel, {score} ({ENCODERS[encoder]})"
        size = counts["corel, contrastive encoder" if encoder == CONTRASTIVE else "corel, encoder"]
        rows.append([title, f"{auc:.3f}", _optional(_published(encoder, score)), "–", "10,000", "–", f"{size:,}"])
        rows += [[f"{title}, on ADT's images", f"{auc:.3f}", "–", "–", "1,000", "–", ""] for auc in own]
    heading = ["", "AUC, m = 120", "published, m = 120", "published, all images", "test images", "seconds a class",
               "parameters"]  # fmt: skip
    return section("baselines", records, markdown(heading, rows))


def paired(records: Path = RESULTS) -> str:
    """Ours against each baseline, paired over classes: the mean difference and how often chance gives as much."""
    found = differences_by_method(records)
    if not found:
        return to_run("table1")
    rows = []
    for name, differences in found.items():
        higher = f"{int((differences > 0).sum())} of {len(differences)}"
        rows.append([name, signed(float(differences.mean())), higher, f"{sign_flip(differences):.3f}"])
    heading = [f"count by {DATASETS[FAIR]}'s encoders against", "difference", "classes where ours is higher",
               "p, sign-flip test"]  # fmt: skip
    return markdown(heading, rows)


def standing(records: Path = RESULTS) -> str:
    """The paper's claim as the paired test has it, in one paragraph."""
    if pending := not_run("baselines", records=records):
        return pending
    if not (ours := _by_class(records)):
        return to_run("table1")
    return claim(float(np.mean(list(ours.values()))), differences_by_method(records))


def claim(mean: float, differences: dict[str, Doubles]) -> str:
    """Whether ours is above the published ADT-120, and above every baseline run here by the paired test."""
    closest = min(differences, key=lambda name: differences[name].mean())
    gap, chance = signed(float(differences[closest].mean())), sign_flip(differences[closest])
    above = all(each.mean() > 0 and sign_flip(each) <= LEVEL for each in differences.values())
    verdict = "holds" if mean > ADT_120 and above else "holds in part" if mean > ADT_120 else "does not hold"
    return (
        "The paper's claim, that from 120 images its score is above ADT and above all other baselines, "
        f"**{verdict}** on CIFAR-10. The count by encoders trained on {DATASETS[FAIR]} has {mean:.3f}, where the paper "
        f"gives ADT {ADT_120:.2f}. The closest baseline that was run here is {closest}: the difference is {gap}, "
        f"p = {chance:.3f} by a sign-flip test paired over classes."
    )


def differences_by_method(records: Path = RESULTS) -> dict[str, Doubles]:
    """By baseline the AUC of ours minus its own, one value a class; empty until ours was measured by class."""
    ours = _by_class(records)
    found = _baselines_by_class(records).items() if ours else ()
    return {name: np.array([ours[kind] - auc for kind, auc in aucs.items()]) for name, aucs in found if name != ORACLE}


def sign_flip(differences: Doubles) -> float:
    """The exact two-sided p-value: the share of all signs whose mean is at least as far from zero."""
    sums = np.zeros(1)
    for difference in differences:  # 2^20 sums for the twenty classes of CIFAR-20
        sums = np.concatenate([sums + difference, sums - difference])
    return float((np.abs(sums) >= abs(differences.sum()) - 1e-12).mean())


def _by_class(records: Path) -> dict[str, float]:
    """AUC of each class of CIFAR-10 by the count from 120 images, mean over draws and trainings."""
    found = results("table1", records) if (records / "table1.json").exists() else {}
    trained = [
        each["count"]["120"]["classes"] for name, each in found.items() if name.startswith(f"{FAIR} → cifar10, ")
    ]
    return dict(zip(CIFAR10, np.mean(trained, axis=0).tolist(), strict=True)) if trained else {}


def _baselines_by_class(records: Path) -> dict[str, dict[str, float]]:
    aucs: dict[str, dict[str, float]] = {}
    for name, row in results("baselines", records).items():
        for method, auc in row["auc"].items() if name != OURS else ():
            aucs.setdefault(method, {})[row["class"]] = auc
    return aucs


def classes(records: Path = RESULTS) -> str:
    """The baselines class by class: from 120 images here, from all 5,000 as published."""
    if pending := not_run("baselines", records=records):
        return pending
    found = [row for name, row in results("baselines", records).items() if name != OURS]
    names = list(dict.fromkeys(name for row in found for name in row["auc"]))
    auc = {(name, row["class"]): row["auc"][name] for row in found for name in row["auc"]}
    kinds = list(dict.fromkeys(row["class"] for row in found))
    rows = []
    for label, kind in enumerate(kinds):
        published = {name: paper.BASELINES_BY_CLASS[PUBLISHED[name]][label] for name in names if name in PUBLISHED}
        rows.append([kind, *(_beside(auc[name, kind], published.get(name)) for name in names)])
    means = [_beside(np.mean([auc[name, kind] for kind in kinds]), paper.BASELINE_MEANS.get(PUBLISHED.get(name, "")))
             for name in names]  # fmt: skip
    return markdown(["m = 120 here / all images published", *names], [*rows, ["mean", *means]])


def parameters(records: Path = RESULTS) -> str:
    """What each method learns, counted, beside what the paper's text says."""
    if pending := not_run("parameters", records=records):
        return pending
    stated = {"corel, encoder": paper.PARAMETERS["Ours"], **paper.PARAMETERS}
    rows = [[name, f"{count:,}", f"{stated[name] / 1e6:g} million" if name in stated else "–"]
            for name, count in results_of("parameters", records).items()]  # fmt: skip
    return section("parameters", records, markdown(["", "counted", "in the paper's text"], rows))


def published(records: Path = RESULTS) -> str:
    """The paper's Table 1 as it is printed, a column a dataset, with daggers at what was not run here, or in part."""
    auc: dict[str, dict[str, str]] = {}
    for row in paper.TABLE_1:
        size = "" if row.exemplars is None else f"-{row.exemplars:,}"
        encoder = f" ({DATASETS[row.auxiliary]})" if row.auxiliary else ""
        mark = "" if _was_run(row, records) else "‡" if _was_begun(row, records) else "†"
        auc.setdefault(f"{row.method}{size}{encoder}", {})[row.evaluated] = f"{row.auc:.2f}{mark}"
    rows = [[name, *(by.get(each, "–") for each in PUBLISHED_ON)] for name, by in auc.items()]
    hours = (
        f"† not run here. Nor was ADT on ImageNet, which the paper puts at {paper.ADT_IMAGENET_HOURS} hours of one "
        f"GPU: a network of {paper.PARAMETERS['ADT'] / 1e6:g} million parameters for each of 1,000 classes."
    )
    part = " ‡ run on some of the classes." if any("‡" in cell for row in rows for cell in row) else ""
    return f"{markdown(['', *(DATASETS[each] for each in PUBLISHED_ON)], rows)}\n\n{hours}{part}"


def _was_run(row: paper.TableRow, records: Path) -> bool:
    """Baselines were run on CIFAR-10 from 120 images; ours where there is data."""
    if row.auxiliary is None:
        return (row.evaluated, row.exemplars) == ("cifar10", 120) and is_complete("baselines", records)
    return bool(trainings((row.auxiliary, row.evaluated), "count", 120, records))


def _was_begun(row: paper.TableRow, records: Path) -> bool:
    """Whether a baseline was run beyond CIFAR-10 at m = 120 on some classes, from as many images as in this row."""
    found = results("wider", records) if (records / "wider.json").exists() else {}
    title = wider_part(row.evaluated, row.method, row.exemplars, "") if row.exemplars else None
    return title is not None and any(name.startswith(title) for name in found)


def _ours(records: Path) -> dict[tuple[str, str], float]:
    """AUC on CIFAR-10 from 120 images of a class, by encoder and score."""
    stronger = results_of("stronger", records)["cifar10"]
    aucs = {
        (f"{auxiliary}-16x10", score): float(np.mean(found))
        for auxiliary in ("cifar100", "cifar10", "tiny-imagenet")
        for score in SCORES
        if (found := trainings((auxiliary, "cifar10"), score, 120, records))
    }
    return aucs | {
        (CONTRASTIVE, row["method"]): row["mean"]
        for row in stronger
        if row["exemplars"] == 120 and row["method"] in SCORES
    }


def _published(encoder: str, score: str) -> float | None:
    """What the authors print for the paper's encoder and score."""
    if encoder == CONTRASTIVE or score != "count":
        return None
    return paper.cell(encoder.removesuffix("-16x10"), "cifar10").m120


def results_of(name: str, records: Path) -> Any:
    """The results of an experiment without parts."""
    return read(name, records)["results"]


def _beside(auc: float | np.floating[Any], published: float | None) -> str:
    return f"{auc:.3f} / {_optional(published)}"


def _optional(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
