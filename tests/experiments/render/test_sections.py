"""Sections of the documentation: the command where nothing was run, tables and readings that follow the numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import paper
from experiments._lib.baselines import OURS
from experiments._lib.parts import Part, run_parts
from experiments.render import ablations, benefit, comparison, encoders, figures, geometry, speed
from measuring.record import record

SECTIONS: dict[str, Callable[[Path], str]] = {
    "table1": comparison.table1, "baselines": comparison.classes, "parameters": comparison.parameters,
    "contrast": comparison.scores, "branching": ablations.branching, "weights": ablations.weights,
    "radius": geometry.radius, "lifetimes": geometry.lifetimes, "control": ablations.control,
    "variability": geometry.variability, "density": geometry.density, "precision": encoders.precision,
    "longer": encoders.longer, "stronger": encoders.stronger, "contrastive": encoders.variants,
    "benefit": benefit.benefit, "domains": encoders.domains,
}  # fmt: skip
SIZES = list(paper.WEIGHT_ABLATION[20])


def put(folder: Path, name: str, found: dict[str, Any], **config: Any) -> None:
    run_parts(name, [Part(part, {}, lambda part=part: found[part]) for part in found], config, folder=folder)  # type: ignore[misc]


def put_backbones(folder: Path) -> None:
    cells = [{"auxiliary": "cifar10", "evaluated": "cifar10", "count": {"auc": auc}} for auc in (0.75, 0.76, 0.765)]
    record("backbones", config={"epochs": 30}, results={"cells": cells}, seed=0, seconds=1, folder=folder)


def variant(auc: float, connectivity: float = 20.0) -> dict[str, Any]:
    history = [{"epoch": k, "connectivity": connectivity, "reconstruction": 300.0} for k in (1, 2)]
    aucs = {str(m): auc for m in SIZES}
    return {"history": history, "connectivity, untrained": 150.0, "auc": aucs}


@pytest.mark.parametrize("name", SECTIONS)
def test_what_was_not_run_gives_its_command(name: str, tmp_path: Path) -> None:
    shown = SECTIONS[name](tmp_path)
    assert "Not run yet: `python -m experiments " in shown
    assert f"experiments {name}" in shown


def test_published_numbers_stand_without_any_record(tmp_path: Path) -> None:
    assert "0.7806" in ablations.weights(tmp_path)
    assert "0.7636" in geometry.radius(tmp_path)
    assert "| ADT-1,000 | 0.75† | 0.71† |" in comparison.published(tmp_path)


def test_table_1_says_where_data_is_missing(tmp_path: Path) -> None:
    row = {"mean": 0.76}
    put_backbones(tmp_path)
    put(tmp_path, "table1", {"cifar10 → cifar10": {"count": {"120": row}, "contrast": {"120": row}}})
    shown = comparison.table1(tmp_path)
    assert "| CIFAR-10 → CIFAR-10 | 120 | 0.7600 | 0.7600 | 0.7596 | +0.0004 |" in shown
    assert shown.count("data not available") == len(paper.CELLS) - 1
    assert "Of 1 measured rows 1 are within" in shown
    assert "up to 0.015 apart" in shown


def test_the_claim_follows_the_numbers() -> None:
    assert "**holds**" in comparison.claim(0.75, {"ADT (plain)": 0.70, "DAGMM": 0.5})
    lost = comparison.claim(0.75, {"ADT (plain)": 0.76, "DAGMM": 0.5})
    assert "**does not hold**" in lost
    assert "below ADT (plain)" in lost
    assert "is not above the published" in comparison.claim(0.6, {"DAGMM": 0.5})


def test_methods_stand_beside_their_published_values(tmp_path: Path) -> None:
    row = {"fit seconds": 60.0, "score seconds": 3.0, "test images": 10_000, "parameters": 123_456}
    kinds = ("airplane", "automobile")
    found: dict[str, Any] = {
        f"DAGMM, {kind}": {"method": "DAGMM", "class": kind, "auc": {"DAGMM": auc}, **row}
        for kind, auc in zip(kinds, (0.4, 0.6), strict=True)
    }
    subset = [{"method": score, "mean": 0.74} for score in ("count", "contrast")]
    put(
        tmp_path,
        "baselines",
        {**found, OURS: dict.fromkeys(comparison.ENCODERS, subset)},
    )
    score = {"120": {"mean": 0.76}}
    cells = ("cifar10 → cifar10", "tiny-imagenet → cifar10")
    put(tmp_path, "table1", {cell: {"count": score, "contrast": score} for cell in cells})
    best = [{"method": "contrast", "exemplars": m, "mean": auc} for m, auc in ((10, 0.7), (120, 0.84))]
    record("stronger", config={}, results={"cifar10": best}, seed=0, seconds=1, folder=tmp_path)
    counts = {"corel, encoder": 113_888, "corel, contrastive encoder": 2_000_000}
    record("parameters", config={}, results=counts, seed=0, seconds=1, folder=tmp_path)
    shown = comparison.comparison(tmp_path)
    assert "| DAGMM | 0.500 | – | 0.531 | 10,000 | 63 | 123,456 |" in shown
    assert "| corel, count (CIFAR-10) | 0.760 | 0.760 | – | 10,000 | – | 113,888 |" in shown
    assert "| corel, contrast (Tiny-ImageNet, contrastive) | 0.840 | – | – | 10,000 | – | 2,000,000 |" in shown
    assert "**holds**" in shown
    assert "| airplane | 0.400 / 0.414 |" in comparison.classes(tmp_path)
    assert "| mean | 0.500 / 0.531 |" in comparison.classes(tmp_path)


def test_differences_are_given_for_the_original_data_alone(tmp_path: Path) -> None:
    found = {"1 × 160": variant(0.70), "16 × 10": variant(0.78), "32 × 5": variant(0.75)}
    for auxiliary, given in (("cifar100", True), ("tiny-imagenet", False)):
        put_backbones(tmp_path / auxiliary)
        put(tmp_path / auxiliary, "branching", found, auxiliary=auxiliary, epochs=2)
        shown = ablations.branching(tmp_path / auxiliary)
        assert ("difference |" in shown) == given
        assert ("in place of the paper's CIFAR-100" in shown) != given
        assert "16 × 10 > 32 × 5 > 1 × 160, as in the paper" in shown


def test_another_order_is_said_to_be_one(tmp_path: Path) -> None:
    found = {"1 × 160": variant(0.80), "16 × 10": variant(0.78), "32 × 5": variant(0.75)}
    put_backbones(tmp_path)
    put(tmp_path, "branching", found, auxiliary="tiny-imagenet", epochs=2)
    assert "1 × 160 > 16 × 10 > 32 × 5, not as in the paper" in ablations.branching(tmp_path)


def everything(folder: Path) -> None:
    """A record of each figure, with numbers that are easy to find again."""
    put_backbones(folder)
    put(folder, "branching", {"1 × 160": variant(0.7), "16 × 10": variant(0.78), "32 × 5": variant(0.75)},
        auxiliary="tiny-imagenet", epochs=2)  # fmt: skip
    weights = {f"λ = {weight}": variant(0.7 + weight / 1000, 40 - weight) for weight in (1, 10, 20, 40)}
    put(folder, "weights", weights, auxiliary="tiny-imagenet", epochs=2)
    sweep = {f"{r:g}": 0.7 - abs(r - 2.25) / 100 for r in paper.RADIUS_SWEEP[120]}
    put(folder, "radius", {"120": sweep, "5000": sweep}, auxiliary="tiny-imagenet")
    deaths = {"tiny-imagenet": [[1.0, 1.9, 2.5], [1.1, 2.0, 2.6]], "cifar10": [[1.0, 1.8, 2.5], [1.1, 2.0, 2.6]]}
    put(folder, "lifetimes", {"tiny-imagenet → cifar10": deaths}, auxiliary="tiny-imagenet", eta=2.0)
    ways = ("λ = 20, radius η", "λ = 0, radius η", "λ = 0, one matched radius", "λ = 0, a matched radius per branch")
    aucs = dict(zip(ways, (0.75, 0.55, 0.70, 0.72), strict=True))
    control = {way: {"auc": {s: {"10": auc, "120": auc} for s in ("count", "contrast")}} for way, auc in aucs.items()}
    put(folder, "control", control, auxiliary="tiny-imagenet", epochs=2, exemplars=[10, 120])
    by = {"10": {"mean": 0.72, "spread": 0.03}, "200": {"mean": 0.73, "spread": 0.0}}
    put(folder, "variability", {"cifar10": {"count": by, "contrast": by}}, classes=[10, 200])
    shares = {"100": {"share": 0.9, "within": 0.1}, "120": {"share": 0.25, "within": 0.1}}
    put(
        folder,
        "density",
        {"CIFAR-10, one class": shares},
        auxiliary="tiny-imagenet",
        exemplars=[100, 120],
        batch_size=100,
    )


def test_readings_follow_the_numbers(tmp_path: Path) -> None:
    everything(tmp_path)
    assert "40 (λ = 1)" not in ablations.weights(tmp_path)
    assert "39.0 (λ = 1)" in ablations.weights(tmp_path)
    assert "λ = 1 converges to a higher value" in ablations.weights(tmp_path)
    assert "2.25 at m = 120 (the authors': 2.25), 0.0025 above the AUC at η" in geometry.radius(tmp_path)
    assert "differ by at most 0.10 for Tiny-ImageNet → CIFAR-10" in geometry.lifetimes(tmp_path)
    assert "of the gap of +0.2000, +0.0300 is left to the loss itself" in ablations.control(tmp_path)
    assert "the mean moves by at most 0.010" in geometry.variability(tmp_path)
    assert "| neighbours promised | 1 | 21 |" in geometry.density(tmp_path)
    assert "does not describe these sets" in geometry.density(tmp_path)


@pytest.mark.parametrize("name", figures.DRAWN)
def test_figures_are_drawn_once_their_record_is_complete(name: str, tmp_path: Path) -> None:
    figures.save(name, tmp_path, tmp_path)
    assert not (tmp_path / f"{name}.png").exists()
    everything(tmp_path)
    figures.save(name, tmp_path, tmp_path)
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("ours", "verdict"), [(0.75, "within the seeds' spread"), (0.72, "beyond the seeds' spread")])
def test_precision_compares_the_lowest_mean_with_chance(tmp_path: Path, ours: float, verdict: str) -> None:
    found = {
        "plain": {"auc": [0.75, 0.77], "mean": 0.76, "spread": 0.014},
        "fast": {"auc": [ours] * 2, "mean": ours, "spread": 0.0},
    }
    record("precision", config={"epochs": 5, "seeds": [0, 1]}, results=found, seed=None, seconds=1, folder=tmp_path)
    assert verdict in encoders.precision(tmp_path)


@pytest.mark.parametrize(
    ("age", "verdict"), [(0.716, "does not close the gap"), (0.724, "narrows the gap"), (0.727, "closes the gap")]
)
def test_longer_training_is_judged_by_what_remains(tmp_path: Path, age: float, verdict: str) -> None:
    found = {f"seed {seed}": {"30": {"count": 0.717}, "50": {"count": age}} for seed in (1, 2)}
    put(tmp_path, "longer", found, auxiliary="cifar10", evaluated="tiny-imagenet", epochs=[30, 50])
    assert verdict in encoders.longer(tmp_path)


def test_the_stronger_encoder_stands_beside_the_paper_s(tmp_path: Path) -> None:
    mean = {"auxiliary": "tiny-imagenet", "evaluated": "cifar10", "count": 0.75, "contrast": 0.76}
    record("backbones", config={}, results={"means": [mean]}, seed=0, seconds=1, folder=tmp_path)
    rows = [{"method": score, "exemplars": 120, "mean": auc} for score, auc in (("count", 0.80), ("contrast", 0.84))]
    config = {"epochs": 12, "minutes": 60.0, "threads": 2, "deaths": [1.1, 1.9, 2.7]}
    record("stronger", config=config, results={"cifar10": rows}, seed=0, seconds=1, folder=tmp_path)
    shown = encoders.stronger(tmp_path)
    assert "| CIFAR-10, contrast | 0.760 | 0.840 | +0.0800 |" in shown
    assert "ε̂ = 1.90" in shown


def test_variants_are_compared_with_the_first(tmp_path: Path) -> None:
    def measured(contrast: float) -> dict[str, Any]:
        return {"seconds": 90, "auc": {"count": {"η": 0.7}, "contrast": {"η": contrast, "5%": 0.79}}}

    found = {"the preset": measured(0.78), "another": measured(0.77)}
    put(tmp_path, "contrastive", found, images=20_000, exemplars=120)
    assert "| another | 1.5 | 0.700 | 0.770 | 0.790 | −0.0100 |" in encoders.variants(tmp_path)


def test_the_benefit_is_read_at_the_radius_that_was_asked_for(tmp_path: Path) -> None:
    """With the loss the matched radius is η itself; the best one is the best of all that were tried."""

    def measured(**aucs: float) -> dict[str, Any]:
        names = {"η": aucs["eta"], "5%": aucs["other"], **({"matched": aucs["matched"]} if "matched" in aucs else {})}
        ways = {f"{score}, {name}": auc for score in ("count", "contrast") for name, auc in names.items()}
        shown = {way: {"120": {"each class": auc, "one threshold": auc - 0.1}}
                 for way, auc in {**ways, "5 nearest neighbours": 0.8}.items()}  # fmt: skip
        return {"auc": {"cifar10": shown}, "decisions": {way: {"inside": 0.05, "outside": 0.4} for way in ways}}

    found = {
        "new, with": measured(eta=0.82, other=0.83), "new, without": measured(eta=0.51, other=0.79, matched=0.78),
        "old, with": measured(eta=0.62, other=0.61), "old, without": measured(eta=0.51, other=0.61, matched=0.60),
    }  # fmt: skip
    named = {"recipes": ["new", "old"], "encoders": ["with", "without"], "evaluated": ["cifar10"], "exemplars": [120]}
    assert benefit.brings(tmp_path) == ""
    put(tmp_path, "benefit", found, decided=120, rate=0.05, draws=3, **named)
    shown = benefit.benefit(tmp_path)
    assert "| count, radius η | 0.820 | 0.510 |" in shown
    assert "| count, matched radius | 0.820 | 0.780 |" in shown
    assert "| count, best radius | 0.830 | 0.790 |" in shown
    assert "| contrast, radius η | 5.0% | 5.0% | 40.0% | 40.0% | 0.720 | 0.410 |" in shown
    assert "is worth +0.0400 to the count" in shown
    assert "| count, matched radius | 0.620 | 0.600 |" in shown
    assert "by its old recipe" in shown
    assert "old recipe" not in benefit.brings(tmp_path)
    assert "which know no radius, +0.0000" in shown
    assert "| count, radius of 5% | 0.830 | 0.790 |" in shown
    assert "the count has 0.820 and 0.510 with and without it" in benefit.brings(tmp_path)
    assert "the count has 0.830 and 0.790, the contrast 0.830 and 0.790" in benefit.brings(tmp_path)
    assert benefit.brings(tmp_path).endswith("the loss brings AUC, and a radius known beforehand.")


def test_a_loss_that_brings_no_auc_is_said_to_bring_none() -> None:
    assert "a radius known beforehand and no AUC" in benefit._verdict(-0.004)


def test_costs_show_the_default_score_the_spread_of_rounds_and_both_times_of_topology(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def benchmark(name: str, **results: Any) -> None:
        record(name, config={}, results=results, seed=0, seconds=1, folder=tmp_path)

    others = ("torch.cdist, chunked", "scikit-learn, radius neighbours")
    scores = dict(zip((speed.COUNT, speed.DEFAULT, *others), (70.0, 800.0, 700.0, 7000.0), strict=True))
    benchmark("scoring", ten_classes={"points": 10, "milliseconds": scores, "ratio": dict.fromkeys(others, 10.0)})
    steps = {"plain eager float32": 44.0, "corel.train": 40.0, "topology": 0.9}
    ratios = {"speed-up": 1.1, "speed-up of each round": [1.1, 2.12, 0.95]}
    benchmark("train_step", **{"milliseconds a step": steps, **ratios})
    benchmark("persistence", forward_backward=[{"method": speed.OURS, "points": 100, "milliseconds": 0.25}])
    monkeypatch.setattr(speed, "BENCHMARKS", tmp_path)
    shown = speed.costs()
    assert "| plain eager float32: 44 ms (1.1×, rounds 0.95 to 2.1) |" in shown
    assert "(warm, as above: 0.25 ms) | 0.9 ms |" in shown
    assert "10 classes of 120: count, no p-values | 70 ms |" in shown
    assert "| – the default: contrast with p-values | 800 ms |" in shown
