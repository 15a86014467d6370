"""Sections on recognition: AUC per class, ROC curves, and images scored well and badly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_curve

from corel._terminal import drawn
from corel.backbone import Backbone
from corel.evaluation import Evaluation, draw_exemplars, half_interval, one_vs_all_auc, remark, shown
from corel.images import ImageSet
from corel.oneclass import METHODS, Assessment, ClassBank, backbone_settings, compared_rows
from corel.report import _style
from corel.report._content import Material, Panel, Section, Strip, Table

SHOWN = 8  # images a row
CLASSES = 20  # classes a figure can name
IN_WORDS = {
    "count": "The score counts the exemplars within η of the image, branch by branch.",
    "contrast": "The score is the contrast: exemplars near the image, weighed by exp(−4·d/η) at distance d, against "
    "the background's. Each encoder is scored at its own η; latents that no loss has scaled may do better at a radius "
    "fitted to them.",
    "cosine": "The score is the cosine: exemplars are weighed by exp(cos/τ) of their whitened features, against the "
    "background's.",
}
GRID = np.linspace(0, 1, 201)  # false-alarm rates at which ROC curves are averaged


@dataclass(frozen=True, eq=False)
class Scored:
    """The test images against every class, from the first draw of exemplars: scores and p-values ``[n, C]``."""

    found: dict[str, Assessment]
    test: ImageSet
    exemplars: int
    method: str

    @property
    def first(self) -> Assessment:
        """Of the backbone reported on."""
        return next(iter(self.found.values()))

    def belongs(self, label: int) -> NDArray[np.bool_]:
        """Which test images are of a class."""
        return np.asarray(self.test.labels == label)

    def auc(self) -> NDArray[np.float64]:
        """Each class's AUC."""
        return one_vs_all_auc(np.asarray(self.test.labels), self.first.scores)


def scored(material: Material) -> Scored | None:
    """Score the test images once more and keep every score; an evaluation keeps only AUCs."""
    evaluation, enrolled, test = material.evaluation, material.enrolled, material.test
    if evaluation is None or enrolled is None or test is None:
        return None
    m = max(evaluation.config["exemplars"])
    chosen = draw_exemplars(enrolled, m, evaluation.config["seed"], 0)
    found = {
        name: _assessed(backbone, evaluation.config["score"], enrolled.take(chosen.ravel()), test, m)
        for name, backbone in material.backbones.items()
    }
    return Scored(found, test, m, evaluation.config["score"])


def _assessed(backbone: Backbone, method: str, exemplars: ImageSet, test: ImageSet, m: int) -> Assessment:
    known, asked = (compared_rows(method, backbone.embed(images)) for images in (exemplars, test))
    offsets = np.arange(len(test.classes) + 1) * m
    return ClassBank(known, offsets, **backbone_settings(backbone, method)).assess(asked)


def auc(material: Material) -> Section | None:
    """Tabulate every method and draw AUCs class by class."""
    evaluation = material.evaluation
    if evaluation is None:
        return None
    config, summary = evaluation.config, evaluation.summary()
    largest = max(config["exemplars"])
    best = max(row.mean for row in summary if row.exemplars == largest)
    strong = {i for i, row in enumerate(summary) if row.exemplars == largest and row.mean == best}
    rows = [
        [row.method, str(row.exemplars), shown(row.mean), shown(row.low, row.high), shown(row.spread)]
        for row in summary
    ]
    return Section(
        "How well is each class told from all others?",
        f"For each of {config['classes']} classes a few {config['items']} are enrolled, and {config['test_items']:,} "
        "others are ranked by how much they look like it. AUC is the chance that one of the class ranks above one that "
        f"is not: 1 is perfect, 0.5 is guessing. {_draws_in_words(config['draws'])}",
        panels=[_per_class(evaluation, largest)],
        table=Table(["method", "enrolled", "AUC", "95 % interval", "± over draws"], rows, frozenset(strong)),
        remark=remark(evaluation),
    )


def _draws_in_words(draws: int) -> str:
    if draws == 1:
        return "Exemplars were drawn once, which gives no interval."
    return f"Exemplars were drawn anew {draws} times; intervals are 95 % over those draws, by Student’s t."


def _per_class(evaluation: Evaluation, m: int) -> Panel:
    methods = _compared(evaluation)
    labels = list(dict.fromkeys(record.label for record in evaluation.records))
    found = {method: evaluation.auc(method, m) for method in methods}
    order = np.argsort(found[methods[0]].mean(0))
    kept = order if len(order) <= CLASSES else np.concatenate([order[: CLASSES // 2], order[-CLASSES // 2 :]])
    with _style.drawing():
        figure, axes = _style.panel(1.1 + 0.17 * len(methods) + 0.34 * len(kept))
        for k, (method, values) in enumerate(found.items()):
            mean, reach = values.mean(0)[kept], np.array([half_interval(values[:, [c]]) for c in kept])
            reach = np.stack([reach, np.minimum(reach, 1 - mean)])  # no AUC is above 1
            places = np.arange(len(kept)) + 0.6 * ((len(methods) - 1) / 2 - k) / len(methods)
            axes.errorbar(mean, places, xerr=reach, fmt="o", markersize=3.4, linewidth=1, color=_style.SERIES[k],
                          label=method)  # fmt: skip
        axes.set_yticks(range(len(kept)), [drawn(labels[i], 18) for i in kept])
        axes.set(xlabel="AUC", xlim=(None, 1.002), ylim=(-0.6, len(kept) - 0.4))
        axes.grid(axis="x", color=_style.MUTED, alpha=0.2, linewidth=0.6)
        figure.legend(loc="outside upper left", ncols=1)
    left_out = f" The {CLASSES // 2} hardest and the {CLASSES // 2} easiest classes." if len(kept) < len(order) else ""
    lines = "; lines are 95 % intervals" if evaluation.config["draws"] > 1 else ""
    return Panel("auc", figure, f"One row a class, hardest at the bottom{lines}.{left_out}")


def _compared(evaluation: Evaluation) -> list[str]:
    """Our main score and all controls; the other scores and their variants are in the table only."""
    methods = list(dict.fromkeys(record.method for record in evaluation.records))
    main, others = evaluation.config["score"], [each for each in METHODS if each != evaluation.config["score"]]
    return [main, *(method for method in methods if method != main and not method.startswith(tuple(others)))]


def curves(scores: Scored | None) -> Section | None:
    """Draw ROC curves: each class of the backbone reported on, and the mean of every backbone."""
    if scores is None:
        return None
    with _style.drawing():
        figure, axes = _style.panel(3.6)
        for label in np.argsort(scores.auc())[:CLASSES]:
            axes.plot(GRID, _curve(scores, scores.first, label), color=_style.MUTED, linewidth=0.8, alpha=0.5)
        for (name, found), color in zip(scores.found.items(), _style.SERIES, strict=False):
            mean = np.mean([_curve(scores, found, label) for label in range(len(scores.test.classes))], axis=0)
            axes.plot(GRID, mean, color=color, linewidth=2, label=f"{name}, mean of classes")
        axes.plot([0, 1], [0, 1], color=_style.MUTED, linewidth=1, linestyle=":", label="guessing")
        axes.set(xlabel="others let in", ylabel="members recognized", xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
        axes.legend(loc="lower right")
    return Section(
        "Recognized, and let in by mistake",
        "A lower threshold recognizes more members of a class and lets more strangers in. Each point of a curve is "
        "one threshold; the nearer to the upper left corner, the better. Thin gray lines are the single "
        f"classes behind the mean of “{next(iter(scores.found))}”, with {scores.exemplars} images enrolled each (the "
        f"first draw). {IN_WORDS[scores.method]}",
        panels=[Panel("roc", figure, "ROC curves. The dotted line is what guessing would give.")],
    )


def _curve(scores: Scored, found: Assessment, label: int) -> NDArray[np.float64]:
    alarms, hits, _ = roc_curve(scores.belongs(label), found.scores[:, label])
    curve: NDArray[np.float64] = np.interp(GRID, alarms, hits)
    return curve


def extremes(scores: Scored | None) -> Section | None:
    """Show the best and worst scored images of the hardest class."""
    if scores is None:
        return None
    label = int(scores.auc().argmin())
    values, inside = scores.first.scores[:, label], scores.belongs(label)
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    members, others = members[np.argsort(-values[members])], others[np.argsort(-values[others])]
    rows = {
        "members-best": ("members that score highest", members[:SHOWN]),
        "members-worst": ("members that score lowest", members[-SHOWN:]),
        "others-best": ("others that score highest", others[:SHOWN]),
        "others-worst": ("others that score lowest", others[-SHOWN:]),
    }
    p_values = scores.first.p_values[:, label]
    return Section(
        f"Best and worst: class “{_style.short(scores.test.classes[label], 60)}”",
        "The class with the lowest AUC, to see where recognition fails. The p-value is the share of the enrolled "
        "images that fit the class no better than this one: of true members, at most one in twenty gets a p-value "
        "of 0.05 or less, averaged over enrollments. (The guarantee is for images like the enrolled ones, by an "
        "encoder that trained on others.)",
        strips=[
            Strip(name, words, scores.test.pixels[chosen], [f"p = {p:.3f}" for p in p_values[chosen]])
            for name, (words, chosen) in rows.items()
        ],
    )
