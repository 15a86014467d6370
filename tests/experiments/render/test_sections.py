"""Sections of the documentation: the command where nothing was run, tables and readings that follow the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import paper
from experiments._lib import paths
from experiments._lib.baselines import OURS
from experiments._lib.parts import Part, run_parts
from experiments.render import (
    ablations,
    benefit,
    cells,
    claims,
    comparison,
    encoders,
    figures,
    geometry,
    overview,
    speed,
    wider,
    wrapped,
)
from measuring.record import record

SECTIONS: dict[str, Callable[[Path], str]] = {
    "table1": cells.table1, "mini_imagenet": cells.mini, "baselines": comparison.classes,
    "parameters": comparison.parameters,
    "contrast": cells.scores, "branching": ablations.branching, "weights": ablations.weights,
    "radius": geometry.radius, "lifetimes": geometry.lifetimes, "control": ablations.control,
    "variability": geometry.variability, "density": geometry.density, "precision": encoders.precision,
    "longer": encoders.longer, "stronger": encoders.stronger, "contrastive": encoders.variants,
    "benefit": benefit.benefit, "domains": encoders.domains, "encoders": wrapped.wrapped, "wider": wider.wider,
    "recipes": encoders.recipes, "general": encoders.general, "native": encoders.native,
    "photos": encoders.photos,
}  # fmt: skip
SIZES = list(paper.WEIGHT_ABLATION[20])


def put(folder: Path, name: str, found: dict[str, Any], **config: Any) -> None:
    run_parts(name, [Part(part, {}, lambda part=part: found[part]) for part in found], config, folder=folder)  # type: ignore[misc]


def put_backbones(folder: Path) -> None:
    seeds = [
        {"auxiliary": "cifar10", "evaluated": "cifar10", "seed": seed, "count": {"auc": auc}, "contrast": {"auc": auc}}
        for seed, auc in enumerate((0.75, 0.76, 0.765))
    ]
    record("backbones", config={"epochs": 30}, results={"cells": seeds}, seed=0, seconds=1, folder=folder)


def variant(auc: float, connectivity: float = 20.0) -> dict[str, Any]:
    history = [{"epoch": k, "connectivity": connectivity, "reconstruction": 300.0} for k in (1, 2)]
    aucs = {str(m): auc for m in SIZES}
    return {"history": history, "connectivity, untrained": 150.0, "auc": aucs}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_missing_record_shows_the_command_to_run(name: str, tmp_path: Path) -> None:
    shown = SECTIONS[name](tmp_path)
    assert "Not run yet: `python -m experiments " in shown
    assert f"experiments {name}" in shown


def test_encoders_are_shown_beside_each_other_as_far_as_they_are_measured(tmp_path: Path) -> None:
    measured = {
        score: dict(zip(("10", "120"), aucs, strict=True))
        for score, aucs in {"count": (0.71, 0.72), "contrast": (0.73, 0.74), "cosine": (0.75, 0.76)}.items()
    }
    encoder, seed = encoders.TRAINED_ON, "a quarter, seed 1"
    put(tmp_path, "photos", {f"{encoder}, folds of cifar10": measured, f"{seed}, folds of cifar100": measured})
    rows = encoders.photos(tmp_path).splitlines()
    assert rows[0] == f"| folds of, score | trained on | {seed} |"
    assert "| CIFAR-10, cosine, m = 120 | 0.760 | – |" in rows
    assert "| CIFAR-100, count, m = 10 | – | 0.710 |" in rows


def test_published_numbers_are_shown_without_any_record(tmp_path: Path) -> None:
    assert "0.7806" in ablations.weights(tmp_path)
    assert "0.7636" in geometry.radius(tmp_path)
    assert "| ADT-1,000 | 0.75† | 0.71† |" in comparison.published(tmp_path)


def cell(auc: float, classes: Sequence[float] = (0.7, 0.8)) -> dict[str, Any]:
    row = {"mean": auc, "spread": 0.002, "classes": list(classes)}
    return {"count": {"80": row, "120": row}, "contrast": {"120": row}}


def test_table_1_has_every_training_and_flags_differences_beyond_two_standard_errors(tmp_path: Path) -> None:
    put_backbones(tmp_path)
    put(tmp_path, "table1", {"cifar10 → cifar10, seed 0": cell(0.755), "cifar100 → cifar20, seed 0": cell(0.80)})
    shown = cells.table1(tmp_path)
    deviation = np.std([0.755, 0.76, 0.765], ddof=1)
    assert cells.between_trainings(tmp_path) == pytest.approx(deviation)
    error = f"{deviation * np.sqrt(4 / 3):.4f}"
    assert f"| CIFAR-10 → CIFAR-10 | 120 | 3 | 0.7600 | 0.7596 | +0.0004 | {error} | 0.7600 |" in shown
    assert "| CIFAR-10 → CIFAR-10 | 80 | 1 | 0.7550 | 0.7501 | +0.0049 |" in shown
    assert "| CIFAR-100 → CIFAR-20 | 120 | 1 | 0.8000 | 0.7264 | **+0.0736** |" in shown
    assert "| Tiny-ImageNet → ImageNet | 120 | – |" in shown


def test_a_record_that_is_not_complete_names_what_is_missing(tmp_path: Path) -> None:
    parts = [Part(name, {}, lambda: cell(0.7)) for name in ("cifar10 → cifar10, seed 0", "cifar100 → cifar10, seed 1")]
    run_parts("table1", parts, {}, only=["cifar10 → cifar10, seed 0"], folder=tmp_path)
    assert "Not measured yet: cifar100 → cifar10, seed 1. Continue with `python -m experiments" in cells.table1(
        tmp_path
    )


def test_controls_are_shown_cell_by_cell(tmp_path: Path) -> None:
    methods = ("count", "contrast", *overview.CONTROLS)
    rows = [{"exemplars": m, "method": method, "mean": 0.7 + m / 1000} for m in (10, 120) for method in methods]
    put(tmp_path, "contrast", {"cifar10 → cifar20": rows})
    put(tmp_path, "table1", {"cifar10 → cifar20, seed 0": cell(0.71)})
    assert "| m = 10 | count | contrast | count, untrained encoder |" in cells.scores(tmp_path)
    assert "| CIFAR-10 → CIFAR-20 | 0.7100 | 0.7100 |" in cells.scores(tmp_path)
    assert "| CIFAR-10 → CIFAR-20 | 0.723 | 0.710 | 0.710 | 0.820 |" in overview.results(tmp_path)


@pytest.mark.parametrize("differences", [[0.1, 0.2, 0.3, -0.05], [0.02, -0.02], [0.3] * 6])
def test_the_sign_flip_test_counts_all_signs(differences: list[float]) -> None:
    found = np.array(differences)
    means = [abs(np.dot(signs, found)) for signs in product((-1, 1), repeat=len(found))]
    assert comparison.sign_flip(found) == np.mean([mean >= abs(found.sum()) - 1e-9 for mean in means])


def test_the_claim_follows_the_paired_test() -> None:
    clear, unclear = np.full(10, 0.05), np.array([0.05, -0.05] * 5) + 0.001
    assert "**holds** on CIFAR-10" in comparison.claim(0.75, {"ADT (plain)": clear, "DAGMM": clear})
    assert "**holds in part**" in comparison.claim(0.75, {"ADT (plain)": unclear, "DAGMM": clear})
    assert "**does not hold**" in comparison.claim(0.6, {"DAGMM": clear})


def test_every_claim_has_a_verdict_and_a_page(tmp_path: Path) -> None:
    everything(tmp_path)
    put(tmp_path, "table1", {"cifar10 → cifar10, seed 0": cell(0.755)})
    rows = claims.claims(tmp_path).splitlines()[2:]
    assert len(rows) == len(claims.CLAIMS)
    verdicts = {claim.statement: row.split("**")[1] for claim, row in zip(claims.CLAIMS, rows, strict=True)}
    assert verdicts["16 branches are better than 32 and than none"] == "held"
    assert verdicts["λ = 1 is too small; from 10 on λ matters little"] == "held in part"  # .030 apart, seeds .015
    assert verdicts["without branches the loss is small at initialization"] == "did not hold"
    assert verdicts["AUC of .72 on ImageNet"] == "not run"
    assert verdicts["over draws, AUC deviates by at most 0.001"] == "did not hold"
    assert verdicts["from 120 images, slightly above ADT from 1,000"] == "not run"
    assert verdicts["in R¹⁰ death times are tighter and closer to η"] == "held"
    for claim in claims.CLAIMS:
        assert (paths.ROOT / "docs" / "reproduction" / f"{claim.page}.md").exists()


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
    by_class = [0.7] * 10
    pairs = ("cifar10 → cifar10, seed 0", "tiny-imagenet → cifar10, seed 0", "cifar100 → cifar10, seed 0")
    put(tmp_path, "table1", {pair: cell(0.76, by_class) for pair in pairs})
    best = [{"method": "contrast", "exemplars": m, "mean": auc} for m, auc in ((10, 0.7), (120, 0.84))]
    record("stronger", config={}, results={"cifar10": best}, seed=0, seconds=1, folder=tmp_path)
    counts = {"corel, encoder": 113_888, "corel, contrastive encoder": 2_000_000}
    record("parameters", config={}, results=counts, seed=0, seconds=1, folder=tmp_path)
    shown = comparison.comparison(tmp_path)
    assert "| DAGMM | 0.500 | – | 0.531 | 10,000 | 63 | 123,456 |" in shown
    assert "| corel, count (CIFAR-10) | 0.760 | 0.760 | – | 10,000 | – | 113,888 |" in shown
    assert "| corel, contrast (Tiny-ImageNet, contrastive) | 0.840 | – | – | 10,000 | – | 2,000,000 |" in shown
    assert "| DAGMM | +0.2000 | 2 of 2 | 0.500 |" in comparison.paired(tmp_path)
    assert "**holds in part**" in comparison.standing(tmp_path)  # two classes cannot convince
    assert "| airplane | 0.400 / 0.414 |" in comparison.classes(tmp_path)
    assert "| mean | 0.500 / 0.531 |" in comparison.classes(tmp_path)


def test_differences_are_given_for_the_original_data_alone(tmp_path: Path) -> None:
    found = {"1 × 160": variant(0.70), "16 × 10": variant(0.78), "32 × 5": variant(0.75)}
    for auxiliary, given in (("cifar100", True), ("tiny-imagenet", False)):
        put_backbones(tmp_path / auxiliary)
        put(tmp_path / auxiliary, "branching", found, auxiliary=auxiliary, epochs=2)
        shown = ablations.branching(tmp_path / auxiliary)
        assert ("difference |" in shown) == given
        assert ("where the paper has CIFAR-100" in shown) != given


def test_another_order_of_branches_changes_the_verdict(tmp_path: Path) -> None:
    found = {"1 × 160": variant(0.80), "16 × 10": variant(0.78), "32 × 5": variant(0.75)}
    put(tmp_path, "branching", found, auxiliary="cifar100", epochs=2)
    assert "| **did not hold** | 1 × 160 (0.800) > 16 × 10 (0.780) > 32 × 5 (0.750) |" in claims.claims(tmp_path)


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
    epochs = [
        {"batch_size": b, "epoch": epoch, "alpha": 0.2, "epsilon": 1.7, "beta": 4.0}
        for b in (50, 5)
        for epoch in (None, 60)
    ]
    record("toy", config={}, results=epochs, seed=0, seconds=1, folder=folder)
    shares = {"100": {"share": 0.9, "within": 0.1}, "120": {"share": 0.25, "within": 0.1}}
    put(
        folder,
        "density",
        {"CIFAR-10, one class": shares},
        auxiliary="tiny-imagenet",
        exemplars=[100, 120],
        batch_size=100,
    )


def test_geometry_follows_the_numbers(tmp_path: Path) -> None:
    everything(tmp_path)
    assert "| corel, m = 120 | 0.6825 |" in geometry.radius(tmp_path)
    assert (
        "| Tiny-ImageNet → CIFAR-10 | CIFAR-10, both splits | 1.05 | 1.90 (1.80 to 2.00) | 2.55 |"
        in geometry.lifetimes(tmp_path)
    )
    assert "| CIFAR-10, count | 0.720 ± 0.030 | 0.730 ± 0.000 |" in geometry.variability(tmp_path)
    assert "| neighbors promised | 1 | 21 |" in geometry.density(tmp_path)
    assert "So 0.03 of the gap of 0.20 comes from the loss, and 0.17 from the radius." in ablations.worth(tmp_path)


@pytest.mark.parametrize("name", figures.DRAWN)
def test_figures_are_drawn_once_their_record_is_complete(name: str, tmp_path: Path) -> None:
    figures.save(name, tmp_path, tmp_path)
    assert not (tmp_path / f"{name}.png").exists()
    everything(tmp_path)
    figures.save(name, tmp_path, tmp_path)
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_precision_is_compared_with_the_plain_loop(tmp_path: Path) -> None:
    found = {
        "plain": {"auc": [0.75, 0.77], "mean": 0.76, "spread": 0.014},
        "fast": {"auc": [0.75, 0.76], "mean": 0.755, "spread": 0.007},
    }
    record("precision", config={"epochs": 5, "seeds": [0, 1]}, results=found, seed=None, seconds=1, folder=tmp_path)
    assert "| fast | 0.7500 | 0.7600 | 0.7550 | −0.0050 |" in encoders.precision(tmp_path)


def test_longer_training_stands_beside_the_authors(tmp_path: Path) -> None:
    found = {f"seed {seed}": {"30": {"count": 0.717}, "50": {"count": 0.72}} for seed in (1, 2)}
    put(tmp_path, "longer", found, auxiliary="cifar10", evaluated="tiny-imagenet", epochs=[30, 50])
    assert "| mean | 0.7170 | 0.7200 |" in encoders.longer(tmp_path)
    assert "| authors, one training of 50 epochs | – | 0.7257 |" in encoders.longer(tmp_path)


def test_the_stronger_encoder_stands_beside_the_paper_s(tmp_path: Path) -> None:
    mean = {"auxiliary": "tiny-imagenet", "evaluated": "cifar10", "count": 0.75, "contrast": 0.76}
    record("backbones", config={}, results={"means": [mean]}, seed=0, seconds=1, folder=tmp_path)
    rows = [{"method": score, "exemplars": 120, "mean": auc} for score, auc in (("count", 0.80), ("contrast", 0.84))]
    config = {"epochs": 12, "minutes": 60.0, "threads": 2, "deaths": [1.1, 1.9, 2.7]}
    record("stronger", config=config, results={"cifar10": rows}, seed=0, seconds=1, folder=tmp_path)
    shown = encoders.stronger(tmp_path)
    assert "| CIFAR-10, contrast | 0.760 | 0.840 | +0.0800 |" in shown


def test_variants_are_compared_with_the_first(tmp_path: Path) -> None:
    def measured(contrast: float) -> dict[str, Any]:
        return {"seconds": 90, "auc": {"count": {"η": 0.7}, "contrast": {"η": contrast, "5%": 0.79}}}

    found = {"the preset": measured(0.78), "another": measured(0.77)}
    put(tmp_path, "contrastive", found, images=20_000, exemplars=120)
    assert "| another | 1.5 | 0.700 | 0.770 | 0.790 | −0.0100 |" in encoders.variants(tmp_path)


def by_score(cosine: float) -> dict[str, dict[str, float]]:
    return {score: {"10": 0.6, "120": auc} for score, auc in (("count", 0.7), ("contrast", 0.75), ("cosine", cosine))}


def test_recipes_are_compared_with_the_first_by_cosine(tmp_path: Path) -> None:
    found = {name: {"auc": by_score(auc)} for name, auc in (("the preset", 0.81), ("another", 0.8))}
    put(tmp_path, "recipes", found, images=20_000)
    assert "| another | 0.700 | 0.750 | 0.600 | 0.800 | −0.0100 |" in encoders.recipes(tmp_path)


@pytest.mark.parametrize("name", ["general", "native"])
def test_a_longer_training_is_compared_with_what_ships(name: str, tmp_path: Path) -> None:
    aucs = {"another": 0.88, encoders.SHIPPED: 0.89}
    put(tmp_path, name, {f"{encoder}, folds of cifar10": by_score(auc) for encoder, auc in aucs.items()})
    assert "| CIFAR-10, cosine, m = 120 | 0.890 | 0.880 | −0.0100 |" in SECTIONS[name](tmp_path)


def test_the_benefit_is_read_at_the_radius_that_was_asked_for(tmp_path: Path) -> None:
    """With the loss the matched radius is η itself; the best one is the best of all that were tried."""

    def measured(**aucs: float) -> dict[str, Any]:
        names = {"η": aucs["eta"], "5%": aucs["other"], **({"matched": aucs["matched"]} if "matched" in aucs else {})}
        ways = {f"{score}, {name}": auc for score in ("count", "contrast") for name, auc in names.items()}
        shown = {way: {"120": {"each class": auc, "one threshold": auc - 0.1}}
                 for way, auc in {**ways, "5 nearest neighbors": 0.8}.items()}  # fmt: skip
        return {"auc": {"cifar10": shown}, "decisions": {way: {"inside": 0.05, "outside": 0.4} for way in ways}}

    found = {
        "new, with": measured(eta=0.82, other=0.83), "new, without": measured(eta=0.51, other=0.79, matched=0.78),
        "old, with": measured(eta=0.62, other=0.61), "old, without": measured(eta=0.51, other=0.61, matched=0.60),
    }  # fmt: skip
    named = {"recipes": ["new", "old"], "encoders": ["with", "without"], "evaluated": ["cifar10"], "exemplars": [120]}
    put(tmp_path, "benefit", found, decided=120, rate=0.05, draws=3, **named)
    shown = benefit.benefit(tmp_path)
    assert "| count, radius η | 0.820 | 0.510 |" in shown
    assert "| count, matched radius | 0.820 | 0.780 |" in shown
    assert "| count, best radius | 0.830 | 0.790 |" in shown
    assert "| contrast, radius η | 5.0% | 5.0% | 40.0% | 40.0% | 0.720 | 0.410 |" in shown
    assert "| count, matched radius | 0.620 | 0.600 |" in shown
    assert "**The old recipe.**" in shown
    assert "| count, radius of 5% | 0.830 | 0.790 |" in shown


def test_costs_show_the_default_score_the_spread_of_rounds_and_both_times_of_topology(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def benchmark(name: str, **results: Any) -> None:
        record(name, config={}, results=results, seed=0, seconds=1, folder=tmp_path)

    others = ("torch.cdist, chunked", "scikit-learn, radius neighbors")
    scores = dict(zip((speed.COUNT, speed.DEFAULT, *others), (70.0, 800.0, 700.0, 7000.0), strict=True))
    benchmark("scoring", ten_classes={"points": 10, "milliseconds": scores, "ratio": dict.fromkeys(others, 10.0)})
    steps = {"plain eager float32": 44.0, "corel.train": 40.0, "topology": 0.9}
    ratios = {"speed-up": 1.1, "speed-up of each round": [1.1, 2.12, 0.95]}
    benchmark("train_step", **{"milliseconds a step": steps, **ratios})
    benchmark("persistence", forward_backward=[{"method": speed.OURS, "points": 100, "milliseconds": 0.25}])
    monkeypatch.setattr(speed, "BENCHMARKS", tmp_path)
    shown = speed.costs()
    assert "| plain eager float32: 44 ms (1.1×, rounds 0.95 to 2.1) |" in shown
    assert "(alone, as above, on the Xeon: 0.25 ms) | 0.9 ms |" in shown
    assert "10 classes of 120: count, no p-values | 70 ms |" in shown
    assert "| – the default: cosine with p-values | 800 ms |" in shown


def put_encoders(tmp_path: Path) -> None:
    each = {
        "auc": 0.9591, "auc, standard error": 0.0012, "above 5-NN cosine": 0.0031,
        "above 5-NN cosine, standard error": 0.0004, "strangers detected": 0.456, "bytes a class": 614400,
    }  # fmt: skip

    def measured(*names: str) -> dict[str, Any]:
        methods = dict.fromkeys((*names, "5-NN cosine"), each)
        return {"methods": dict.fromkeys(("120", "30", "10"), methods), "test images": 2000, "classes": 10}

    found = {
        "lite0 → cifar10": measured("contrast", "cosine", "count (head)", "contrast (head)"),
        "shipped → imagenette": measured("contrast", "cosine", "count"),
        "lite0 → imagenette": measured("contrast", "cosine"),
    }
    put(tmp_path, "encoders", found, seen=["lite0 → imagenette"])


def test_encoders_stand_side_by_side_and_those_that_saw_the_classes_are_marked(tmp_path: Path) -> None:
    put_encoders(tmp_path)
    shown = wrapped.wrapped(tmp_path)
    default, same = "**0.959** ± 0.001", "0.959 ± 0.001"
    rest = f"{same} | – | +0.003 ± 0.000 | 45.6% | 614,400 |"
    assert f"| CIFAR-10 | Lite0 | 120 | {default} | {same} | – | {same} | {same} | {rest}" in shown
    assert f"| Imagenette | Lite0, seen in training | 10 | {default} | {same} | – | – | – | {rest}" in shown
    assert f"| Imagenette | shipped | 10 | {same} | {default} | {same} | – | – | {rest}" in shown
    assert "Test images: CIFAR-10 2,000, Imagenette 2,000." in shown


def test_choice_of_an_encoder_shows_its_cost(tmp_path: Path) -> None:
    assert "Not run yet" in wrapped.which(tmp_path, tmp_path)
    put_encoders(tmp_path)
    aucs = "0.959 | 0.959 | 0.959 | 45.6%"
    assert f"| CIFAR-10 | Lite0 | {aucs} | not measured | 614,400 |" in wrapped.which(tmp_path, tmp_path)
    times = {"lite0, 160 pixels": 8.61, "lite0, 224 pixels": 15.0, "shipped": 2.0}
    record("photographs", config={}, results=times, seed=0, seconds=1, folder=tmp_path)
    shown = wrapped.which(tmp_path, tmp_path)
    assert f"| CIFAR-10 | Lite0 | {aucs} | 8.6 | 614,400 |" in shown
    assert f"| Imagenette | Lite0, seen in training | {aucs} | 15.0 | 614,400 |" in shown
    assert f"| Imagenette | shipped | {aucs} | 2.0 | 614,400 |" in shown


def test_memory_is_shown_by_size_and_number_of_photos(tmp_path: Path) -> None:
    peaks = {"2000": {"megabytes at the peak": 800.4}, "50000": {"megabytes at the peak": 1023.0}}
    record("memory", config={}, results={"224 pixels": peaks}, seed=0, seconds=1, folder=tmp_path)
    assert "| input | 2,000 photos | 50,000 photos |" in wrapped.memory(tmp_path)
    assert "| 224 pixels | 800 MB | 1,023 MB |" in wrapped.memory(tmp_path)


def test_a_claim_about_other_datasets_is_judged_where_all_classes_were_run(tmp_path: Path) -> None:
    def ours() -> dict[str, Any]:
        return {"count": {"120": {"mean": 0.8, "classes": [0.8] * 10}}}

    def adt(label: int) -> Part:
        return Part(f"cifar100, ADT-120, {label}", {}, lambda: {"auc": {"ADT (plain)": 0.6}, "label": label})

    run_parts("table1", [Part("cifar10 → cifar100, seed 0", {}, ours)], {}, folder=tmp_path)
    run_parts("wider", [adt(label) for label in range(9)], {}, folder=tmp_path)
    (claim,) = (each for each in claims.CLAIMS if each.statement == "from 120 images, above ADT on CIFAR-100")
    assert claim.judge(tmp_path).verdict == "not run"
    run_parts("wider", [adt(label) for label in range(10)], {}, folder=tmp_path)
    assert claim.judge(tmp_path) == claims.Finding(
        "held", "above 1 of 1 at p ≤ 0.05; closest: ADT (plain) on CIFAR-100, +0.2000 (p = 0.002)"
    )


@pytest.mark.parametrize(("adt", "verdict"), [(0.7, "held in part"), (0.9, "did not hold")])
def test_ours_from_120_images_is_compared_with_adt_from_1000(tmp_path: Path, adt: float, verdict: str) -> None:
    def ours() -> dict[str, Any]:
        return {"count": {"120": {"mean": 0.8, "classes": [0.8] * 10}}}

    def part(label: int) -> Part:
        return Part(f"cifar10, ADT-1000, {label}", {}, lambda: {"auc": {"ADT (plain)": adt}, "label": label})

    run_parts("table1", [Part("cifar100 → cifar10, seed 0", {}, ours)], {}, folder=tmp_path)
    run_parts("wider", [part(label) for label in (0, 3)], {}, folder=tmp_path)
    (claim,) = (each for each in claims.CLAIMS if "from 1,000" in each.statement)
    assert claim.judge(tmp_path).verdict == "not run"
    run_parts("wider", [part(label) for label in (0, 3, 6)], {}, folder=tmp_path)
    assert claim.judge(tmp_path).verdict == verdict


def test_branches_closer_than_seeds_hold_in_part(tmp_path: Path) -> None:
    put_backbones(tmp_path)
    put(tmp_path, "branching", {"1 × 160": variant(0.70), "16 × 10": variant(0.78), "32 × 5": variant(0.779)}, epochs=2)
    assert "| **held in part** | 16 × 10 (0.780) > 32 × 5 (0.779) > 1 × 160 (0.700); the first two are closer" in (
        claims.claims(tmp_path)
    )


def test_adt_in_half_precision_is_shown_beside_the_whole(tmp_path: Path) -> None:
    def part(name: str, auc: float) -> Part:
        return Part(name, {}, lambda: {"auc": {"ADT (plain)": auc}, "label": 0})

    run_parts("baselines", [part("ADT, cat", 0.5)], {}, folder=tmp_path)
    run_parts("wider", [part("cifar20, ADT-120, fish", 0.7)], {}, folder=tmp_path)
    assert "experiments wider" in wider.half_precision(tmp_path)
    run_parts("wider", [part("ADT in bfloat16, cat", 0.6)], {}, folder=tmp_path)
    assert "| cat | ADT (plain) | 0.500 | 0.600 |" in wider.half_precision(tmp_path)


def test_baselines_elsewhere_are_paired_with_ours_on_the_same_classes(tmp_path: Path) -> None:
    def baseline(label: int, auc: float) -> Part:
        found = {"auc": {"ADT (plain)": auc}, "label": label}
        return Part(f"cifar100, ADT-120, {label}", {}, lambda: found)

    def ours() -> dict[str, Any]:
        return {"count": {"120": {"mean": 0.8, "classes": [0.7, 0.8, 0.9]}}}

    run_parts("table1", [Part("cifar10 → cifar100, seed 0", {}, ours)], {}, folder=tmp_path)
    whole = [baseline(0, 0.5), baseline(2, 0.6), baseline(1, 0.7)]
    run_parts("wider", whole, {}, only=["cifar100, ADT-120, 0", "cifar100, ADT-120, 2"], folder=tmp_path)
    shown = wider.wider(tmp_path)
    assert "| ADT (plain) | CIFAR-100 | 120 | 2 of 10 | 0.550 | 0.75 | 0.800 | +0.2500 | 0.500 |" in shown
    assert "| DAGMM | CIFAR-20 | 120 | 0 of 20 | – | 0.50 (all images) | – | – | – |" in shown
    assert "1 of 3 trainings are not measured yet. Continue with `python -m experiments wider" in shown
    assert "| ADT-120 | 0.69† | 0.66† | 0.75‡ |" in comparison.published(tmp_path)
