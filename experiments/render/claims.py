"""The verdict on each claim of the paper, from the committed records: one row a claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from experiments import paper
from experiments._lib.names import DATASETS
from experiments._lib.parts import is_complete, results
from experiments._lib.paths import BENCHMARKS, RESULTS
from experiments._lib.record import read
from experiments.render import wider
from experiments.render.cells import M, between_trainings, trainings
from experiments.render.comparison import differences_by_method, sign_flip
from experiments.render.sections import between_seeds, listed
from experiments.render.tables import markdown, signed

Verdict = Literal["held", "held in part", "did not hold", "not run"]
IMAGENET = 0.72  # AUC
LEVEL = 0.05  # of the paired test
EQUAL = 0.05  # relative difference up to which losses are "almost equal"
CONVERGED = 50  # epochs of the paper's trainings
STATED = 800_000  # parameters of the encoder
SMALL = 0.2  # mean miss of a bar, a tenth of η
DRIFT = 0.01  # of the mean AUC, from 10 classes to 200
DRAWN = 0.001  # the largest deviation over draws that Table 1's caption gives
ETA = 2  # of the paper's encoders and of its toy example


@dataclass(frozen=True)
class Finding:
    """What became of a claim, and the number behind it."""

    verdict: Verdict
    measured: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, its place, the record it needs, and the page that has the details."""

    statement: str
    place: str
    page: str
    needs: str
    judge: Callable[[Path], Finding]


def claims(records: Path = RESULTS) -> str:
    """One row a claim: what the paper says, the verdict, what was measured."""
    rows = []
    for claim in CLAIMS:
        known = claim.needs in ("", *(path.stem for path in records.glob("*.json")))
        finding = claim.judge(records) if known else Finding("not run", "–")
        link = f"[details](reproduction/{claim.page}.md)"
        rows.append([claim.statement, claim.place, f"**{finding.verdict}**", finding.measured, link])
    return markdown(["claim", "in the paper", "verdict", "measured here", ""], rows, text=5)


def _cells(records: Path) -> Finding:
    deviation, differences = between_trainings(records), []
    for cell in paper.CELLS:
        aucs = trainings((cell.auxiliary, cell.evaluated), "count", M, records)
        if aucs:
            error = deviation * np.sqrt(1 + 1 / len(aucs))
            differences.append((float(np.mean(aucs)) - cell.m120) / error)
    near = sum(abs(each) <= 2 for each in differences)
    verdict: Verdict = "held" if near == len(differences) else "held in part" if near else "did not hold"
    return Finding(verdict, f"{near} of {len(differences)} cells within two standard errors of the authors'")


def _draws(records: Path) -> Finding:
    spreads = {name: each["count"]["120"]["spread"] for name, each in results("table1", records).items()}
    within = sum(spread <= DRAWN for spread in spreads.values())
    verdict: Verdict = "held" if within == len(spreads) else "held in part" if within else "did not hold"
    sets = {name.partition(" → ")[2].partition(",")[0] for name, spread in spreads.items() if spread <= DRAWN}
    on = f", on {listed(sorted(DATASETS[each] for each in sets))}" if sets else ""
    least, most = min(spreads.values()), max(spreads.values())
    return Finding(verdict, f"{least:.4f} to {most:.4f}; at most {DRAWN:g} in {within} of {len(spreads)} trainings{on}")


def _baselines(records: Path) -> Finding:
    return _compared(differences_by_method(records))


def _on(dataset: str) -> Callable[[Path], Finding]:
    def judge(records: Path) -> Finding:
        found = wider.differences(records)
        return _compared({name: each for name, each in found.items() if name.endswith(f" on {dataset}")})

    return judge


def _from_thousand(records: Path) -> Finding:
    """Ours from 120 images minus ADT from 1,000, on the classes that were run."""
    found = wider.against_thousand(records)
    if not found:
        return Finding("not run", "–")
    worst = min(found, key=lambda name: found[name].mean())
    gap, classes = float(found[worst].mean()), len(found[worst])
    measured = f"{signed(gap)} to {worst} on {classes} of 10 classes (p = {sign_flip(found[worst]):.3f})"
    return Finding("held in part" if gap > 0 else "did not hold", measured)


def _compared(found: dict[str, Any]) -> Finding:
    """Ours minus each baseline, class by class."""
    if not found:
        return Finding("not run", "the paired test needs baselines, and encoders of the paper's auxiliary data")
    clear = [name for name, each in found.items() if each.mean() > 0 and sign_flip(each) <= LEVEL]
    closest = min(found, key=lambda name: found[name].mean())
    verdict: Verdict = "held" if len(clear) == len(found) else "held in part" if clear else "did not hold"
    gap, p = signed(float(found[closest].mean())), sign_flip(found[closest])
    return Finding(
        verdict, f"above {len(clear)} of {len(found)} at p ≤ {LEVEL:g}; closest: {closest}, {gap} (p = {p:.3f})"
    )


def _branches(records: Path) -> Finding:
    aucs = {name: each["auc"]["5000"] for name, each in results("branching", records).items()}
    order = sorted(aucs, key=lambda name: -aucs[name])
    same = order == ["16 × 10", "32 × 5", "1 × 160"]
    clear = same and aucs["16 × 10"] - aucs["32 × 5"] > (seeds := between_seeds(records))
    measured = " > ".join(f"{name} ({aucs[name]:.3f})" for name in order)
    if same and not clear:
        measured += f"; the first two are closer than seeds are ({seeds:.3f})"
    return Finding("held" if clear else "held in part" if same else "did not hold", measured)


def _reconstruction(records: Path) -> Finding:
    histories = [each["history"] for each in results("branching", records).values()]
    errors, epochs = [history[-1]["reconstruction"] for history in histories], len(histories[0])
    apart = max(errors) / min(errors) - 1
    verdict: Verdict = "held" if apart <= EQUAL else "held in part" if epochs < CONVERGED else "did not hold"
    return Finding(verdict, f"best and worst differ by {apart:.0%} after {epochs} epochs; the paper has {CONVERGED}")


def _initialization(records: Path) -> Finding:
    misses = {name: each["connectivity, untrained"] / 99 for name, each in results("branching", records).items()}
    least = min(misses, key=lambda name: misses[name])
    small = misses["1 × 160"] < SMALL
    measured = f"{least} has the smallest loss; without branches the mean miss is {misses['1 × 160']:.2f} a bar (η = 2)"
    return Finding("held" if small else "did not hold", measured)


def _weights(records: Path) -> Finding:
    aucs = {name: each["auc"]["5000"] for name, each in results("weights", records).items()}
    rest = [auc for name, auc in aucs.items() if name != "λ = 1"]
    small, flat = aucs["λ = 1"] < min(rest), max(rest) - min(rest) <= between_seeds(records)
    measured = f"λ = 1: {aucs['λ = 1']:.3f}; λ ≥ 10: {min(rest):.3f} to {max(rest):.3f}"
    return Finding("held" if small and flat else "held in part" if small else "did not hold", measured)


def _loss(records: Path) -> Finding:
    shaped, raw, *fair = (each["auc"]["count"]["120"] for each in results("control", records).values())
    verdict: Verdict = "held" if shaped - max(fair) > 0.5 * (shaped - raw) else "held in part"
    return Finding(verdict, f"{shaped:.3f} with it, {raw:.3f} without, {max(fair):.3f} without at a matched radius")


def _lifetimes(records: Path) -> Finding:
    apart = 0.0
    for measured in results("lifetimes", records).values():
        first, second = (np.array(deaths)[:, 1] for deaths in measured.values())
        apart = max(apart, float(np.abs(first - second).max()))
    return Finding("held" if apart < 0.2 else "held in part", f"a branch's mean differs by at most {apart:.2f} (η = 2)")


def _dimension(records: Path) -> Finding:
    flat = next(shot for shot in read("toy", records)["results"] if shot["epoch"] == 60)
    deaths = np.array(next(iter(next(iter(results("lifetimes", records).values())).values())))
    low, mean, high = deaths.mean(0).tolist()
    wide, tight = (flat["beta"] - flat["alpha"]) / flat["epsilon"], (high - low) / mean
    nearer = abs(mean - ETA) < abs(flat["epsilon"] - ETA)
    return Finding(
        "held" if tight < wide and nearer else "did not hold",
        f"(β̂ − α̂) / ε̂ is {tight:.1f} in R¹⁰ and {wide:.1f} in the toy's R²; ε̂ {mean:.2f} and {flat['epsilon']:.2f}",
    )


def _scaling(records: Path) -> Finding:
    drift = max(
        abs(each["10"]["mean"] - each["200"]["mean"])
        for by in results("variability", records).values()
        for each in by.values()
    )
    measured = f"the mean stays within {drift:.3f}, as it would with any method"
    return Finding("held in part" if drift <= DRIFT else "did not hold", measured)


def _density(records: Path) -> Finding:
    shares = [by["120"]["share"] for by in results("density", records).values()]
    return Finding(
        "held" if min(shares) > 0.99 else "did not hold",
        f"{min(shares):.0%} to {max(shares):.0%} of points have them at m = 120",
    )


def _toy(records: Path) -> Finding:
    shots = read("toy", records)["results"]
    last, data = ([shot for shot in shots if shot["epoch"] == epoch] for epoch in (60, None))
    gaps = [f"{(shot['beta'] - shot['alpha']) / shot['epsilon']:.1f}" for shot in (*last, *data)]
    return Finding(
        "held in part",
        f"ε̂ = {last[0]['epsilon']:.2f}; (β̂ − α̂) / ε̂ is {gaps[0]}, then {gaps[1]}; "
        f"of the raw data {gaps[2]}, then {gaps[3]}",
    )


def _runtime(_records: Path) -> Finding:
    share = read("train_step", BENCHMARKS)["results"]["topology's share"]
    return Finding("held" if share < 0.05 else "did not hold", f"{share:.1%} of a training step, on the CPU")


def _parameters(records: Path) -> Finding:
    counts = read("parameters", records)["results"]
    return Finding(
        "held" if abs(counts["corel, encoder"] / STATED - 1) <= EQUAL else "did not hold",
        f"{counts['corel, encoder']:,}; counting zeros, the autoencoder has "
        f"{counts['corel, autoencoder of one branch']:,}",
    )


def _imagenet(records: Path) -> Finding:
    found = results("mini_imagenet", records)
    aucs = {DATASETS[name]: each["count"]["120"]["mean"] for name, each in found.items()}
    measured = ", ".join(f"{auc:.3f} ({name})" for name, auc in aucs.items())
    verdict: Verdict = "not run"
    if is_complete("mini_imagenet", records):
        verdict = "held in part" if min(aucs.values()) >= IMAGENET - between_trainings(records) else "did not hold"
    return Finding(verdict, f"{measured} on mini-ImageNet: 100 of the classes, 84 px")


CLAIMS = (
    Claim("the AUCs at m = 120 in the authors' notebook", "notebook", "table1", "table1", _cells),
    Claim("over draws, AUC deviates by at most 0.001", "Table 1", "table1", "table1", _draws),
    Claim("from 120 images, above ADT and all baselines on CIFAR-10", "Table 1", "baselines", "baselines", _baselines),
    Claim("the same on CIFAR-20", "Table 1", "baselines", "wider", _on("CIFAR-20")),
    Claim("from 120 images, above ADT on CIFAR-100", "Table 1", "baselines", "wider", _on("CIFAR-100")),
    Claim("from 120 images, slightly above ADT from 1,000", "Table 1", "baselines", "wider", _from_thousand),
    Claim("AUC of .72 on ImageNet", "Table 1", "table1", "mini_imagenet", _imagenet),
    Claim("16 branches are better than 32 and than none", "section 5.3", "branches", "branching", _branches),
    Claim("reconstruction is almost equal across branches", "Fig. 4", "branches", "branching", _reconstruction),
    Claim("without branches the loss is small at initialization", "Fig. 4", "branches", "branching", _initialization),
    Claim("λ = 1 is too small; from 10 on λ matters little", "Fig. 5", "weight", "weights", _weights),
    Claim("without the connectivity loss the score fails", "notebook", "weight", "control", _loss),
    Claim("death times agree within and across datasets", "Fig. 6", "geometry", "lifetimes", _lifetimes),
    Claim("in R¹⁰ death times are tighter and closer to η", "section 5.3", "geometry", "lifetimes", _dimension),
    Claim("AUC is kept with many classes, which shows scaling", "section 5.4", "geometry", "variability", _scaling),
    Claim("m − b + 1 neighbors within β̂ (Lemma 1 in practice)", "section 4", "geometry", "density", _density),
    Claim("ε̂ comes close to η, and small batches narrow β̂ − α̂", "Fig. 2", "toy", "toy", _toy),
    Claim("its runtime matters little beside backpropagation", "appendix", "speed", "", _runtime),
    Claim("the encoder has about 800,000 parameters", "section 5.4", "baselines", "parameters", _parameters),
)
