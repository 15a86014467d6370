"""Sections on the training: what was trained, how its losses fell, what the decoder gives back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from matplotlib.ticker import MaxNLocator

from corel.backbone import Backbone
from corel.encoders import Autoencoder
from corel.report import _style
from corel.report._content import Material, Panel, Section, Strip, Table

SHOWN = 10  # images a row


def trained(material: Material) -> Section:
    """Say what was trained, on what, and how."""
    names = list(material.backbones)
    cards = [_card(backbone) for backbone in material.backbones.values()]
    rows = [[label, *(card[label] for card in cards)] for label in cards[0]]
    if len(names) == 1:
        text = "One encoder, trained without labels. Everything below was measured on it."
    else:
        text = f"{len(names)} encoders, trained without labels. The table shows where they differ."
    return Section("What was trained", text, table=Table(["", *names], rows))


def losses(material: Material) -> Section | None:
    """Draw each loss over the epochs."""
    histories = {
        name: history
        for name, backbone in material.backbones.items()
        if len(history := backbone.metadata.get("history", [])) > 1
    }
    if not histories:
        return None
    pretext = next(key for key in next(iter(histories.values()))[0] if key != "epoch")
    return Section(
        "How training went",
        "Each epoch is one pass over the data. Training makes two numbers small at once: what its pretext task "
        f"({pretext}) gets wrong, and how far the latent points are from being evenly connected.",
        panels=[
            _curve(histories, pretext, f"What the task itself gets wrong ({pretext}): lower is better."),
            _curve(
                histories,
                "connectivity",
                "The connectivity loss: 0 would mean that in every batch each group of points meets the next at "
                f"exactly the distance η = {material.backbone.eta:g}.",
            ),
        ],
    )


def reconstructions(material: Material) -> Section | None:
    """Show images beside what the decoder makes of their latents."""
    networks = {name: backbone.network for name, backbone in material.backbones.items()}
    if material.images is None or not all(isinstance(network, Autoencoder) for network in networks.values()):
        return None
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.choice(len(material.images), min(SHOWN, len(material.images)), replace=False))
    pixels = material.images.pixels[chosen]
    strips = [Strip("original", "the images", pixels)]
    for index, (name, network) in enumerate(networks.items()):
        strips.append(Strip(f"reconstruction-{index}", name, _reconstructed(network, pixels)))
    numbers = material.backbone.branches * material.backbone.branch_dim
    return Section(
        "What the encoder remembers of an image",
        f"The encoder keeps {numbers} numbers of each image. Below each image is what the decoder paints "
        "from those numbers alone: what is missing there, no score can see.",
        strips=strips,
    )


def _card(backbone: Backbone) -> dict[str, str]:
    metadata = backbone.metadata
    data, config = metadata.get("data", {}), metadata.get("config", {})
    alpha, epsilon, beta = backbone.deaths.mean(axis=0)
    weights = sum(parameter.numel() for parameter in backbone.network.parameters())
    return {
        "trained on": f"{data.get('source', 'unknown')}, {data.get('items', 0):,} items, no labels",
        "task": backbone.objective,
        "weight λ of the connectivity loss": _shown(config.get("weight")),
        "wanted merging distance η": f"{backbone.eta:g}",
        "latent space": f"{backbone.branches} branches of {backbone.branch_dim} dimensions",
        "weights": f"{weights:,}",
        "batches, epochs, seed": ", ".join(
            [f"{backbone.batch_size} items", _shown(config.get("epochs")), _shown(config.get("seed"))]
        ),
        "merging distances reached (smallest, mean, largest)": f"{alpha:.2f}, {epsilon:.2f}, {beta:.2f}",
        "fingerprint": backbone.digest[:12],
    }


def _shown(value: Any) -> str:
    return "unknown" if value is None else f"{value:g}"


def _curve(histories: dict[str, list[dict[str, float]]], key: str, caption: str) -> Panel:
    with _style.drawing():
        figure, axes = _style.panel(2.6)
        for (name, history), color in zip(histories.items(), _style.SERIES, strict=False):
            values = [(epoch["epoch"], epoch[key]) for epoch in history if key in epoch]
            axes.plot(*np.array(values).T, color=color, label=name)
        axes.set(xlabel="epoch", ylabel=key, ylim=(0, None))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        axes.grid(axis="y", color=_style.MUTED, alpha=0.2, linewidth=0.6)
        if len(histories) > 1:
            axes.legend()
    return Panel(f"loss-{key}", figure, caption)


@torch.no_grad()
def _reconstructed(network: Any, pixels: Any) -> Any:
    _, images = network(network.prepare(pixels))
    return images.clamp(0, 1).mul(255).round().byte().permute(0, 2, 3, 1).numpy()
