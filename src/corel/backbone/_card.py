"""What a backbone says about itself: a card in the terminal, a page on the Hub."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

from corel._terminal import counted, shown
from corel.backbone._file import WRAPPED, shipped
from corel.encoders.pretrained import Pretrained

if TYPE_CHECKING:
    from corel.backbone._backbone import Backbone


def describe(backbone: Backbone) -> str:
    """Give a card to read: what the backbone is, where it comes from and what it was measured on."""
    data, auc = _entries(backbone.metadata.get("data")), _entries(backbone.metadata.get("auc"))
    alpha, epsilon, beta = backbone.deaths.mean(axis=0)
    scale = f"norm p = {backbone.p:g}, {_radius(backbone)}"
    lines = [
        f"corel backbone {backbone.digest[:12]}, objective {backbone.objective}, {_size(backbone)}",
        f"latents     {latent_shape(backbone)}, {scale}",
        f"deaths      α̂ = {alpha:.2f}, ε̂ = {epsilon:.2f}, β̂ = {beta:.2f} in batches of {backbone.batch_size}",
        f"background  {len(backbone.background):,} auxiliary latents{_pooled_note(backbone)}",
        f"{'looked at ' if backbone.objective in WRAPPED else 'trained on'}  "
        f"{data.get('source', 'unknown')}, {_number(data.get('items', 0), ',')} items{_shrunk(data)}, no labels",
        *_origin(backbone),
    ]
    lines += [f"AUC         {where}: {_number(value, '.3f')}" for where, value in auc.items()]
    return "\n".join(shown(line, 300) for line in lines)  # the file may be a stranger's


def _radius(backbone: Backbone) -> str:
    """Say η; of an encoder that was wrapped without a head, that it was measured, not trained towards."""
    measured = backbone.objective in WRAPPED and not backbone.metadata.get("head")
    return f"radius {backbone.eta:.4g}, measured" if measured else f"η = {backbone.eta:g}"


def latent_shape(backbone: Backbone) -> str:
    """Say of how many numbers a latent consists."""
    return f"{counted(backbone.branches, 'branch', 'branches')} × {counted(backbone.branch_dim, 'dimension')}"


def _shrunk(data: dict[str, Any]) -> str:
    return f", shrunk to {_number(data['shrunk to'], ',')} pixels" if "shrunk to" in data else ""


def _size(backbone: Backbone) -> str:
    if isinstance(backbone.network, Pretrained):
        return f"an ONNX graph of {len(backbone.network.graph) / 1e6:.1f} MB"
    return f"{sum(parameter.numel() for parameter in backbone.network.parameters()):,} weights"


def _origin(backbone: Backbone) -> list[str]:
    """Say which encoder was wrapped, or how one was trained."""
    version = backbone.metadata.get("version", "?")
    if backbone.objective in WRAPPED:
        encoder = _entries(backbone.metadata.get("encoder"))
        told = [f"{name:<10}  {encoder[name]}" for name in ("source", "license", "trained on") if name in encoder]
        head = _entries(backbone.metadata.get("head"))
        if head:
            epochs = _entries(head.get("config")).get("epochs")
            told.append(f"head        {latent_shape(backbone)}, {epochs} epochs on the background's vectors")
        return [f"encoder     {encoder.get('encoder', '?')}, wrapped by corel {version}", *told]
    config = _entries(backbone.metadata.get("config"))
    epochs, seed = config.get("epochs", "?"), config.get("seed", "?")
    return [f"training    {epochs} epochs, seed {seed}, corel {version}"]


def hub_page(backbone: Backbone, repository: str) -> str:
    """Give the page that the Hub shows; a shipped backbone brings its own."""
    front = "---\nlibrary_name: corel\ntags: [one-class, persistent-homology]\n---\n\n"
    own = [name for name in shipped() if type(backbone).load(name).digest == backbone.digest]
    if own:
        return front + (resources.files("corel") / "backbones" / f"{own[0]}.md").read_text(encoding="utf-8")
    use = f'```python\nimport corel\n\nbackbone = corel.Backbone.from_pretrained("{repository}")\n```'
    return f"{front}# {repository}\n\n{use}\n\n```\n{describe(backbone)}\n```\n"


def _pooled_note(backbone: Backbone) -> str:
    return "" if backbone.pooled_background is None else f", features of {len(backbone.pooled_background):,} of them"


def _entries(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _number(value: object, layout: str) -> str:
    return format(value, layout) if isinstance(value, int | float) else str(value)
