"""All experiments in the order in which to run them: the quick ones first, then the trainings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from experiments._lib.parts import progress
from experiments._lib.paths import FIGURES, RESULTS


@dataclass(frozen=True)
class Experiment:
    """A module of `experiments.studies` whose `main` takes arguments; its record has the same name."""

    name: str
    reproduces: str
    minutes: float  # on two cores
    needs: tuple[str, ...] = ()  # folders it must be given
    figure_only: bool = False

    @property
    def module(self) -> str:
        """What to import."""
        return f"experiments.studies.{self.name}"

    @property
    def command(self) -> str:
        """What to type."""
        return " ".join([f"python -m experiments {self.name}", *(f"--{need} DIR" for need in self.needs)])

    def is_done(self, folder: Path = RESULTS) -> bool:
        """Whether nothing is left to do."""
        return self.status(folder) == "yes"

    def status(self, folder: Path = RESULTS) -> str:
        """Yes, no, or how many parts of how many are recorded."""
        if self.figure_only:
            return "yes" if (FIGURES / f"{self.name}.svg").exists() else "no"
        done, parts = progress(self.name, folder)
        return "yes" if done == parts else f"{done} of {parts}" if done else "no"


DATA, BOTH = ("data",), ("data", "runs")
EXPERIMENTS = {
    each.name: each
    for each in (
        Experiment("toy", "Figure 2: three Gaussians rearranged by the loss", 2),
        Experiment("idea", "the pictures that explain the idea", 0.3, figure_only=True),
        Experiment("find", "things found in photographs, against outlines", 1),
        Experiment("parameters", "parameter counts of Table 1's methods", 0.3),
        Experiment("features", "feature vectors beside scikit-learn's detectors", 1),
        Experiment("table1", "Table 1: ours, every pair of datasets that is here", 90, BOTH),
        Experiment("mini_imagenet", "Table 1's ImageNet on 100 of its classes, 84 pixels", 8, BOTH),
        Experiment("radius", "the notebook's sweep of the score's radius", 3, BOTH),
        Experiment("lifetimes", "Figure 6 and supplement: death times per branch", 2, BOTH),
        Experiment("density", "Lemma 1 against practice: neighbors within β", 3, BOTH),
        Experiment("variability", "out-of-class variability: AUC by number of classes", 4, DATA),
        Experiment("contrast_folds", "the choice of the contrast score on folds", 20, DATA),
        Experiment("cosine_folds", "the choice of the cosine score on folds", 8, DATA),
        Experiment("views", "mirror images and corners averaged, on folds", 3, DATA),
        Experiment("cosine", "the cosine score and its controls on test splits", 10, DATA),
        Experiment("overlap", "copies between auxiliary and test images", 8, BOTH),
        Experiment("contrast", "scores and controls on the test splits", 60, BOTH),
        Experiment("domains", "which shipped encoder suits which images", 18, DATA),
        Experiment("encoder_folds", "layers, whitening and score of wrapped encoders on folds", 10, BOTH),
        Experiment("embeddings", "heads on a good encoder's vectors", 3, BOTH),
        Experiment("encoders", "the shipped encoder beside EfficientNet-Lite0", 60, BOTH),
        Experiment("conformal", "decisions at a rate", 4, DATA),
        Experiment("classify", "conformal prediction sets over ten classes", 3, DATA),
        Experiment("verdicts", "verdicts: false alarms, strangers stopped, sets", 10, DATA),
        Experiment("confidence", "a rate kept by one gallery, with a confidence", 5, BOTH),
        Experiment("selection", "strangers selected among many images", 5, BOTH),
        Experiment("photographs", "blank, flat and noise frames against real images", 3, DATA),
        Experiment("plain", "blank frames against galleries of plain surfaces", 3, DATA),
        Experiment("watch", "the alarm of `corel watch`: false alarms, delays", 8, DATA),
        Experiment("audit", "the audit: wrong exemplars, copies", 4, DATA),
        Experiment("branching", "Figure 4: 1, 16 and 32 branches", 20, BOTH),
        Experiment("weights", "Figure 5: the weight λ", 22, BOTH),
        Experiment("presets", "the preset `paper` beside `authors`", 10, BOTH),
        Experiment("control", "a fair λ = 0: radius at the same quantile", 10, BOTH),
        Experiment("baselines", "Table 1: baselines on CIFAR-10 at m = 120", 140, DATA),
        Experiment("wider", "baselines on CIFAR-20 and CIFAR-100, ADT-1,000", 210, DATA),
        Experiment("precision", "whether the fast training step costs accuracy", 40, DATA),
        Experiment("contrastive", "what the contrastive objective needs", 130, BOTH),
        Experiment("benefit", "with and without the connectivity loss, contrastive", 250, BOTH),
        Experiment("stronger", "the contrastive encoder that ships", 110, BOTH),
        Experiment("recipes", "what a longer label-free training should change, on folds", 100, BOTH),
        Experiment("general", "the label-free encoder trained on, with CIFAR-100", 85, BOTH),
        Experiment("native", "the shipped label-free recipe with views from 64 pixels", 60, BOTH),
        Experiment("photos", "the label-free encoder trained on, with mini-ImageNet", 90, BOTH),
        Experiment("longer", "CIFAR-10 → Tiny-ImageNet after 30 and 50 epochs", 15, BOTH),
        Experiment("backbones", "the shipped encoders, three seeds each", 240, BOTH),
    )
}
