"""Studies of the shipped encoders as sections: the radius, death times, out-of-class variability, the theory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments import paper
from experiments._lib.names import DATASETS, pairing
from experiments._lib.parts import results
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.sections import is_substituted, not_run, origin, section
from experiments.render.tables import markdown, signed


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
    return section(
        "radius",
        records,
        origin("radius", records),
        markdown(heading, [*ours, *rows]),
    )


def lifetimes(records: Path = RESULTS) -> str:
    """Figure 6 and its supplement: death times of batches, mean and range over branches."""
    if pending := not_run("lifetimes", records=records):
        return pending
    rows = []
    for name, measured in results("lifetimes", records).items():
        for dataset, deaths in measured.items():
            low, mean, high = np.array(deaths).T
            ranges = [
                f"{low.mean():.2f}",
                f"{mean.mean():.2f} ({mean.min():.2f} to {mean.max():.2f})",
                f"{high.mean():.2f}",
            ]
            rows.append([pairing(*name.split(" → ")), _measured_on(dataset), *ranges])
    heading = ["encoder → other dataset", "measured on", "smallest", "mean ε̂ (over branches)", "largest"]
    return section(
        "lifetimes",
        records,
        origin("lifetimes", records),
        markdown(heading, rows),
    )


def _measured_on(dataset: str) -> str:
    """Which images: all of CIFAR-10, else a test split."""
    return f"{DATASETS[dataset]}, both splits" if dataset == "cifar10" else f"{DATASETS[dataset]}, test split"


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
    heading = ["encoder, score", *(f"{n} classes" for n in config["classes"])]
    return section("variability", records, markdown(heading, rows))


def density(records: Path = RESULTS) -> str:
    """The share of points that have the neighbors that Lemma 1 promises, by m."""
    if pending := not_run("density", records=records):
        return pending
    found, config = results("density", records), read("density", records)["config"]
    sizes, b = config["exemplars"], config["batch_size"]
    rows = [[name, *(f"{by[str(m)]['share']:.3f}" for m in sizes)] for name, by in found.items()]
    rows.append(["neighbors promised", *(f"{m - b + 1:,}" for m in sizes)])
    rows.append(
        [
            "share of the others within β̂, one class",
            *(f"{list(found.values())[-1][str(m)]['within']:.0%}" for m in sizes),
        ]
    )
    heading = ["m", *(f"{m:,}" for m in sizes)]
    return section("density", records, origin("density", records), markdown(heading, rows))
