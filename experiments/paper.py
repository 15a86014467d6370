"""Every number that others have published, once, each with its place.

"Paper" is Hofer, Kwitt, Dixit, Niethammer: Connectivity-Optimized Representation Learning via Persistent Homology,
ICML 2019. "Notebook" is what the authors' public code (c-hofer/COREL_icml2019) prints; it is a run of its own, and
where it differs from the paper both figures are kept. AUCs are fractions; datasets go by their names in `corel.images`.
"""

from __future__ import annotations

from dataclasses import dataclass

EPOCHS = 50  # Notebook: of every training


@dataclass(frozen=True)
class TableRow:
    """A row of the paper's Table 1: mean one-vs-all AUC over all classes, and five runs where exemplars are drawn."""

    evaluated: str
    method: str
    auc: float
    exemplars: int | None = None  # None: the whole training set of the class
    auxiliary: str | None = None  # what the encoder was trained on; None: the class itself


# Paper, Table 1. Its caption puts the standard deviations of "Ours" between 1e-4 and 1e-3.
TABLE_1 = (
    TableRow("cifar10", "OC-SVM (CAE)", 0.62),
    TableRow("cifar10", "DAGMM", 0.53),
    TableRow("cifar10", "DSEBM", 0.61),
    TableRow("cifar10", "Deep-SVDD", 0.65),
    TableRow("cifar10", "ADT", 0.85),
    TableRow("cifar10", "ADT", 0.69, 120),
    TableRow("cifar10", "ADT", 0.73, 500),
    TableRow("cifar10", "ADT", 0.75, 1000),
    TableRow("cifar10", "Ours", 0.76, 120, "cifar100"),
    TableRow("cifar20", "OC-SVM (CAE)", 0.63),
    TableRow("cifar20", "DAGMM", 0.50),
    TableRow("cifar20", "DSEBM", 0.59),
    TableRow("cifar20", "Deep-SVDD", 0.60),
    TableRow("cifar20", "ADT", 0.77),
    TableRow("cifar20", "ADT", 0.66, 120),
    TableRow("cifar20", "ADT", 0.69, 500),
    TableRow("cifar20", "ADT", 0.71, 1000),
    TableRow("cifar20", "Ours", 0.72, 120, "cifar10"),
    TableRow("cifar100", "ADT", 0.75, 120),
    TableRow("cifar100", "Ours", 0.79, 120, "cifar10"),
    TableRow("tiny-imagenet", "Ours", 0.73, 120, "cifar10"),
    TableRow("tiny-imagenet", "Ours", 0.72, 120, "cifar100"),
    TableRow("imagenet", "Ours", 0.72, 120, "cifar10"),
    TableRow("imagenet", "Ours", 0.72, 120, "cifar100"),
)


@dataclass(frozen=True)
class Cell:
    """A cell of the notebook: one encoder (λ = 20, 16 branches of 10), radius 2, five draws of the exemplars."""

    auxiliary: str
    evaluated: str
    m80: float
    m120: float
    class_spread: float  # at m = 120: standard deviation over the draws of one class's AUC, averaged over classes
    m500: float


# Notebook, evaluation. Two trainings of one configuration differ by about 0.005.
CELLS = (
    Cell("cifar10", "cifar10", 0.7501, 0.7596, 0.0065, 0.7805),
    Cell("cifar10", "cifar20", 0.7108, 0.7231, 0.0081, 0.7383),
    Cell("cifar10", "cifar100", 0.7860, 0.7939, 0.0084, 0.8081),
    Cell("cifar10", "tiny-imagenet", 0.7165, 0.7257, 0.0142, 0.7405),
    Cell("cifar10", "imagenet", 0.7153, 0.7224, 0.0150, 0.7372),
    Cell("cifar100", "cifar10", 0.7443, 0.7549, 0.0059, 0.7701),
    Cell("cifar100", "cifar20", 0.7171, 0.7264, 0.0075, 0.7481),
    Cell("cifar100", "cifar100", 0.7898, 0.7983, 0.0084, 0.8135),
    Cell("cifar100", "tiny-imagenet", 0.7132, 0.7223, 0.0135, 0.7380),
    Cell("cifar100", "imagenet", 0.7120, 0.7211, 0.0151, 0.7361),
    Cell("tiny-imagenet", "cifar10", 0.7278, 0.7442, 0.0091, 0.7627),
    Cell("tiny-imagenet", "cifar20", 0.7063, 0.7167, 0.0077, 0.7348),
    Cell("tiny-imagenet", "cifar100", 0.7788, 0.7876, 0.0087, 0.8019),
    Cell("tiny-imagenet", "tiny-imagenet", 0.7185, 0.7284, 0.0150, 0.7489),
    Cell("tiny-imagenet", "imagenet", 0.7101, 0.7198, 0.0163, 0.7380),
)

# Notebook, ablation (drawn in the paper's Fig. 5, right): AUC by λ and m, CIFAR-100 → CIFAR-10, 16 × 10, radius 2.
# λ = 20, m = 120 is another training than that of CELLS: .7600 here, .7549 there; Table 1 says .76. With λ = 0 the
# scale of the latents is free, so a fixed radius says nothing about that encoder.
WEIGHT_ABLATION: dict[float, dict[int, float]] = {
    0: {10: 0.5254, 50: 0.5428, 80: 0.5443, 100: 0.5455, 120: 0.5467, 250: 0.5462, 500: 0.5462, 5000: 0.5452},
    1: {10: 0.6331, 50: 0.6916, 80: 0.7031, 100: 0.7085, 120: 0.7092, 250: 0.7201, 500: 0.7238, 5000: 0.7281},
    10: {10: 0.6592, 50: 0.7359, 80: 0.7476, 100: 0.7526, 120: 0.7545, 250: 0.7639, 500: 0.7706, 5000: 0.7749},
    20: {10: 0.6607, 50: 0.7319, 80: 0.7486, 100: 0.7572, 120: 0.7600, 250: 0.7704, 500: 0.7757, 5000: 0.7806},
    40: {10: 0.6536, 50: 0.7257, 80: 0.7389, 100: 0.7431, 120: 0.7476, 250: 0.7594, 500: 0.7660, 5000: 0.7716},
}

# Notebook, ablation: AUC by (branches, dimensions) and λ at m = 5000, CIFAR-100 → CIFAR-10, radius 2.
BRANCH_ABLATION: dict[tuple[int, int], dict[float, float]] = {
    (1, 160): {0: 0.5000, 1: 0.6830, 10: 0.6945, 20: 0.6970, 40: 0.6573},
    (8, 20): {0: 0.5300, 1: 0.7112, 10: 0.7704, 20: 0.7812, 40: 0.7507},
    (32, 5): {0: 0.5396, 1: 0.7122, 10: 0.7404, 20: 0.7535, 40: 0.7630},
    (32, 10): {0: 0.5327, 1: 0.7172, 10: 0.7818, 20: 0.7786, 40: 0.7742},
}

# Paper, section 5.3, in the text: AUC on CIFAR-10 by branches, 160 dimensions in all. They are the notebook's at
# m = 5000 and λ = 20, rounded; Table 1 is m = 120.
BRANCHES_IN_TEXT: dict[int, float] = {16: 0.78, 32: 0.75, 1: 0.70}

# Notebook, ablation: AUC by m and radius of the score, CIFAR-100 → CIFAR-10, 16 × 10, λ = 20.
RADIUS_SWEEP: dict[int, dict[float, float]] = {
    120: {0.5: 0.5004, 1: 0.5496, 1.5: 0.7210, 1.75: 0.7511, 2: 0.7600,
          2.25: 0.7636, 2.5: 0.7575, 3: 0.7458, 4: 0.7111, 5: 0.6607},
    5000: {0.5: 0.5150, 1: 0.7634, 1.5: 0.7918, 1.75: 0.7868, 2: 0.7806,
           2.25: 0.7739, 2.5: 0.7666, 3: 0.7504, 4: 0.7127, 5: 0.6665},
}  # fmt: skip

# Notebook, tutorial: (α̂, ε̂, β̂) of the toy example by epoch, with 10 hidden units where the paper's Fig. 2 has 20.
TOY: dict[int, tuple[float, float, float]] = {0: (0.00, 0.07, 0.54), 5: (0.20, 1.58, 5.33), 50: (0.22, 1.60, 3.88)}

CIFAR10_CLASSES = ("plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")

# CIFAR-10 AUC by class (CIFAR10_CLASSES), whole training sets, from the methods' own publications: Golan & El-Yaniv,
# NeurIPS 2018, for all but Deep-SVDD, which is Ruff et al., ICML 2018. ADT is there with Dirichlet scores, mean .860;
# the paper's Table 1 has .85.
BASELINES_BY_CLASS: dict[str, tuple[float, ...]] = {
    "OC-SVM (CAE)": (0.749, 0.517, 0.689, 0.528, 0.767, 0.529, 0.709, 0.531, 0.710, 0.506),
    "DAGMM": (0.414, 0.571, 0.538, 0.512, 0.522, 0.493, 0.649, 0.553, 0.519, 0.542),
    "DSEBM": (0.560, 0.483, 0.619, 0.501, 0.733, 0.605, 0.684, 0.533, 0.739, 0.636),
    "Deep-SVDD": (0.617, 0.659, 0.508, 0.591, 0.609, 0.657, 0.677, 0.673, 0.759, 0.731),
    "ADT (Dirichlet)": (0.747, 0.957, 0.781, 0.724, 0.878, 0.878, 0.834, 0.955, 0.933, 0.913),
}

# The means printed with those columns.
BASELINE_MEANS: dict[str, float] = {
    "OC-SVM (CAE)": 0.6235, "DAGMM": 0.531, "DSEBM": 0.609, "Deep-SVDD": 0.648, "ADT (Dirichlet)": 0.860,
}  # fmt: skip

# Paper, section 5.4, in the text: parameters of its encoder, of the encoder that OC-SVM (CAE) and DSEBM have, and of
# ADT's network of one class; and the hours that ADT is said to need for the 1,000 of ImageNet on a GTX 1080 Ti.
PARAMETERS: dict[str, float] = {"Ours": 0.8e6, "OC-SVM (CAE)": 1.4e6, "DSEBM": 1.4e6, "ADT": 1.4e6}
ADT_IMAGENET_HOURS = 75


def cell(auxiliary: str, evaluated: str) -> Cell:
    """The notebook's cell of this pair of datasets."""
    return next(each for each in CELLS if (each.auxiliary, each.evaluated) == (auxiliary, evaluated))
