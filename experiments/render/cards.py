"""The model cards that lie beside the shipped backbones."""

from __future__ import annotations

from typing import Any

from corel.backbone import Backbone

TESTS = {"cifar10": "CIFAR-10 test", "tiny-imagenet": "Tiny-ImageNet val"}

TERMS = {
    "cifar10": """CIFAR-10 (A. Krizhevsky, *Learning multiple layers of features from tiny images*, 2009), the 50,000
images of its train split. The dataset comes without a license; its authors ask to be cited. Its images were collected
from the web and their rights are those of their makers.""",
    "tiny-imagenet": """Tiny-ImageNet-200 (Stanford CS231n), {per_class} train images of each of its 200 classes,
resized to 32×32. It is a subset of ImageNet (Russakovsky et al., 2015), whose terms allow non-commercial research and
education; the images' rights are those of their makers.""",
}

LICENSE = """## License and limits

The weights are under Apache-2.0, as far as weights can be licensed; check the terms of the training images for your own
use. The encoder sees 32×32 pixels, so it cannot tell apart what needs finer detail.
"""

CARD = """# {name}

The encoder of the paper *Connectivity-Optimized Representation Learning via Persistent Homology* (Hofer, Kwitt,
Dixit, Niethammer, ICML 2019), trained with corel. Load it with `corel.Backbone.load("{name}")`.

```
{describe}
```

## Training data

{terms} No labels were used.

## Training

The preset `authors`: reconstruction error plus λ = {weight:g} times the connectivity loss at η = {eta:g}, Adam at
{learning_rate:g}, batches of {batch_size}, {epochs} epochs, seed {seed}. The log is beside this file, in
`{name}.json`; `python -m experiments backbones` makes both again.

Seeds 1 and 2 were also measured every five epochs, on folds of CIFAR-10's train split: from about 10 epochs on their
AUC moves up and down by less than 0.02, without a common trend (`experiments/results/backbones.json`).

## Measured

One-vs-all AUC from m = 120 images a class, mean over classes and five draws. This file is seed 0; beside it the mean
over {seeds} trainings with different seeds, and the authors' published value, of one training.

| evaluated on | this, count | this, contrast | mean of {seeds}, count | mean of {seeds}, contrast | published, count |
|---|---|---|---|---|---|
{rows}

{license}
**Latents are not anonymous.** The file contains the decoder, which turns latents back into blurred but recognizable
images. It also contains {background:,} latents of training images.
Treat the latents of your own images, such as those in a gallery, like the images.
"""

CONTRASTIVE = """# {name}

A small residual network, trained with SimCLR (NT-Xent on augmented views) and the paper's connectivity loss on its
latents. Load it with `corel.Backbone.load("{name}")`.

```
{describe}
```

## Training data

{terms} No labels were used.

## Training

The preset `contrastive`: NT-Xent at temperature {temperature:g} on {compared}, plus λ = {weight:.4f} times the
connectivity loss of {cloud_size} latents at η = {eta:g}; batches of {batch_size}, crops of {view_area:.0%} of the image
and more, views that grow from {view_size} pixels to 32; AdamW on one cycle up to {learning_rate:g}, {epochs} epochs,
seed {seed}, {minutes:.0f} minutes on {threads} cores. The log is beside this file, in `{name}.json`;
`python -m experiments stronger` makes both again.

## Measured

The AUC above are one-vs-all from m = 120 images a class, mean over classes and five draws of these images, of this one
training. More is in `experiments/results/stronger.json`.

{license}
**Latents are not anonymous.** This file contains no decoder, but one could be trained. It contains {background:,}
latents of training images. Treat the latents of your own images, such as those in a gallery, like the images.
"""


def contrastive_card(name: str, source: str, backbone: Backbone, threads: int) -> str:
    """Give the card of the contrastive backbone."""
    history, config = backbone.metadata["history"], backbone.metadata["config"]
    return CONTRASTIVE.format(
        name=name,
        terms=TERMS[source].format(per_class=backbone.metadata["data"]["items"] // 200),
        describe=backbone.describe(),
        background=len(backbone.background),
        license=LICENSE,
        minutes=sum(epoch["seconds"] for epoch in history) / 60,
        threads=threads,
        compared="a projection of the latents" if config["projection"] else "the latents themselves",
        **{key: value for key, value in config.items() if key != "objective"},
    )


def card(name: str, source: str, backbone: Backbone, cells: list[dict[str, Any]], means: list[dict[str, Any]]) -> str:
    """Give the card of a shipped backbone; every number comes from its metadata or from the recorded results."""
    return CARD.format(
        name=name,
        terms=TERMS[source].format(per_class=backbone.metadata["data"]["items"] // 200),
        describe=backbone.describe(),
        background=len(backbone.background),
        license=LICENSE,
        seeds=means[0]["seeds"],
        rows="\n".join(_row(cell, mean) for cell, mean in zip(cells, means, strict=True)),
        **{key: value for key, value in backbone.metadata["config"].items() if key != "objective"},
    )


def _row(cell: dict[str, Any], mean: dict[str, Any]) -> str:
    values = [cell["count"]["auc"], cell["contrast"]["auc"], mean["count"], mean["contrast"], mean["published"]]
    return f"| {TESTS[mean['evaluated']]} | " + " | ".join(f"{value:.3f}" for value in values) + " |"
