"""What becomes of encoders that are trained otherwise, as sections: faster, longer, and by another pretext task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments import paper
from experiments._lib.names import DATASETS, SCORES, pairing
from experiments._lib.parts import results
from experiments._lib.paths import RESULTS
from experiments._lib.record import read
from experiments.render.sections import not_measured, not_run, section, to_run
from experiments.render.tables import markdown, signed

SHIPPED = "tiny-imagenet-contrastive-16x10"
TRAINED_ON = "photos-contrastive-16x10"
FOLDS = ", folds of "  # between an encoder's name and a dataset's in the names of parts
KINDS = {"cifar10": "CIFAR-10", "fashion-mnist": "Fashion-MNIST", "digits": "scikit-learn's digits"}


def precision(records: Path = RESULTS) -> str:
    """AUC on folds after a few epochs of the plain loop and of ours, in both precisions."""
    if pending := not_run("precision", records=records):
        return pending
    document = read("precision", records)
    found, seeds = document["results"], document["config"]["seeds"]
    plain = next(iter(found.values()))["mean"]
    rows = [
        [name, *(f"{auc:.4f}" for auc in each["auc"]), f"{each['mean']:.4f}", signed(each["mean"] - plain)]
        for name, each in found.items()
    ]
    heading = [
        f"{document['config']['epochs']} epochs of CIFAR-10",
        *(f"seed {seed}" for seed in seeds),
        "mean",
        "to the plain loop",
    ]
    return section("precision", records, markdown(heading, rows))


def longer(records: Path = RESULTS) -> str:
    """One cell after 30 and after 50 epochs, beside the authors'."""
    if pending := not_run("longer", records=records):
        return pending
    config, found = read("longer", records)["config"], results("longer", records)
    ages = [str(epochs) for epochs in config["epochs"]]
    published = paper.cell(config["auxiliary"], config["evaluated"]).m120
    rows = [[name, *(f"{by[age]['count']:.4f}" for age in ages)] for name, by in found.items()]
    means = [sum(by[age]["count"] for by in found.values()) / len(found) for age in ages]
    rows.append(["mean", *(f"{mean:.4f}" for mean in means)])
    title = f"{pairing(config['auxiliary'], config['evaluated'])}, count"
    rows.append([f"authors, one training of {paper.EPOCHS} epochs", *["–"] * (len(ages) - 1), f"{published:.4f}"])
    return section("longer", records, markdown([title, *(f"{age} epochs" for age in ages)], rows))


def domains(records: Path = RESULTS) -> str:
    """Every shipped encoder on every kind of images, by contrast, beside nearest neighbors on pixels."""
    if pending := not_run("domains", records=records):
        return pending
    config, found = read("domains", records)["config"], results("domains", records)
    pixels, rows = "5 nearest neighbors, pixels", []
    for dataset in config["evaluated"]:
        aucs = {encoder: found[f"{encoder} → {dataset}"] for encoder in config["encoders"]}
        by = {encoder: each["contrast"] for encoder, each in aucs.items()}
        nearest = next(iter(aucs.values()))[pixels]
        rows.append([KINDS[dataset], *(f"{auc:.3f}" for auc in by.values()), f"{nearest:.3f}"])
    heading = [f"contrast, m = {config['exemplars']}", *(f"`{encoder}`" for encoder in config["encoders"]), pixels]
    return section("domains", records, markdown(heading, rows))


def stronger(records: Path = RESULTS) -> str:
    """The contrastive encoder beside the paper's, trained on the same images."""
    if pending := not_run("stronger", "backbones", records=records):
        return pending
    document = read("stronger", records)
    auxiliary = "tiny-imagenet"
    by_target = {
        mean["evaluated"]: mean
        for mean in read("backbones", records)["results"]["means"]
        if mean["auxiliary"] == auxiliary
    }
    rows = []
    for target, measured in document["results"].items():
        ours = {row["method"]: row["mean"] for row in measured if row["exemplars"] == 120}
        rows += [
            [f"{DATASETS[target]}, {score}", f"{by_target[target][score]:.3f}", f"{ours[score]:.3f}",
             signed(ours[score] - by_target[target][score])]
            for score in SCORES
        ]  # fmt: skip
    heading = ["classes of, score", "the paper's autoencoder, mean of three", "contrastive, one training", "difference"]
    return section("stronger", records, markdown(heading, rows))


def variants(records: Path = RESULTS) -> str:
    """What was tried on the contrastive objective: AUC on folds of each change beside none."""
    if not (records / "contrastive.json").exists():
        return not_run("contrastive", records=records) or ""
    config, found = read("contrastive", records)["config"], results("contrastive", records)
    unchanged = next(iter(found.values()))["auc"]["contrast"]["η"]
    rows = [
        [name, f"{each['seconds'] / 60:.1f}", f"{each['auc']['count']['η']:.3f}", f"{contrast['η']:.3f}",
         f"{max(contrast.values()):.3f}", signed(contrast["η"] - unchanged)]
        for name, each in found.items()
        for contrast in [each["auc"]["contrast"]]
    ]  # fmt: skip
    heading = [
        f"{config['images']:,} images, m = {config['exemplars']}", "minutes of training", "count", "contrast",
        "contrast, best radius", "to the first row",
    ]  # fmt: skip
    missing = [name for name in config["parts"] if name not in found]
    waiting = [f"Not run yet: {'; '.join(missing)}."] if missing else []
    return section("contrastive", records, markdown(heading, rows), *waiting)


def recipes(records: Path = RESULTS) -> str:
    """Changes of the recipe by the scores of a new gallery: AUC on folds of each beside none."""
    if not (records / "recipes.json").exists():
        return not_run("recipes", records=records) or ""
    config, found = read("recipes", records)["config"], results("recipes", records)
    unchanged = next(iter(found.values()))["auc"]["cosine"]["120"]
    rows = [
        [name, f"{auc['count']['120']:.3f}", f"{auc['contrast']['120']:.3f}", f"{auc['cosine']['10']:.3f}",
         f"{auc['cosine']['120']:.3f}", signed(auc["cosine"]["120"] - unchanged)]
        for name, auc in ((name, each["auc"]) for name, each in found.items())
    ]  # fmt: skip
    heading = [
        f"{config['images']:,} images", "count", "contrast", "cosine, m = 10", "cosine", "cosine, to the first row",
    ]  # fmt: skip
    return section("recipes", records, markdown(heading, rows), *not_measured("recipes", records))


def general(records: Path = RESULTS) -> str:
    """The encoder that was trained on beside the one that ships: AUC on folds by score."""
    return _beside_shipped("general", "trained on", records)


def native(records: Path = RESULTS) -> str:
    """The encoder of views from 64 pixels beside the one that ships: AUC on folds by score."""
    return _beside_shipped("native", "views from 64 pixels", records)


def photos(records: Path = RESULTS) -> str:
    """The encoder that was trained on with mini-ImageNet, what it started from, and the spread of two seeds."""
    if not (records / "photos.json").exists():
        return to_run("photos")
    found = results("photos", records)
    encoders = dict.fromkeys(part.split(FOLDS)[0] for part in found)
    rows = [
        [f"{dataset}, {score}, m = {m}", *(_auc(found.get(each + FOLDS + key), score, m) for each in encoders)]
        for key, dataset in DATASETS.items() if any(part.endswith(FOLDS + key) for part in found)
        for score in ("count", "contrast", "cosine") for m in ("10", "120")
    ]  # fmt: skip
    titles = [{SHIPPED: "shipped", TRAINED_ON: "trained on"}.get(each, each) for each in encoders]
    return section("photos", records, markdown(["folds of, score", *titles], rows), *not_measured("photos", records))


def _auc(found: dict[str, Any] | None, score: str, m: str) -> str:
    return f"{found[score][m]:.3f}" if found else "–"


def _beside_shipped(name: str, title: str, records: Path) -> str:
    if pending := not_run(name, records=records):
        return pending
    found = results(name, records)
    rows = []
    for part, other in found.items():
        encoder, _, dataset = part.partition(FOLDS)
        shipped = found.get(f"{SHIPPED}, folds of {dataset}", {})
        if encoder == SHIPPED:
            continue
        rows += [
            [f"{DATASETS[dataset]}, {score}, m = {m}", f"{shipped[score][m]:.3f}", f"{other[score][m]:.3f}",
             signed(other[score][m] - shipped[score][m])]
            for score in ("count", "contrast", "cosine") for m in ("10", "120")
        ]  # fmt: skip
    return section(name, records, markdown(["folds of, score", "shipped", title, "difference"], rows))
