"""Tables of accuracy, each drawn from committed JSON and from `experiments.paper`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from experiments import paper
from experiments._lib.names import pairing
from experiments._lib.record import read

Row = Sequence[str]


def markdown(heading: Row, rows: Iterable[Row], text: int = 1) -> str:
    """A table whose first columns are text and whose others are numbers."""
    lines = [heading, [*["---"] * text, *["---:"] * (len(heading) - text)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cells() -> str:
    """Every training by the paper's score, beside the authors' one."""
    document = read("backbones")["results"]
    seeds = sorted({cell["seed"] for cell in document["cells"]})
    rows = []
    for mean in document["means"]:
        pair = (mean["auxiliary"], mean["evaluated"])
        own = [c for c in document["cells"] if (c["auxiliary"], c["evaluated"]) == pair]
        aucs, published = [cell["count"]["auc"] for cell in own], paper.cell(*pair)
        spread = float(np.mean([cell["count"]["class spread"] for cell in own]))
        rows.append([
            pairing(*pair), *(f"{auc:.4f}" for auc in aucs), f"{np.mean(aucs):.4f}", f"{published.m120:.4f}",
            signed(float(np.mean(aucs)) - published.m120), f"{spread:.4f}", f"{published.class_spread:.4f}",
        ])  # fmt: skip
    heading = ["", *(f"seed {seed}" for seed in seeds), "mean", "authors", "difference", "spread", "authors' spread"]
    return markdown(heading, rows)


def rejection() -> str:
    """Share of CIFAR-10's test images that p-values and `predict` reject at a rate, in class and out of class."""
    document = read("conformal")
    asked = [document["config"]["rates"].index(rate) for rate in (0.01, 0.05, 0.1)]
    rows = []
    for found in (found for found in document["results"] if found["exemplars"] == 120):
        for name, key in REJECTED.items():
            rows.append([f"{found['score']}, {name}", *(f"{found[key][k]:.3f}" for k in asked)])
    return markdown(["rate", "1%", "5%", "10%"], rows)


REJECTED = {"in class": "inside", "in class, `predict`": "inside_predict", "out of class": "outside"}


def sets() -> str:
    """Prediction sets over the ten classes of CIFAR-10: how often the true class is in them, and how large they are."""
    document = read("classify")
    rows = []
    for score, found in document["results"].items():
        for rate in document["config"]["rates"]:
            values = [found[f"{what} at {rate:g}"]["mean"] for what in ("coverage", "size", "empty")]
            rows.append(
                [f"{score}, {rate:.0%}", *(f"{value:.3f}" for value in values), f"{found['top-1']['mean']:.3f}"]
            )
    return markdown(["score, rate", "coverage", "mean size", "empty", "top-1 (any rate)"], rows)


def tables() -> str:
    """Detectors on tables of numbers: AUC, mean and deviation over splits."""
    found = read("features")["results"]
    auc = {(row["method"], row["table"]): f"{row['auc']:.3f} ± {row['sd']:.3f}" for row in found}
    methods, names = (list(dict.fromkeys(row[key] for row in found)) for key in ("method", "table"))
    return markdown(["", *names], [[method, *(auc[method, name] for name in names)] for method in methods])


def epochs() -> str:
    """AUC on folds of CIFAR-10's train split as trainings went on."""
    stages = read("backbones")["results"]["folds of CIFAR-10 train by epoch"]
    columns = sorted({stage["epochs"] for stage in stages})
    runs = list(dict.fromkeys(stage["run"] for stage in stages))
    auc = {(stage["run"], stage["epochs"]): f"{stage['auc']:.4f}" for stage in stages}
    rows = [[run, *(auc.get((run, column), "–") for column in columns)] for run in runs]
    return markdown(["training (data, seed)", *(f"{column} epochs" for column in columns)], rows)


def toy() -> str:
    """The toy example's death times beside those of the authors' tutorial."""
    rows = [
        [f"corel, batches of {shot['batch_size']}, {_moment(shot['epoch'])}",
         *_deaths(*(shot[name] for name in ("alpha", "epsilon", "beta")))]
        for shot in read("toy")["results"]
    ]  # fmt: skip
    rows += [
        [f"authors' tutorial (batches of 50), {_moment(epoch)}", *_deaths(*triple)]
        for epoch, triple in paper.TOY.items()
    ]
    return markdown(["", "α̂", "ε̂", "β̂", "(β̂ − α̂) / ε̂"], rows)


def _deaths(alpha: float, epsilon: float, beta: float) -> Row:
    """The three means, and the gap relative to the average, which no scale changes."""
    return [f"{alpha:.2f}", f"{epsilon:.2f}", f"{beta:.2f}", f"{(beta - alpha) / epsilon:.1f}"]


def _moment(epoch: int | None) -> str:
    return {None: "the data", 0: "untrained"}.get(epoch, f"{epoch} epochs")


def signed(value: float) -> str:
    """A difference, with a real minus sign."""
    return f"{value:+.4f}".replace("-", "−")
