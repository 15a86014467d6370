"""The demo's page: what was found and recognized first, the idea behind it after that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from corel import images
from corel.backbone import Backbone
from corel.demo.photos import CREDIT, THINGS, Recognized
from corel.finding import Found
from corel.gallery import Verdict
from corel.report import Panel, Picture, Section, Strip, write_report
from corel.training import TrainConfig, train

LEAD = (
    "The first three sections recognize things in photographs from sixty windows of each. No training was needed for "
    "them: the encoder was trained once, on other images and without labels. The other sections show what the "
    "connectivity loss does, on two small encoders of digits."
)
# A decoder needs more epochs, and no AUC is measured.
LEFT_OUT = ("reconstructions", "AUC per class", "ROC curves", "best and worst images")
LOSS = Section(
    "The connectivity loss",
    "The demo has just trained two small encoders on handwritten digits, for a few epochs: one with the connectivity "
    "loss, one without it. They are not the encoder that recognized the things above. The rest of this page compares "
    "the two.",
)


def train_pair(*, epochs: int = 6, width: int = 8, progress: bool = False) -> dict[str, Backbone]:
    """Train two small encoders on digits for a few seconds, with the connectivity loss and without it."""
    digits = images.open("digits", progress=False)
    return {
        name: train(digits, TrainConfig(epochs=epochs, width=width, weight=weight), progress=progress)
        for name, weight in (("with the loss", TrainConfig().weight), ("without the loss", 0.0))
    }


def write_page(
    path: Path,
    found: Mapping[str, Found],
    recognized: Recognized,
    why: Panel,
    pair: dict[str, Backbone],
    *,
    rate: float,
) -> Path:
    """Write the page and its pictures beside it."""
    first = [_found_section(found, rate), _recognized_section(recognized, rate), _why_section(why), LOSS]
    digits = images.open("digits", progress=False)
    return write_report(
        path, pair, images=digits, title="corel on a photograph", lead=LEAD, first=first, leave_out=LEFT_OUT,
        progress=False,
    )  # fmt: skip


def _found_section(found: Mapping[str, Found], rate: float) -> Section:
    return Section(
        "Point at a thing, see the rest of it",
        f"Sixty windows of 32×32 pixels from the white box are enrolled. Everything with a p-value above {rate:.0%} "
        "stays in color.",
        pictures=[
            Picture(f"found-{name}", np.asarray(each.overlay(rate)), f"A box on the {name}.")
            for name, each in found.items()
        ],
        remark=f"Windows of one photograph overlap, so here the rate is a guide, not a promise. {CREDIT}.",
    )


def _recognized_section(recognized: Recognized, rate: float) -> Section:
    members = [name in THINGS for name in recognized.truth]
    return Section(
        "New windows against a gallery",
        f"Four things are enrolled: {', '.join(THINGS)}. Each new window is known, unsure, a stranger or not a "
        f"photograph. The gallery {recognized.summary()}.",
        strips=[
            _strip("members", "New windows of the enrolled things", recognized, members),
            _strip(
                "strangers", "Windows of other things, a black frame and noise", recognized, [not m for m in members]
            ),
        ],
        remark=f"Of images of the enrolled things, at most {rate:.0%} are called strangers, averaged over enrollments, "
        f"if new images are like the enrolled ones. {CREDIT}.",
    )


def _strip(name: str, label: str, recognized: Recognized, chosen: list[bool]) -> Strip:
    indices = np.flatnonzero(chosen)
    words = [f"{_said(recognized.verdicts[i])} p\u00a0{recognized.verdicts[i].p_value:.2f}" for i in indices]
    return Strip(name, label, recognized.windows[indices], words)


def _said(verdict: Verdict) -> str:
    if verdict.verdict == "known":
        return verdict.classes[0]
    return f"{'/'.join(verdict.classes or (verdict.likeliest,))}?" if verdict.verdict == "unsure" else verdict.verdict


def _why_section(why: Panel) -> Section:
    return Section("Why?", "The enrolled windows that speak for one of the new ones, the most important first.", [why])
