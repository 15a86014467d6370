"""The baselines beyond CIFAR-10 at m = 120, as far as Table 1 has them: a class at a time, resumable.

Four methods on all of CIFAR-20 from 120 images, ADT on ten of its classes; ADT from 120 images on ten classes of
CIFAR-100, and from 1,000 on three of CIFAR-10. Classes are evenly spaced. Scored are all test images of the class and a
sample of the others, 1,000 in all; of CIFAR-10, whose classes have 1,000 each, as many others. ADT's network computes
in bfloat16, which takes half the time; on three classes of CIFAR-10 it is measured as `baselines` has it in float32, to
see what that changes. ``--only`` does a part. Some four hours of one core in all. Writes
experiments/results/wider.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from corel.baselines import Baseline
from corel.images import ImageSet
from experiments._lib import command
from experiments._lib.baselines import HALF, WIDER, Row, half_part, wider_part
from experiments._lib.parts import Part, named, run_parts
from experiments._lib.trainings import split
from experiments.studies.baselines import METHODS, Protocol, describe, measure, stratified

TESTED = 1000  # images, those of the class among them; but at least as many others as there are of the class


@dataclass(frozen=True)
class Case:
    """One method on some classes of a dataset, from so many images of each."""

    dataset: str
    method: str
    exemplars: int
    classes: int


CASES = tuple(Case(*each) for each in WIDER)


def spaced(count: int, classes: int) -> list[int]:
    """So many labels of `classes`, evenly spaced: nobody chose them."""
    return [k * classes // count for k in range(count)]


def beside_others(images: ImageSet, label: int, total: int, seed: int = 0) -> ImageSet:
    """All images of the class and a sample of the others: `total` in all, or as many others as of the class."""
    inside = np.flatnonzero(np.asarray(images.labels) == label)
    others = np.flatnonzero(np.asarray(images.labels) != label)
    drawn = np.random.default_rng([seed, label]).permutation(others)[: max(total - len(inside), len(inside))]
    return images.take(np.sort(np.concatenate([inside, drawn])))


def parts(case: Case, baseline: Baseline, train: ImageSet, test: ImageSet, tested: int = TESTED) -> Iterator[Part]:
    """Every class of a case."""
    settings = {**describe(baseline, Protocol(case.exemplars, tested)), **asdict(case), **_precision(case.method)}
    for label in spaced(case.classes, len(train.classes)):
        work = partial(_fit, case, baseline, label, train, test, tested)
        yield Part(wider_part(case.dataset, case.method, case.exemplars, train.classes[label]), settings, work)


def _fit(case: Case, baseline: Baseline, label: int, train: ImageSet, test: ImageSet, tested: int) -> Row:
    chosen = beside_others(test, label, tested)
    return _measure(case.method, baseline, label, train, chosen, Protocol(case.exemplars, len(chosen)))


def half_parts(train: ImageSet, test: ImageSet, method: str = "ADT") -> Iterator[Part]:
    """ADT in bfloat16 on some classes, with all else as `baselines` has it."""
    protocol = Protocol()
    chosen = stratified(test, protocol.adt_test_images, protocol.seed)
    for label in spaced(HALF, len(train.classes)):
        work = partial(_measure, method, METHODS[method], label, train, chosen, protocol)
        settings = {**describe(METHODS[method], protocol), **_precision(method)}
        yield Part(half_part(train.classes[label]), settings, work)


def _measure(method: str, baseline: Baseline, label: int, train: ImageSet, test: ImageSet, protocol: Protocol) -> Row:
    # Without a cache: it would keep the first weights for as long as the block lasts, and nothing would be learned.
    with torch.autocast("cpu", torch.bfloat16, enabled=bool(_precision(method)), cache_enabled=False):
        return {**measure(method, baseline, label, train, test, protocol), "label": label}


def _precision(method: str) -> dict[str, str]:
    return {"network": "bfloat16"} if method == "ADT" else {}


def main(argv: Sequence[str]) -> None:
    """Read the command line and measure what is missing."""
    parser = command.parser(__name__, __doc__, ("data",))
    parser.add_argument("--only", nargs="+", metavar="PART", help="parts to measure now, such as 'cifar20, DAGMM'")
    arguments = parser.parse_args(argv)
    halves = half_parts(split("cifar10", "train", arguments.data), split("cifar10", "test", arguments.data))
    whole = [*(part for case in CASES for part in _case_parts(case, arguments.data)), *halves]
    run_parts(
        "wider",
        whole,
        {"test images": TESTED, "cases": [asdict(case) for case in CASES]},
        only=named(whole, arguments.only),
    )


def _case_parts(case: Case, data: Path) -> Iterator[Part]:
    train, test = (split(case.dataset, part, data) for part in ("train", "test"))
    return parts(case, METHODS[case.method], train, test)
