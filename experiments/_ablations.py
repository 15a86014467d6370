"""The paper's figures as tables, and the studies beside them, each with a reading computed from its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments import paper
from experiments._parts import is_complete, results
from experiments._record import RESULTS, read
from experiments._shown import figure, is_substituted, listed, not_run, origin, section
from experiments._tables import DATASETS, markdown, pairing, signed

LARGE = "5000"  # exemplars at which the paper compares branches


def branching(records: Path = RESULTS) -> str:
    """Figure 4: losses at the last common epoch, AUC by branches, and what the paper says of both."""
    if pending := not_run("branching", records=records):
        return pending
    found = results("branching", records)
    known = {name: paper.BRANCHES_IN_TEXT[int(name.split()[0])] for name in found}
    rows = [[name, *_losses(each), *_aucs(each, "branching", known[name], records)] for name, each in found.items()]
    heading = ["branches × dimensions", *LOSSES, *_auc_heading("branching", records)]
    aucs, errors = _large(found), [_last(each)["reconstruction"] for each in found.values()]
    same = _order(aucs) == _order(known)
    reading = (
        f"By AUC the order is {' > '.join(_order(aucs))}, {'as' if same else 'not as'} in the paper "
        f"({' > '.join(_order(known))}). Reconstruction differs by {max(errors) / min(errors) - 1:.0%} between best "
        f"and worst, where the paper calls it almost equal. {_start(found)}"
    )
    alternative = "Connectivity and reconstruction loss over training, and AUC against exemplars, by branches"
    return section(
        "branching",
        records,
        _epochs("branching", records),
        markdown(heading, rows),
        figure("branching", alternative),
        reading,
    )


def weights(records: Path = RESULTS) -> str:
    """Figure 5: AUC by λ and m, the authors' beside ours."""
    theirs = {f"λ = {weight:g}": by for weight, by in paper.WEIGHT_ABLATION.items()}
    sizes = list(paper.WEIGHT_ABLATION[20])
    rows = [[f"authors, {name}", *(f"{by[m]:.4f}" for m in sizes)] for name, by in theirs.items()]
    heading = ["m", *(f"{m:,}" for m in sizes)]
    if pending := not_run("weights", records=records):
        return f"{markdown(heading, rows)}\n\n{pending}"
    found = results("weights", records)
    rows = [[f"corel, {name}", *(f"{each['auc'][str(m)]:.4f}" for m in sizes)] for name, each in found.items()] + rows
    if not is_substituted("weights", records):
        rows += [
            [f"difference, {name}", *(signed(each["auc"][str(m)] - theirs[name][m]) for m in sizes)]
            for name, each in found.items()
        ]
    alternative = "Connectivity loss over training and AUC against exemplars, by λ"
    return section(
        "weights",
        records,
        _epochs("weights", records),
        markdown(heading, rows),
        figure("weights", alternative),
        _weights_reading(found),
    )


def _weights_reading(found: dict[str, Any]) -> str:
    ends = {name: _last(each)["connectivity"] for name, each in found.items()}
    strong = [end for name, end in ends.items() if name != "λ = 1"]
    aucs = _large(found)
    least = min(aucs, key=lambda name: aucs[name])
    higher = ends["λ = 1"] > max(strong)
    return (
        f"Connectivity ends at {listed([f'{end:.1f} ({name})' for name, end in ends.items()])}: λ = 1 "
        f"{'converges to a higher value than the others' if higher else 'does not end above the others'}, which the "
        f"paper reports too. At m = {int(LARGE):,} the order is {' > '.join(_order(aucs))}; "
        f"{least} is the worst, {'as' if least == 'λ = 1' else 'where it is λ = 1'} in the paper."
    )


def radius(records: Path = RESULTS) -> str:
    """The sweep of the score's radius, the authors' beside ours."""
    radii = list(paper.RADIUS_SWEEP[120])
    rows = [[f"authors, m = {m:,}", *(f"{by[r]:.4f}" for r in radii)] for m, by in paper.RADIUS_SWEEP.items()]
    heading = ["radius", *(f"{r:g}" for r in radii)]
    if pending := not_run("radius", records=records):
        return f"{markdown(heading, rows)}\n\n{pending}"
    found = results("radius", records)
    ours = [[f"corel, m = {int(m):,}", *(f"{by[f'{r:g}']:.4f}" for r in radii)] for m, by in found.items()]
    if not is_substituted("radius", records):
        rows += [
            [f"difference, m = {int(m):,}", *(signed(by[f"{r:g}"] - paper.RADIUS_SWEEP[int(m)][r]) for r in radii)]
            for m, by in found.items()
        ]
    best = {int(m): max(by, key=lambda r: by[r]) for m, by in found.items()}
    lost = {int(m): by[best[int(m)]] - by["2"] for m, by in found.items()}
    theirs = {m: max(by, key=lambda r: by[r]) for m, by in paper.RADIUS_SWEEP.items()}
    reading = "The best radius is " + listed([
        f"{best[m]} at m = {m:,} (the authors': {theirs[m]:g}), {lost[m]:.4f} above the AUC at η" for m in best
    ]) + ". It was looked for on test images, so η stays."  # fmt: skip
    return section(
        "radius",
        records,
        origin("radius", records),
        markdown(heading, [*ours, *rows]),
        figure("radius", "AUC against the radius"),
        reading,
    )


def lifetimes(records: Path = RESULTS) -> str:
    """Figure 6 and its supplement: death times of batches, mean and range over branches."""
    if pending := not_run("lifetimes", records=records):
        return pending
    rows, readings = [], []
    for name, measured in results("lifetimes", records).items():
        auxiliary, other = (np.array(deaths) for deaths in measured.values())
        for dataset, deaths in measured.items():
            low, mean, high = np.array(deaths).T
            ranges = [
                f"{low.mean():.2f}",
                f"{mean.mean():.2f} ({mean.min():.2f} to {mean.max():.2f})",
                f"{high.mean():.2f}",
            ]
            rows.append([pairing(*name.split(" → ")), DATASETS[dataset], *ranges])
        furthest = np.abs(auxiliary[:, 1] - other[:, 1]).max()
        readings.append(f"{furthest:.2f} for {pairing(*name.split(' → '))}")
    eta = read("lifetimes", records)["config"]["eta"]
    reading = (
        f"A branch's mean death time on the auxiliary test split and on the other dataset differ by at most "
        f"{listed(readings)}, with η = {eta:g}: "
        f"what the paper calls consistent within and across datasets. It prints its values inside a figure alone."
    )
    heading = ["encoder → other dataset", "measured on", "smallest", "mean ε̂ (over branches)", "largest"]
    alternative = "Death times per branch on two datasets, for each encoder"
    return section(
        "lifetimes",
        records,
        origin("lifetimes", records),
        markdown(heading, rows),
        figure("lifetimes", alternative),
        reading,
    )


def control(records: Path = RESULTS) -> str:
    """AUC with the loss and without it, the latter at a radius chosen fairly."""
    if pending := not_run("control", records=records):
        return pending
    found = results("control", records)
    sizes = read("control", records)["config"]["exemplars"]
    rows = [
        [f"{score}, {way}", *(f"{measured['auc'][score][str(m)]:.4f}" for m in sizes)]
        for score in ("count", "contrast")
        for way, measured in found.items()
    ]
    shaped, raw, *fair = (measured["auc"]["count"]["120"] for measured in found.values())
    reading = (
        f"At m = 120 the count has {shaped:.3f} with the loss and {raw:.3f} without it at the same radius, the "
        f"comparison that the authors print. With a radius at the same quantile of distances it has {max(fair):.3f} "
        f"without: of the gap of {signed(shaped - raw)}, {signed(shaped - max(fair))} is left to the loss itself, and "
        f"the rest was the radius."
    )
    alternative = "AUC against exemplars with and without the loss"
    return section(
        "control",
        records,
        _epochs("control", records),
        markdown(["m", *(f"{m:,}" for m in sizes)], rows),
        figure("control", alternative),
        reading,
    )


def variability(records: Path = RESULTS) -> str:
    """AUC on Tiny-ImageNet by the number of classes, mean and deviation over random sets of them."""
    if pending := not_run("variability", records=records):
        return pending
    found, config = results("variability", records), read("variability", records)["config"]
    rows = [
        [f"{DATASETS[auxiliary]}, {score}", *(f"{each['mean']:.3f} ± {each['spread']:.3f}" for each in by.values())]
        for auxiliary, measured in found.items()
        for score, by in measured.items()
    ]
    means = [[each["mean"] for each in by.values()] for measured in found.values() for by in measured.values()]
    drift = max(abs(row[0] - row[-1]) for row in means)
    reading = (
        f"From {config['classes'][0]} to {config['classes'][-1]} classes the mean moves by at most {drift:.3f}. It "
        "has to be so: where classes have equally many test images, a one-vs-all AUC is the mean of AUCs against "
        "single classes, and its mean over random sets of classes does not depend on their number. That performance is "
        "maintained with more classes, which the paper takes for beneficial scaling, says nothing of a method; what "
        "many classes bring is a smaller deviation, a more certain measurement."
    )
    heading = ["encoder, score", *(f"{n} classes" for n in config["classes"])]
    alternative = "AUC on Tiny-ImageNet against the number of classes"
    return section("variability", records, markdown(heading, rows), figure("variability", alternative), reading)


def density(records: Path = RESULTS) -> str:
    """The share of points that have the neighbours that Lemma 1 promises, by m."""
    if pending := not_run("density", records=records):
        return pending
    found, config = results("density", records), read("density", records)["config"]
    sizes, b = config["exemplars"], config["batch_size"]
    rows = [[name, *(f"{by[str(m)]['share']:.3f}" for m in sizes)] for name, by in found.items()]
    rows.append(["neighbours promised", *(f"{m - b + 1:,}" for m in sizes)])
    within = [by[str(sizes[-1])]["within"] for by in found.values()]
    last = [by[str(sizes[-1])]["share"] for by in found.values()]
    reading = (
        f"At m = {sizes[-1]:,} the share is {min(last):.3f} to {max(last):.3f}: read with the mean β̂ of batches, Lemma "
        f"1 {'holds' if min(last) > 0.99 else 'does not describe these sets'}. It asks that every subset of {b} points "
        "is connected within β, and the subset that is least so decides; of random batches the mean largest death time "
        f"says little about it. At this m a point has {min(within):.0%} to {max(within):.0%} of the others within β̂, "
        f"where the lemma asks for {(sizes[-1] - b + 1) / (sizes[-1] - 1):.0%}."
    )
    alternative = "Share of points with the promised number of neighbours, against m"
    heading = ["m", *(f"{m:,}" for m in sizes)]
    return section(
        "density", records, origin("density", records), markdown(heading, rows), figure("density", alternative), reading
    )


LOSSES = ("epochs", "connectivity, untrained", "connectivity", "reconstruction")


def _losses(variant: dict[str, Any]) -> list[str]:
    last = _last(variant)
    start = f"{variant['connectivity, untrained']:.1f}"
    return [str(variant["epochs"]), start, f"{last['connectivity']:.1f}", f"{last['reconstruction']:.1f}"]


def _last(variant: dict[str, Any]) -> dict[str, float]:
    last: dict[str, float] = variant["history"][-1]
    return last


def _auc_heading(name: str, records: Path) -> list[str]:
    difference = [] if is_substituted(name, records) else ["difference"]
    return ["AUC, m = 120", f"AUC, m = {int(LARGE):,}", "authors", *difference]


def _aucs(variant: dict[str, Any], name: str, known: float, records: Path) -> list[str]:
    difference = [] if is_substituted(name, records) else [signed(variant["auc"][LARGE] - known)]
    return [f"{variant['auc']['120']:.4f}", f"{variant['auc'][LARGE]:.4f}", f"{known:.2f}", *difference]


def _large(found: dict[str, Any]) -> dict[str, float]:
    return {name: each["auc"][LARGE] for name, each in found.items()}


def _order(aucs: dict[str, float]) -> list[str]:
    return sorted(aucs, key=lambda name: -aucs[name])


def _start(found: dict[str, Any]) -> str:
    starts = {name: each["connectivity, untrained"] for name, each in found.items()}
    least = min(starts, key=lambda name: starts[name])
    agrees = "as the paper says" if least == "1 × 160" else "where the paper says 1 × 160"
    return f"Before training {least} has the smallest connectivity loss ({starts[least]:.1f}), {agrees}."


def _epochs(name: str, records: Path) -> str:
    """Where encoders come from, and how long they were trained where the paper has 50 epochs."""
    epochs = read(name, records)["config"]["epochs"]
    longer = ""
    if is_complete("backbones", records) and is_substituted(name, records):
        shipped = read("backbones", records)["config"]["epochs"]
        longer = f", 16 × 10 with λ = 20 is the shipped encoder of {shipped}, its losses shown to epoch {epochs}"
    return f"{origin(name, records)} Trainings have {epochs} epochs instead of 50{longer}."
