"""The baselines of Table 1 on CIFAR-10 at m = 120, one class at a time.

``python -m experiments baselines --data DIR`` fits each method on 120 train images of each class (the first draw of
`corel.evaluate`, seed 0) and measures the AUC on the test split; ADT, which sends an image through its network 72
times, on a stratified 1,000 test images, on which ours is then measured too. Each class of each method is recorded in
experiments/results/baselines.json when it is done; a stopped run goes on. ``--methods`` and ``--classes`` do a part.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.svm import OneClassSVM

import corel.images
from corel.backbone import Backbone
from corel.baselines import ADT, DAGMM, DSEBM, OCSVM, Baseline, DeepSVDD
from corel.evaluation import draw_exemplars, evaluate
from corel.images import ImageSet
from experiments._lib import command
from experiments._lib.baselines import ORACLE, OURS, Row
from experiments._lib.parts import Part, run_parts

METHODS: dict[str, Baseline] = {
    "OC-SVM (CAE)": OCSVM(), "DAGMM": DAGMM(), "DSEBM": DSEBM(), "Deep-SVDD": DeepSVDD(), "ADT": ADT(),
}  # fmt: skip
GRID = tuple(product(np.arange(1, 10) / 10, 2.0 ** np.arange(-7, 3)))  # ν and γ
BACKBONES = ("cifar10-16x10", "tiny-imagenet-16x10", "tiny-imagenet-contrastive-16x10")

Labels = NDArray[np.bool_]


@dataclass(frozen=True)
class Protocol:
    """How many images are learned from, and how many test images ADT scores."""

    exemplars: int = 120
    adt_test_images: int = 1000
    seed: int = 0


def measure(name: str, baseline: Baseline, label: int, train: ImageSet, test: ImageSet, protocol: Protocol) -> Row:
    """Fit one method on one class; give its AUCs on the test images, and what it cost."""
    exemplars = train.take(draw_exemplars(train, protocol.exemplars, protocol.seed, 0)[label])
    started = time.perf_counter()
    baseline.fit(exemplars)
    fitted = time.perf_counter()
    auc = aucs(name, baseline, exemplars, test, np.asarray(test.labels) == label)
    print(f"{train.classes[label]:<12}", *(f"{each} {found:.3f}" for each, found in auc.items()), sep="  ", flush=True)
    return {
        "method": name,
        "class": train.classes[label],
        "auc": auc,
        "fit seconds": round(fitted - started, 1),
        "score seconds": round(time.perf_counter() - fitted, 1),
        "test images": len(test),
        "parameters": baseline.parameters,
    }


def aucs(name: str, baseline: Baseline, exemplars: ImageSet, test: ImageSet, truth: Labels) -> dict[str, float]:
    """The AUC of each score that the method has."""
    if isinstance(baseline, ADT):
        scores = baseline.scores(test)
        names = {"ADT (plain)": "plain", "ADT (Dirichlet)": "dirichlet"}
        return {each: float(roc_auc_score(truth, scores[score])) for each, score in names.items()}
    found = {name: float(roc_auc_score(truth, baseline.score_samples(test)))}
    if isinstance(baseline, OCSVM):
        found[ORACLE] = best_of_grid(baseline, exemplars, test, truth)
    return found


def best_of_grid(baseline: OCSVM, exemplars: Any, test: Any, truth: Labels) -> float:
    """The largest test AUC that any ν and γ of the published grid reach on the same codes."""
    learned, asked = baseline.codes(exemplars), baseline.codes(test)
    machines = (OneClassSVM(nu=nu, gamma=gamma).fit(learned) for nu, gamma in GRID)
    return max(float(roc_auc_score(truth, machine.score_samples(asked))) for machine in machines)


def stratified(images: ImageSet, count: int, seed: int) -> ImageSet:
    """As many images of each class, `count` in all."""
    return images.take(draw_exemplars(images, count // len(images.classes), seed, 0).ravel())


def parts(methods: dict[str, Baseline], train: ImageSet, test: ImageSet, protocol: Protocol) -> list[Part]:
    """Every method on every class, and then ours on the images that ADT scored."""
    whole = product(methods.items(), enumerate(train.classes))
    subset = stratified(test, protocol.adt_test_images, protocol.seed)
    encoders = {name: Backbone.load(name).digest for name in BACKBONES}
    return [
        *(Part(part_name(name, kind), describe(baseline, protocol),
               partial(measure, name, baseline, label, train, subset if isinstance(baseline, ADT) else test, protocol))
          for (name, baseline), (label, kind) in whole),
        Part(OURS, {"protocol": vars(protocol), "backbones": encoders}, partial(ours, train, test, protocol)),
    ]  # fmt: skip


def part_name(method: str, kind: str) -> str:
    """What a method's row of one class is called in the record."""
    return f"{method}, {kind}"


def describe(baseline: Baseline, protocol: Protocol) -> dict[str, Any]:
    """What decides a row, as JSON has it."""
    hidden = ("device", "progress")
    own = {each.name: getattr(baseline, each.name) for each in fields(baseline) if each.init}
    return {name: value for name, value in own.items() if name not in hidden} | {"protocol": vars(protocol)}


def ours(train: ImageSet, test: ImageSet, protocol: Protocol) -> Row:
    """What corel reaches from the same exemplars on the test images that ADT scored."""
    subset = stratified(test, protocol.adt_test_images, protocol.seed)
    return {
        name: evaluate(
            Backbone.load(name), train, subset, exemplars=(protocol.exemplars,), draws=1, seed=protocol.seed,
            controls=False,
        ).document()["summary"]
        for name in BACKBONES
    }  # fmt: skip


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what is asked for."""
    parser = command.parser(__name__, __doc__, ("data",))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--classes", nargs="+", help="names of classes; all by default")
    arguments = parser.parse_args(argv)
    train, test = (corel.images.open("cifar10", split, root=arguments.data) for split in ("train", "test"))
    unknown = set(arguments.classes or ()) - set(train.classes)
    if unknown:
        parser.error(f"CIFAR-10 has no class {', '.join(sorted(unknown))}; it has {', '.join(train.classes)}")
    chosen = {part_name(*pair) for pair in product(arguments.methods, arguments.classes or train.classes)}
    protocol = Protocol()
    run_parts("baselines", parts(METHODS, train, test, protocol), vars(protocol), only={*chosen, OURS})
