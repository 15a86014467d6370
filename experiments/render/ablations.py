"""What trainings show of the loss as sections: branches, the weight λ, and a fair control without the loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments import paper
from experiments._lib.names import SCORES
from experiments._lib.parts import results
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.sections import is_substituted, not_run, origin, section, seed_span
from experiments.render.tables import markdown, signed

BARS = 99  # of a batch of 100
LARGE = "5000"  # exemplars at which the paper compares branches


def branching(records: Path = RESULTS) -> str:
    """Figure 4: losses at the last common epoch, AUC by branches, and what the paper says of both."""
    if pending := not_run("branching", "backbones", records=records):
        return pending
    found = results("branching", records)
    known = {name: paper.BRANCHES_IN_TEXT[int(name.split()[0])] for name in found}
    rows = [[name, *_losses(each), *_aucs(each, "branching", known[name], records)] for name, each in found.items()]
    last = read("branching", records)["config"]["epochs"]
    losses = ["connectivity, untrained", f"connectivity, epoch {last}", f"reconstruction, epoch {last}"]
    heading = ["branches × dimensions", *losses, *_auc_heading("branching", records)]
    return section(
        "branching",
        records,
        _epochs("branching", records),
        markdown(heading, rows),
    )


def initialization(records: Path = RESULTS) -> str:
    """What the paper says of the three variants' losses, beside what was measured, in one paragraph."""
    if pending := not_run("branching", records=records):
        return pending
    found = results("branching", records)
    start = {name: each["connectivity, untrained"] for name, each in found.items()}
    errors = [_last(each)["reconstruction"] for each in found.values()]
    whole = start["1 × 160"]
    rank = "the smallest of the three" if whole == min(start.values()) else "not the smallest of the three"
    return (
        "Two statements of the paper do not hold as written. Reconstruction is not almost equal: best and worst "
        f"differ by {max(errors) / min(errors) - 1:.0%}. And the connectivity loss without branches is not "
        f'"small, even at initialization". It is {rank}, but {whole:.0f} over {BARS} bars is a mean miss of '
        f"{whole / BARS:.2f} a bar, where η = 2."
    )


def presets(records: Path = RESULTS) -> str:
    """The preset `paper` beside `authors`."""
    if pending := not_run("presets", "backbones", records=records):
        return pending
    found = results("presets", records)
    rows = [[f"`{name}`", *_losses(each), *(f"{each['auc'][m]:.4f}" for m in ("120", LARGE))]
            for name, each in found.items()]  # fmt: skip
    heading = ["preset", "connectivity, untrained", "connectivity, last epoch", "reconstruction, last epoch",
               "AUC, m = 120", f"AUC, m = {int(LARGE):,}"]  # fmt: skip
    return section("presets", records, _epochs("presets", records), markdown(heading, rows))


def weights(records: Path = RESULTS) -> str:
    """Figure 5: AUC by λ and m, the authors' beside ours."""
    theirs = {f"λ = {weight:g}": by for weight, by in paper.WEIGHT_ABLATION.items()}
    sizes = list(paper.WEIGHT_ABLATION[20])
    rows = [[f"authors, {name}", *(f"{by[m]:.4f}" for m in sizes)] for name, by in theirs.items()]
    heading = ["m", *(f"{m:,}" for m in sizes)]
    if pending := not_run("weights", "backbones", records=records):
        return f"{markdown(heading, rows)}\n\n{pending}"
    found = results("weights", records)
    rows = [[f"corel, {name}", *(f"{each['auc'][str(m)]:.4f}" for m in sizes)] for name, each in found.items()] + rows
    if not is_substituted("weights", records):
        rows += [
            [f"difference, {name}", *(signed(each["auc"][str(m)] - theirs[name][m]) for m in sizes)]
            for name, each in found.items()
        ]
    return section(
        "weights",
        records,
        _epochs("weights", records),
        markdown(heading, rows),
    )


def control(records: Path = RESULTS) -> str:
    """AUC with the loss and without it, the latter at a radius chosen fairly."""
    if pending := not_run("control", "backbones", records=records):
        return pending
    found = results("control", records)
    sizes = read("control", records)["config"]["exemplars"]
    rows = [
        [f"{score}, {way}", *(f"{measured['auc'][score][str(m)]:.4f}" for m in sizes)]
        for score in SCORES
        for way, measured in found.items()
    ]
    return section(
        "control",
        records,
        _epochs("control", records),
        markdown(["m", *(f"{m:,}" for m in sizes)], rows),
    )


def worth(records: Path = RESULTS) -> str:
    """How much of the gap between λ = 20 and λ = 0 comes from the loss, in one paragraph."""
    if pending := not_run("control", records=records):
        return pending
    shaped, raw, *fair = (measured["auc"]["count"]["120"] for measured in results("control", records).values())
    return (
        f"At m = 120 the count has an AUC of {shaped:.3f} with the connectivity loss and {raw:.3f} without it at the "
        f"same radius, the comparison that the authors print. With a radius at the same quantile of distances the "
        f"encoder without the loss has {max(fair):.3f} at best. So {shaped - max(fair):.2f} of the gap of "
        f"{shaped - raw:.2f} comes from the loss, and {max(fair) - raw:.2f} from the radius."
    )


def _losses(variant: dict[str, Any]) -> list[str]:
    last = _last(variant)
    start = f"{variant['connectivity, untrained']:.1f}"
    return [start, f"{last['connectivity']:.1f}", f"{last['reconstruction']:.1f}"]


def _last(variant: dict[str, Any]) -> dict[str, float]:
    last: dict[str, float] = variant["history"][-1]
    return last


def _auc_heading(name: str, records: Path) -> list[str]:
    difference = [] if is_substituted(name, records) else ["difference"]
    return ["AUC, m = 120", f"AUC, m = {int(LARGE):,}", "authors", *difference]


def _aucs(variant: dict[str, Any], name: str, known: float, records: Path) -> list[str]:
    difference = [] if is_substituted(name, records) else [signed(variant["auc"][LARGE] - known)]
    return [f"{variant['auc']['120']:.4f}", f"{variant['auc'][LARGE]:.4f}", f"{known:.2f}", *difference]


def _epochs(name: str, records: Path) -> str:
    """Where encoders come from, how long they were trained where the paper has 50 epochs, and what chance may do."""
    epochs = read(name, records)["config"]["epochs"]
    trainings = f"Trainings have {epochs} epochs instead of {paper.EPOCHS}."
    return f"{origin(name, records)} {trainings} Each is one training: {seed_span(records)}."
