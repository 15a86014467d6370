"""Studies of the shipped encoders as sections: the radius, death times, out-of-class variability, the theory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments import paper
from experiments._lib.names import DATASETS, pairing
from experiments._lib.parts import results
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.sections import figure, is_substituted, listed, not_run, origin, section
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
        _encoders(records),
        markdown(heading, rows),
        figure("lifetimes", alternative),
        reading,
    )


def _encoders(records: Path) -> str:
    names = [DATASETS[name] for name in dict.fromkeys(part.split(" → ")[0] for part in results("lifetimes", records))]
    if not is_substituted("lifetimes", records):
        return origin("lifetimes", records)
    return f"Encoders trained on {listed(names)} stand in for the paper's, whose CIFAR-100 was not available."


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
